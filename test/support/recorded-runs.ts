import type { KeptEvent } from "../../src/core/run/event.ts";
import type { RunStore } from "../../src/core/run/run-store.ts";
import { createMemoryStore } from "../../src/runtime/store/memory-store.ts";
import { type RecordedRun, readRecordedRun } from "../../src/runtime/resume/recorded-run.ts";

/** The events of a run, numbered from 1, each one millisecond after the previous one; parts of events are enough. */
export const eventsOf = (run: string, parts: readonly object[]): readonly KeptEvent[] =>
  parts.map((part, at) => ({ run, path: "", seq: at + 1, at: at + 1, ...part }) as unknown as KeptEvent);

/** A store in memory with these runs, by id. */
export async function storeOf(runs: Readonly<Record<string, readonly object[]>>): Promise<RunStore> {
  const store = createMemoryStore();
  for (const [run, parts] of Object.entries(runs)) {
    const journal = await store.open(run, { kept: () => {}, lost: () => {} });
    for (const event of eventsOf(run, parts)) journal.append(event);
    await journal.close();
  }
  return store;
}

/** A run as it is read from a store. */
export async function recordedRun(run: string, parts: readonly object[]): Promise<RecordedRun> {
  return readRecordedRun(await storeOf({ [run]: parts }), run);
}
