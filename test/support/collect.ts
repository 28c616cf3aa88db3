import type { Event } from "../../src/core/run/event.ts";
import type { Run } from "../../src/runtime/run/run.ts";

/** Every event of a run, once it has ended. */
export async function collect(run: Run): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of run) events.push(event);
  return events;
}
