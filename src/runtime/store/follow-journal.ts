import { openRegular } from "../disk/regular-file.ts";
import { type FSWatcher, watch } from "node:fs";
import { type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { KeptEvent } from "../../core/run/event.ts";
import type { FollowOptions } from "../../core/run/run-store.ts";
import { pause } from "../async/cancel.ts";
import { salvageRecords } from "./journal-records.ts";
import { JOURNAL_FILE } from "./layout.ts";
import { LINE_END, MOST_RECORD_BYTES } from "./journal-line.ts";

/** Polling interval where file watching does not work. */
const LOOK_EVERY_MS = 250;

/** The events of a journal that another process writes: the existing events, then each new event. */
export async function* follow(
  folder: string,
  { after = 0, until, signal }: FollowOptions,
): AsyncGenerator<KeptEvent, void> {
  const path = join(folder, JOURNAL_FILE);
  const file = await openRegular(path);
  let wake = (): void => {};
  const watcher = watching(path, () => wake());
  try {
    let rest: Buffer[] = []; // the beginning of a line that is not complete yet
    let lineAt = 0;
    let position = 0;
    let last: KeptEvent | undefined;
    let owned = { seq: 0, epoch: 0 };
    let over = false; // evaluated before the last read, so that no event is missed
    while (!signal.aborted) {
      const chunk = await readFrom(file, position);
      if (chunk.length > 0) over = false;
      position += chunk.length;
      rest.push(chunk);
      const end = chunk.lastIndexOf(LINE_END);
      if (end >= 0 || (over && chunk.length === 0)) {
        // The last record may lack its newline, which is certain only once the file stops growing.
        const whole = Buffer.concat(rest).subarray(0, end < 0 ? undefined : end + 1 - chunk.length || undefined);
        rest = end < 0 ? [] : [chunk.subarray(end + 1)];
        lineAt = position - (rest[0]?.length ?? 0);
        const { events, epoch } = salvageRecords(whole, owned, false);
        last = events.at(-1) ?? last;
        owned = { seq: last?.seq ?? 0, epoch };
        for (const event of events) if (event.seq > after) yield event;
      }
      if (position - lineAt > MOST_RECORD_BYTES) throw new Error(`a record is longer than ${MOST_RECORD_BYTES} bytes`);
      if (chunk.length > 0) continue;
      const looked = new AbortController();
      wake = (): void => looked.abort();
      if (over) return;
      over = await until(last);
      if (!over) await pause(LOOK_EVERY_MS, AbortSignal.any([looked.signal, signal]));
    }
  } finally {
    watcher?.close();
    await file.close();
  }
}

function watching(path: string, changed: () => void): FSWatcher | undefined {
  try {
    return watch(path, changed).on("error", () => {});
  } catch {
    return undefined; // without a watcher, the journal is polled
  }
}

/** The size of the pieces in which a journal is read; large enough for long records. */
const PIECE_BYTES = 1 << 20;

async function readFrom(file: FileHandle, position: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
  return buffer.subarray(0, bytesRead);
}
