import type { ToolCall } from "../../core/model/model.ts";
import type { Question } from "../../core/run/run-status.ts";
import type { Crew } from "../../crew/crew-type.ts";

/** The tool call that a question is about, as the model made it. */
export async function askedCall(
  crew: Crew,
  { run, path, call }: Pick<Question, "run" | "path" | "call">,
): Promise<ToolCall | undefined> {
  if (call === undefined) return undefined;
  const { events } = await crew.kept.records(run);
  const calls = events.flatMap((event) => (event.type === "turn.ended" && event.path === path ? event.calls : []));
  return calls.findLast(({ id }) => id === call || id === call.replace(/\.\d+$/, ""));
}
