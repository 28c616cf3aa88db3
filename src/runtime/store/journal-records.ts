import { isKnown, type KeptEvent } from "../../core/run/event.ts";
import type { KeptRecords } from "../../core/run/run-store.ts";
import { CrewError } from "../../core/schema/error.ts";
import { type DecodedLine, decodeBytes, LINE_END } from "./journal-line.ts";
import { JOURNAL_FILE } from "./layout.ts";

const RECORD_HEAD = /\{"crc":"[0-9a-f]{8}","epoch":(\d+)/g;

/** The epochs in the heads of all records in these bytes, also of damaged records. */
export const epochsIn = (bytes: Buffer): ReadonlySet<number> =>
  new Set(Array.from(bytes.toString("latin1").matchAll(RECORD_HEAD), ([, epoch]) => Number(epoch)));

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
  const reader = createRecordReader(before);
  reader.push(bytes, isEnd);
  return reader.contents();
}

/** Takes the bytes of a journal one part after the other. */
export type RecordReader = Readonly<{
  /**
   * Reads the records in these bytes, which follow the bytes of the last call. All lines in them must be complete. With
   * `isEnd` nothing follows, and the last line may be incomplete. If the last line may still grow, the caller passes it
   * later.
   */
  push(bytes: Buffer, isEnd: boolean): void;
  /** Everything that was read so far. */
  contents(): JournalContents;
}>;

/** Creates a reader that takes the bytes of a journal in parts, and skips damaged parts. */
export function createRecordReader(before: ReadBefore = { seq: 0, epoch: 0 }): RecordReader {
  const events: KeptEvent[] = [];
  const damage: { offset: number; bytes: number; records: [number, number | undefined] }[] = [];
  const first = before.offset ?? 0;
  let from = first;
  let { epoch } = before;
  let tornBytes = 0;
  let late = 0;
  let endMissing = false;
  const unknown = new Set<string>();
  let base = before.seq;
  const next = (): number => (events.at(-1)?.seq ?? base) + 1;
  const spoilt = (start: number, end: number): void => {
    const last = damage.at(-1);
    if (last && last.offset + last.bytes === from + start) last.bytes += end - start;
    else damage.push({ offset: from + start, bytes: end - start, records: [next(), undefined] });
  };
  const take = ({ event, epoch: writer }: DecodedLine, start: number, end: number): void => {
    if (writer > epoch) {
      late += forget(events, event.seq);
      base = Math.min(base, event.seq - 1); // the records of the former owner may be in an earlier part
    }
    if (writer < epoch) {
      late += 1;
      return;
    }
    if (event.seq < next()) {
      spoilt(start, end); // this record occurs twice, or is in the wrong place
      return;
    }
    if (event.seq > next()) {
      const last = damage.at(-1);
      if (last && last.offset + last.bytes === from + start) last.records[1] = event.seq - 1;
      else damage.push({ offset: from + start, bytes: 0, records: [next(), event.seq - 1] });
    }
    events.push(event);
    epoch = writer;
  };
  const takeLine = (bytes: Buffer, start: number, end: number): void => {
    const parts = recordsWithin(bytes, start, end);
    for (const [index, [at, to]] of parts.entries()) {
      const inner = decodeBytes(bytes.subarray(at, to));
      const leftover = isLeftover(bytes, at, parts[index + 1]?.[0]);
      if (inner) take(inner, at, to);
      else if (leftover) late += 1;
      else spoilt(at, to);
      // Only a newline is lost at this place, but the file may be damaged at other places, too.
      if (inner && to < end && !leftover)
        damage.push({ offset: from + to, bytes: 0, records: [inner.event.seq + 1, inner.event.seq] });
    }
  };
  const push = (bytes: Buffer, isEnd: boolean): void => {
    let start = 0;
    while (start < bytes.length) {
      const found = bytes.indexOf(LINE_END, start);
      const end = found < 0 ? bytes.length : found;
      const decoded = decodeBytes(bytes.subarray(start, end));
      if (decoded) take(decoded, start, end);
      else if (isEnd && isTorn(bytes, start, found)) {
        tornBytes = bytes.length - start;
        break;
      } else takeLine(bytes, start, end);
      endMissing = found < 0;
      const last = damage.at(-1);
      if (!endMissing && last && last.offset + last.bytes === from + end) last.bytes += 1;
      start = end + (endMissing ? 0 : 1);
    }
    from += start;
  };
  const contents = (): JournalContents => {
    for (const event of events) if (!isKnown(event)) unknown.add(event.type);
    const problems = [
      ...(tornBytes > 0
        ? [`The last record was incomplete after a crash and was discarded (${tornBytes} bytes).`]
        : []),
      ...(late > 0
        ? [`${late} records that a previous owner wrote after another process had taken over were ignored.`]
        : []),
      ...(unknown.size > 0
        ? [`Records of types that only a newer version of subcrew knows were skipped: ${[...unknown].join(", ")}.`]
        : []),
    ];
    return { events, problems, wholeBytes: from - first, tornBytes, endMissing, epoch, damage };
  };
  return { push, contents };
}

/**
 * Drops records that a process wrote after another process had taken over the run. The new owner continued after the
 * records it found; records that the old owner wrote in between were never acknowledged, because a process checks its
 * ownership first.
 */
function forget(events: KeptEvent[], seq: number): number {
  let count = 0;
  while ((events.at(-1)?.seq ?? 0) >= seq) {
    events.pop();
    count += 1;
  }
  return count;
}

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
