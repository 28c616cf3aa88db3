import type { Event } from "../../core/run/event.ts";
import { resultOf } from "../../core/run/result.ts";
import type { State } from "../../core/run/state.ts";

/**
 * The text of the task whose output is the result, in pieces, with a blank line between its messages. A message that
 * was not streamed is one piece; an answer that is not a message, such as the argument of a finish tool, is the last
 * piece.
 */
export async function* textPieces(events: AsyncIterable<Event>, state: () => State): AsyncGenerator<string, void> {
  let path: string | undefined;
  let [all, message] = ["", ""];
  const next = (text: string): string => {
    const piece = message === "" && all !== "" ? `\n\n${text}` : text;
    all += piece;
    message += text;
    return piece;
  };
  for await (const event of events) {
    if (event.type === "run.started") path = event.plan.output;
    if (event.path !== path) continue;
    if (event.type === "text.delta" && event.text !== "") yield next(event.text);
    if (event.type === "turn.ended" && event.text.startsWith(message) && event.text.length > message.length)
      yield next(event.text.slice(message.length));
    if (event.type === "turn.ended" || event.type === "turn.restarted") message = "";
  }
  const { output } = resultOf(state());
  if (!all.trimEnd().endsWith(output.trim())) yield next(output);
}
