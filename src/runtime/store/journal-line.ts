import { crc32 } from "node:zlib";
import { isWellFormed, type KeptEvent } from "../../core/run/event.ts";
import { newerFormat } from "./record-format.ts";
import { DEEPEST_RECORD, parseJson } from "../../core/text/json.ts";

/**
 * Converts events to the lines of a journal: each line has the event, the epoch (the number of the process that wrote
 * it), and a checksum over both as written. JSON contains no raw newline. The checksums are inserted after all text was
 * converted to bytes: a checksum of a string would convert each record twice.
 */
export function encodeLines(events: readonly KeptEvent[], epoch: number): Buffer {
  const head = `{"crc":"00000000","epoch":${epoch},"event":`;
  let text = ""; // appending to a string costs less than joining a list
  for (const event of events) text += `${head}${JSON.stringify(event)}}\n`;
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LINE_END, start);
    writeHex(bytes, start + SUM_AT, crc32(viewOf(bytes, start + BODY_AT, end - 1)));
    start = end + 1;
  }
  return bytes;
}

/** Returns a part of a buffer like `subarray`, at a third of its cost. */
const viewOf = ({ buffer, byteOffset }: Buffer, start: number, end: number): Uint8Array =>
  new Uint8Array(buffer, byteOffset + start, end - start);

function writeHex(bytes: Buffer, at: number, sum: number): void {
  for (let place = at + 7, left = sum; place >= at; place -= 1, left >>>= 4) bytes[place] = HEX[left & 15]!;
}

export type DecodedLine = Readonly<{ event: KeptEvent; epoch: number }>;

const SUM_AT = '{"crc":"'.length;
const BODY_AT = '{"crc":"00000000",'.length;
const HEX = Buffer.from("0123456789abcdef");
/** The byte that ends a record. */
export const LINE_END = 0x0a;
/** The maximum length of a record; a longer line means that the file is not a journal. */
export const MOST_RECORD_BYTES = 2 ** 28;
const RETURN = 0x0d;
const MARK = [0xef, 0xbb, 0xbf] as const;

/**
 * The record in a line of the journal file, or `undefined` when it is not complete. Its checksum covers the bytes, so
 * that every difference in spelling is detected. A byte order mark before the line and a carriage return after it, as
 * editors and copies leave them, are ignored.
 */
export function decodeBytes(bytes: Buffer): DecodedLine | undefined {
  const line = bytes.subarray(
    bytes[0] === MARK[0] && bytes[1] === MARK[1] && bytes[2] === MARK[2] ? MARK.length : 0,
    bytes[bytes.length - 1] === RETURN ? -1 : undefined,
  );
  const head = `{"crc":"${checksum(line.subarray(BODY_AT, -1))}",`;
  return line.toString("latin1", 0, BODY_AT) === head ? recordIn(line.toString("utf8")) : undefined;
}

/** The record in a line whose checksum is correct, which does not yet prove that the line is a valid record. */
function recordIn(line: string): DecodedLine | undefined {
  try {
    const { event, epoch } = parseJson(line, DEEPEST_RECORD) as Partial<DecodedLine>;
    if (typeof event?.seq !== "number" || typeof event.type !== "string" || typeof epoch !== "number") return undefined;
    // The first record of a newer version may have another form: it is refused by name, not as damage.
    const isNewer = event.seq === 1 && newerFormat(event) !== undefined;
    return isNewer || isWellFormed(event) ? { event, epoch } : undefined;
  } catch {
    return undefined;
  }
}

const checksum = (bytes: Buffer): string => hex(crc32(bytes));

const hex = (sum: number): string => sum.toString(16).padStart(8, "0");
