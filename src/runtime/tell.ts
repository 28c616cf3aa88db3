import type { Fact } from "../core/event.ts";
import { fill } from "../core/template.ts";
import { prompts } from "../embedded.ts";
import type { Mailbox } from "./mailbox.ts";

/** Something said to a task that is running, or with an empty path to the person. */
export type Note = Readonly<{
  text: string;
  from: string /** "interrupt": what the model is saying is cut short for it */;
  how?: "steer" | "interrupt";
}>;

/** Puts a note where its reader finds it, and says so. False: there is nobody of that path. */
export function tell(
  run: Readonly<{ mailbox: Mailbox; emit(path: string, fact: Fact): void }>,
  path: string,
  { text, from, how }: Note,
): boolean {
  const heard =
    path === "" ||
    run.mailbox.put(
      path,
      fill(
        prompts.message,
        new Map([
          ["from", from],
          ["text", text],
        ]),
      ),
    );
  if (heard) run.emit(path, { type: "message.sent", from, text });
  if (heard && how === "interrupt") run.mailbox.ring(path);
  return heard;
}
