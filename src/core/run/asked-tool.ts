import type { KeptEvent } from "./event.ts";

/** The tool that a question about a call of a task is about; `undefined`: no such call is recorded. */
export function askedTool(
  events: readonly KeptEvent[],
  { path, call }: Readonly<{ path: string; call: string }>,
): string | undefined {
  const plain = call.replace(/\.\d+$/, ""); // a call that asks several times numbers its questions
  for (const event of events.toReversed()) {
    if (event.type !== "turn.ended" || event.path !== path) continue;
    const found = event.calls.find(({ id }) => id === call || id === plain);
    if (found) return found.name;
  }
  return undefined;
}
