import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import { isLast, type KeptEvent } from "../../core/run/event.ts";
import type { FollowOptions } from "../../core/run/run-store.ts";
import { pause } from "../async/cancel.ts";
import { JOURNAL_FILE } from "./layout.ts";
import { readingsOf } from "./read-journal.ts";
import { isContinued } from "./run-claim.ts";

/** Polling interval where file watching does not work. */
const LOOK_EVERY_MS = 250;

/**
 * The events of a journal that another process writes: the existing events, then each new event. While a new owner has
 * not written its first record, new events and the end of the run are held back: it may replace them.
 */
export async function* followJournal(
  folder: string,
  { after = 0, until, signal }: FollowOptions,
): AsyncGenerator<KeptEvent, void> {
  let wake = (): void => {};
  const watcher = watching(join(folder, JOURNAL_FILE), () => wake());
  let last: KeptEvent | undefined;
  let held: KeptEvent[] = [];
  let reached = "history" as "history" | "live" | "end";
  let over = false; // evaluated before the last read, so that no event is missed
  const more = async (hasGrown: boolean): Promise<boolean> => {
    reached = (over && !hasGrown) || signal.aborted ? "end" : "live";
    if (reached === "end") return false;
    const looked = new AbortController();
    wake = (): void => looked.abort();
    over = await until(last);
    if (!over) await pause(LOOK_EVERY_MS, AbortSignal.any([looked.signal, signal]));
    return true;
  };
  try {
    for await (const { reader } of readingsOf(folder, { after, more })) {
      const { events, epoch } = reader.take();
      const replaced = events[0]?.seq ?? Number.POSITIVE_INFINITY;
      const known = [...held.filter(({ seq }) => seq < replaced), ...events];
      const isOpen = known.length > 0 && reached !== "end" && (await isContinued(folder, epoch));
      const sure = !isOpen ? known.length : reached === "live" ? 0 : known.length - (isLast(known.at(-1)) ? 1 : 0);
      held = known.slice(sure);
      for (const event of known.slice(0, sure)) {
        if (signal.aborted) return;
        last = event;
        if (event.seq > after) yield event;
      }
    }
  } finally {
    watcher?.close();
  }
}

function watching(path: string, changed: () => void): FSWatcher | undefined {
  try {
    return watch(path, changed).on("error", () => {});
  } catch {
    return undefined; // without a watcher, the journal is polled
  }
}
