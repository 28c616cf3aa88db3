import type { Event, Fact, KeptEvent } from "./event.ts";

/** True for an event that is in the journal. */
export function isKept(event: Event): event is KeptEvent {
  return "seq" in event;
}

/** `waiting for api (src/**)`: the task that is writing the files, and the files. */
export function waitingText(blockers: Extract<Fact, { type: "node.waiting" }>["for"]): string {
  const named = blockers.map(
    ({ task, files, run }) => `${task}${run === undefined ? "" : ` of ${run}`} (${files.join(", ")})`,
  );
  return `waiting for ${named.join(", ")}`;
}

/** A refusal for a person: with what the person can do about it. */
export const deniedText = ({ text, hint }: Readonly<{ text: string; hint?: string | undefined }>): string =>
  hint === undefined ? text : `${text} ${hint}`;
