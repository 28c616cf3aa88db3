import { crc32 } from "node:zlib";
import type { KeptEvent } from "../core/event.ts";
import { completed } from "../core/old-event.ts";

/** One record: the event, the epoch of its writer, and a checksum over both as written. JSON has no raw line end in it. */
export function encodeLine(event: KeptEvent, epoch: number): string {
  return encoderFor(epoch)(event);
}

/** The same for all records of one writer: what they have in common is made and summed up once. */
export function encoderFor(epoch: number): (event: KeptEvent) => string {
  const head = `"epoch":${epoch},"event":`;
  const sum = crc32(head);
  return (event) => {
    const json = JSON.stringify(event);
    return `{"crc":"${hex(crc32(json, sum))}",${head}${json}}\n`;
  };
}

export type Decoded = Readonly<{ event: KeptEvent; epoch: number }>;

const BODY_AT = '{"crc":"00000000",'.length;
const CLOSE = 0x7d;

/** The record in a line, or `undefined` when it is not whole. */
export function decodeLine(line: string): Decoded | undefined {
  return decodeBytes(Buffer.from(line));
}

/** The same for a line as it lies on the disk: its checksum is over bytes, so that no two spellings are taken for one. */
export function decodeBytes(line: Buffer): Decoded | undefined {
  if (line.length <= BODY_AT || line[line.length - 1] !== CLOSE) return undefined;
  const head = `{"crc":"${checksum(line.subarray(BODY_AT, -1))}",`;
  return line.toString("latin1", 0, BODY_AT) === head ? recordIn(line.toString("utf8")) : undefined;
}

/** A right checksum only says that nothing was changed since, not that it was a record of ours. */
function recordIn(line: string): Decoded | undefined {
  try {
    const { event, epoch } = JSON.parse(line) as Partial<Decoded>;
    if (typeof event?.seq !== "number" || typeof event.type !== "string" || typeof epoch !== "number") return undefined;
    return { event: completed(event), epoch };
  } catch {
    return undefined;
  }
}

const checksum = (bytes: Buffer): string => hex(crc32(bytes));

const hex = (sum: number): string => sum.toString(16).padStart(8, "0");
