import { isKnown, type KeptEvent } from "../../core/run/event.ts";
import type { KeptRecords } from "../../core/run/run-store.ts";
import { CrewError } from "../../core/schema/error.ts";
import { type DecodedLine, decodeBytes, LINE_END } from "./journal-line.ts";
import { JOURNAL_FILE } from "./layout.ts";
import { Takeovers } from "./takeovers.ts";

/** The records of a journal, and the offset up to which it is readable. */
export type JournalContents = Readonly<{
  events: readonly KeptEvent[];
  /** Problems that were repaired while reading, as sentences. */
  problems: readonly string[];
  wholeBytes: number;
  /** Size of an incomplete record after that offset, left by a crash. */
  tornBytes: number;
  /** True: the last record is complete except for its newline. */
  endMissing: boolean;
  /** The highest epoch (number of a writing process) in the journal. */
  epoch: number;
  /** The damaged parts; filled only when the journal is read to be shown. */
  damage: readonly JournalDamage[];
}>;

/** A part of a journal that cannot be read, or a place where records are missing. */
export type JournalDamage = Readonly<{
  offset: number;
  bytes: number;
  /**
   * The numbers of the first and the last missing record, judging by the next record. If only a newline is missing, the
   * last number is lower than the first.
   */
  records: readonly [number, number | undefined];
}>;

/** The state of reading before a part of a journal: number and epoch of the last record, and the offset of the part. */
export type ReadBefore = Readonly<{ seq: number; epoch: number; offset?: number }>;

/**
 * Returns the contents of a journal, but throws if a part in the middle cannot be read: the rest must then not be used
 * either.
 */
export function undamaged(contents: JournalContents, folder: string, size: number): JournalContents {
  const [first] = contents.damage;
  if (!first) return contents;
  throw damaged(folder, { record: first.records[0], offset: first.offset, size });
}

/** The records in the file of a journal, in any folder, and its problems as sentences. For display only. */
export function recordsInFile(bytes: Buffer): KeptRecords {
  const { events, problems, damage } = salvageRecords(bytes);
  return { events, problems: [...damage.map(damageText), ...problems] };
}

/** Reads the records around damaged parts, for display only. Nothing may be appended to such a journal. */
export function salvageRecords(bytes: Buffer, before?: ReadBefore, isEnd = true): JournalContents {
  const reader = new RecordReader({ before });
  reader.push(bytes, isEnd);
  return reader.take();
}

/** Decodes the bytes of a journal, one part after the other. Damaged parts and records of replaced owners are skipped. */
export class RecordReader {
  readonly #takeovers: Takeovers;
  readonly #first: number;
  #from: number;
  #seq: number;
  #epoch: number;
  #events: KeptEvent[] = [];
  #damage: { offset: number; bytes: number; records: [number, number | undefined] }[] = [];
  #tornBytes = 0;
  #late = 0;
  #endMissing = false;
  readonly #unknown = new Set<string>();

  /** `takeovers`: those that may make records void that are taken before their replacement is read. */
  constructor({ before = START, takeovers = new Takeovers() }: RecordContext = {}) {
    this.#takeovers = takeovers;
    this.#first = this.#from = before.offset ?? 0;
    this.#seq = before.seq;
    this.#epoch = before.epoch;
  }

