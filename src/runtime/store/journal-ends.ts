import { join } from "node:path";
import type { KeptEvent } from "../../core/run/event.ts";
import { openRegular } from "../disk/regular-file.ts";
import { JOURNAL_FILE } from "./layout.ts";
import { decodeBytes, LINE_END, MOST_RECORD_BYTES } from "./journal-line.ts";

/** Reads only the first event of a journal. */
export async function firstEvent(folder: string): Promise<KeptEvent | undefined> {
  return readWidening(folder, "start", (bytes, isWhole) => {
    const end = bytes.indexOf(LINE_END);
    if (end < 0 && !isWhole) return "unknown";
    return decodeBytes(end < 0 ? bytes : bytes.subarray(0, end))?.event;
  });
}

/** Reads only the last complete event of a journal. */
export async function lastEvent(folder: string): Promise<KeptEvent | undefined> {
  return readWidening(folder, "end", lastWithin);
}

/** Reads increasing parts of a journal, from its start or its end, until `find` returns a result. */
async function readWidening(
  folder: string,
  from: "start" | "end",
  find: (bytes: Buffer, isWhole: boolean) => KeptEvent | undefined | "unknown",
): Promise<KeptEvent | undefined> {
  const file = await openRegular(join(folder, JOURNAL_FILE)).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    for (let span = TAIL_BYTES; span <= MOST_RECORD_BYTES; span *= 16) {
      const bytes = Buffer.alloc(Math.min(size, span));
      await file.read(bytes, 0, bytes.length, from === "start" ? 0 : size - bytes.length);
      const found = find(bytes, span >= size);
      if (found !== "unknown") return found;
    }
    return undefined;
  } finally {
    await file.close();
  }
}

/** The last complete record at the end of a journal; an incomplete record after it is ignored. */
function lastWithin(bytes: Buffer, isWhole: boolean): KeptEvent | undefined | "unknown" {
  for (let end = bytes.length, torn = true; end > 0; torn = false) {
    const start = bytes.lastIndexOf(LINE_END, end - 1) + 1;
    if (start === 0 && !isWhole) return "unknown";
    const event = decodeBytes(bytes.subarray(start, end))?.event;
    if (event || (!torn && end > start)) return event;
    end = start - 1;
  }
  return undefined;
}

const TAIL_BYTES = 1 << 16;
