import { aboveOf, addressee } from "../../core/delegation/address-of-task.ts";
import type { Fact } from "../../core/run/event.ts";
import type { Delivery } from "../../core/task/engine.ts";
import { fill } from "../../core/text/template.ts";
import { prompts } from "../../embedded.ts";
import type { Mailbox } from "./mailbox.ts";

/** A message to a running task, or to the person, if the path is empty. */
export type Note = Readonly<{
  text: string;
  from: string;
  /** How the message is delivered. "interrupt": the current model turn is cut short. */
  how?: "steer" | "interrupt";
}>;

/** Delivers a message and emits the event. False: there is no such task. */
export function postMessage(
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

/** The name under which a task sends messages to its parent task. */
const PARENT = "parent";

/** Sends a message from one task to another, and returns whether it arrived. */
export function sendTo(
  run: Parameters<typeof postMessage>[0],
  { to, text, from }: Readonly<{ to: string; text: string; from: string }>,
): Delivery {
  const there = run.mailbox.readers();
  const path = addressee(to === PARENT ? aboveOf(from) : to, { from, there });
  const others = there.filter((one) => one !== from);
  if (path === undefined)
    return {
      done: false,
      text: `No task called "${to}" is running here. ${others.length === 0 ? "No other task is running." : `Running tasks: ${others.join(", ")}.`}`,
    };
  return postMessage(run, path, { text, from })
    ? { done: true, text: `Sent to ${path}; it reads the message before its next turn.` }
    : { done: false, text: `${path} has too many unread messages. Try again later.` };
}