  /**
   * Reads the records in these bytes, which follow the bytes of the last call. All lines in them must be complete. With
   * `isEnd` nothing follows, and the last line may be incomplete. If the last line may still grow, the caller passes it
   * later.
   */
  push(bytes: Buffer, isEnd: boolean): void {
    let start = 0;
    while (start < bytes.length) {
      const found = bytes.indexOf(LINE_END, start);
      const end = found < 0 ? bytes.length : found;
      const decoded = decodeBytes(bytes.subarray(start, end));
      if (decoded) this.#accept(decoded, start, end);
      else if (isEnd && isTorn(bytes, start, found)) {
        this.#tornBytes = bytes.length - start;
        break;
      } else this.#acceptParts(bytes, start, end);
      this.#endMissing = found < 0;
      const last = this.#damage.at(-1);
      if (!this.#endMissing && last && last.offset + last.bytes === this.#from + end) last.bytes += 1;
      start = end + (this.#endMissing ? 0 : 1);
    }
    this.#from += start;
  }

  /** Returns what was read since the last call; sizes and problems are those of everything read so far. */
  take(): JournalContents {
    const [events, damage] = [this.#events, this.#damage];
    this.#events = [];
    this.#damage = [];
    for (const event of events) if (!isKnown(event)) this.#unknown.add(event.type);
    return {
      events,
      problems: this.#problems(),
      wholeBytes: this.#from - this.#first,
      tornBytes: this.#tornBytes,
      endMissing: this.#endMissing,
      epoch: this.#epoch,
      damage,
    };
  }

  #accept({ event, epoch }: DecodedLine, start: number, end: number): void {
    if (epoch < this.#epoch || this.#takeovers.isVoid(event.seq, epoch)) {
      this.#late += 1;
      return;
    }
    if (epoch > this.#epoch) this.#forget(event.seq);
    if (event.seq <= this.#seq) {
      this.#spoilt(start, end); // this record occurs twice, or is in the wrong place
      return;
    }
    if (event.seq > this.#seq + 1) {
      const last = this.#damage.at(-1);
      if (last && last.offset + last.bytes === this.#from + start) last.records[1] = event.seq - 1;
      else this.#damage.push({ offset: this.#from + start, bytes: 0, records: [this.#seq + 1, event.seq - 1] });
    }
    this.#events.push(event);
    this.#seq = event.seq;
    this.#epoch = epoch;
  }

  /** Drops the records that a new owner replaces, because it continues after the records it found. */
  #forget(seq: number): void {
    while ((this.#events.at(-1)?.seq ?? 0) >= seq) {
      this.#events.pop();
      this.#late += 1;
    }
    this.#seq = Math.min(this.#seq, seq - 1);
  }

  /** Reads the records in a line that is not a record. */
  #acceptParts(bytes: Buffer, start: number, end: number): void {
    const parts = recordsWithin(bytes, start, end);
    for (const [index, [at, to]] of parts.entries()) {
      const inner = decodeBytes(bytes.subarray(at, to));
      const leftover = isLeftover(bytes, at, parts[index + 1]?.[0]);
      if (inner) this.#accept(inner, at, to);
      else if (leftover) this.#late += 1;
      else this.#spoilt(at, to);
      // Only a newline is lost at this place, but the file may be damaged at other places, too.
      if (inner && to < end && !leftover)
        this.#damage.push({ offset: this.#from + to, bytes: 0, records: [inner.event.seq + 1, inner.event.seq] });
    }
  }

  #spoilt(start: number, end: number): void {
    const last = this.#damage.at(-1);
    if (last && last.offset + last.bytes === this.#from + start) last.bytes += end - start;
    else this.#damage.push({ offset: this.#from + start, bytes: end - start, records: [this.#seq + 1, undefined] });
  }

  #problems(): string[] {
    return [
      ...(this.#tornBytes > 0
        ? [`The last record was incomplete after a crash and was discarded (${this.#tornBytes} bytes).`]
        : []),
      ...(this.#late > 0
        ? [`${this.#late} records that a previous owner wrote after another process had taken over were ignored.`]
        : []),
      ...(this.#unknown.size > 0
        ? [
            `Records of types that only a newer version of subcrew knows were skipped: ${[...this.#unknown].join(", ")}.`,
          ]
        : []),
    ];
  }
}

type RecordContext = Readonly<{ before?: ReadBefore | undefined; takeovers?: Takeovers | undefined }>;

const START: ReadBefore = { seq: 0, epoch: 0 };
/** For a line whose place in the journal is unknown: a record with any number may come next. */
export const ANYWHERE: ReadBefore = { seq: Number.NaN, epoch: 0 };

const RECORD_HEAD = /\{"crc":"[0-9a-f]{8}","epoch":\d+/g;

/** Offsets of possible records inside a damaged line: the newline between two records may be lost. */
function recordsWithin(bytes: Buffer, start: number, end: number): [number, number][] {
  const heads = bytes.toString("latin1", start, end).matchAll(RECORD_HEAD);
  const starts = [start, ...Array.from(heads, ({ index }) => start + index).filter((at) => at > start)];
  return starts.map((at, index) => [at, starts[index + 1] ?? end]);
}

/**
 * True if another process wrote the next record of the same line. The process that wrote the first record was
 * interrupted during its write, after the other process had taken over the run. The unfinished record was never
 * acknowledged.
 */
function isLeftover(bytes: Buffer, start: number, next: number | undefined): boolean {
  if (next === undefined) return false;
  const cut = bytes.toString("latin1", start, Math.min(next, start + MOST_HEAD));
  const epoch = RECORD_START.exec(cut)?.[1];
  if (epoch === undefined) return CUT_HEAD.test(cut + SAMPLE_HEAD.slice(cut.length)); // the write ended before the epoch
  return epoch !== RECORD_START.exec(bytes.toString("latin1", next, next + MOST_HEAD))?.[1];
}

const MOST_HEAD = 64;
const RECORD_START = /^\{"crc":"[0-9a-f]{8}","epoch":(\d+),/;
/**
 * Matches the beginning of every record. To check a record that was cut off earlier than that, the missing part is
 * taken from `SAMPLE_HEAD`.
 */
const CUT_HEAD = /^\{"crc":"[0-9a-f]{8}","epoch":\d+$/;
const SAMPLE_HEAD = '{"crc":"00000000","epoch":0';

/** True for a record without an end, or a hole left by a power cut, at the end of the journal. */
function isTorn(bytes: Buffer, start: number, end: number): boolean {
  if (end < 0) return true;
  return end === bytes.length - 1 && bytes.subarray(start, end).includes(0);
}

/** A description of the unreadable part of a journal. */
export function damageText({ offset, bytes, records: [first, last] }: JournalDamage): string {
  if (last !== undefined && last < first) return `A line end is missing at byte ${offset} of ${JOURNAL_FILE}.`;
  const missing =
    last === undefined
      ? `record ${first} and later ones`
      : first === last
        ? `record ${first}`
        : `records ${first} to ${last}`;
  return bytes === 0
    ? `Missing at byte ${offset} of ${JOURNAL_FILE}: ${missing}.`
    : `${JOURNAL_FILE} is damaged at byte ${offset} (${bytes} bytes, ${missing}); the records before and after it are shown.`;
}

function damaged(
  folder: string,
  { record, offset, size }: { record: number; offset: number; size: number },
): CrewError {
  const hint = `Look at byte ${offset} of ${JOURNAL_FILE} (${size} bytes); all records before it are intact.`;
  return new CrewError("RUN_DAMAGED", `The journal in ${folder} is damaged at record ${record}.`, hint);
}
