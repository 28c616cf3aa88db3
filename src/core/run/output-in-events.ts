import { outputText } from "../outcome/outcome.ts";
import type { KeptEvent } from "./event.ts";

/**
 * The full output of a task from its events, ending with a newline; the path "" is the run itself. `undefined`: it has
 * not ended.
 */
export function outputInEvents(events: Iterable<KeptEvent>, path: string): string | undefined {
  let found: string | undefined;
  for (const event of events) {
    if (event.path !== path || !("outcome" in event)) continue;
    const text = outputText(event.outcome);
    found = text.endsWith("\n") ? text : `${text}\n`;
  }
  return found;
}
