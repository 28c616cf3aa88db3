import { openRegular } from "../disk/read-regular.ts";
import { type FSWatcher, watch } from "node:fs";
import { type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { KeptEvent } from "../../core/run/event.ts";
import { pause } from "../async/cancel.ts";
import { decodeBytes } from "../store/journal-line.ts";

/** How often the file is looked at where watching it tells nothing. */
const LOOK_EVERY_MS = 250;

/**
 * The events of a journal that another process writes: those that are there, then each as it is written. Ends when
 * `until` says so, asked whenever everything was read, or when the signal aborts. Reads only what is new.
 */
export async function* follow(
  folder: string,
  until: (last: KeptEvent | undefined) => Promise<boolean>,
  signal: AbortSignal,
): AsyncGenerator<KeptEvent, void> {
  const path = join(folder, "journal.jsonl");
  const file = await openRegular(path);
  let wake = (): void => {};
  const watcher = watching(path, () => wake());
  try {
    let rest: Buffer = Buffer.alloc(0);
    let position = 0;
    let last: KeptEvent | undefined;
    let over = false; // said before the last look, so that nothing is missed that was written meanwhile
    while (!signal.aborted) {
      const chunk = await readFrom(file, position);
      if (chunk.length > 0) over = false;
      position += chunk.length;
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a)) {
        const event = decodeBytes(rest.subarray(0, end))?.event;
        rest = rest.subarray(end + 1);
        if (!event) continue;
        last = event;
        yield event;
      }
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
    return undefined; // looking from time to time has to do
  }
}

/** Large enough that a long record is not put together from a thousand pieces. */
const PIECE_BYTES = 1 << 20;

async function readFrom(file: FileHandle, position: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
  return buffer.subarray(0, bytesRead);
}
