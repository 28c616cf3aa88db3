import { decodeBytes, LINE_END } from "./journal-line.ts";

/**
 * Where processes took over a journal. A new owner of a run continues after the records that it found, and the journal
 * belongs to the owner with the highest number (epoch). Records that a former owner wrote later are void: it never
 * acknowledged them, because a process checks its ownership first.
 */
export class Takeovers {
  /** The first record of each owner; only those with a higher epoch than all records before them. */
  readonly #owners: { readonly epoch: number; readonly seq: number }[] = [];

  /** The highest epoch of a record. */
  get epoch(): number {
    return this.#owners.at(-1)?.epoch ?? 0;
  }

  /** Finds the takeovers in the next whole lines of the journal, without decoding all of them. */
  scan(bytes: Buffer): this {
    for (let at = bytes.indexOf(HEAD), next: number; at >= 0; at = next) {
      next = bytes.indexOf(HEAD, at + HEAD.length);
      if (epochAt(bytes, at + EPOCH_AT) <= this.epoch) continue;
      const line = bytes.indexOf(LINE_END, at);
      const end = Math.min(line < 0 ? bytes.length : line, next < 0 ? bytes.length : next);
      const record = decodeBytes(bytes.subarray(at, end));
      if (record && record.epoch > this.epoch) this.#owners.push({ epoch: record.epoch, seq: record.event.seq });
    }
    return this;
  }

  /** True for a record of a former owner that a later owner replaced. */
  isVoid(seq: number, epoch: number): boolean {
    return epoch < this.epoch && this.#owners.some((owner) => owner.epoch > epoch && owner.seq <= seq);
  }
}

/** The start of a record. It does not occur in texts, where quotes are escaped. */
const HEAD = Buffer.from('{"crc":"');
const EPOCH_AT = '{"crc":"00000000","epoch":'.length;

/** The number at an offset; 0 if there is none. */
function epochAt(bytes: Buffer, offset: number): number {
  let epoch = 0;
  for (let at = offset; at < bytes.length && bytes[at]! >= 0x30 && bytes[at]! <= 0x39; at += 1)
    epoch = epoch * 10 + bytes[at]! - 0x30;
  return epoch;
}
