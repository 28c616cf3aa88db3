import { crc32 } from "node:zlib";
import type { KeptEvent } from "../core/event.ts";

/** One record: the event, the epoch of its writer, and a checksum over both as written. */
export function encodeLine(event: KeptEvent, epoch: number): string {
  const body = `"epoch":${epoch},"event":${JSON.stringify(event)}`;
  return `{"crc":"${checksum(body)}",${body}}\n`;
}

export type Decoded = Readonly<{ event: KeptEvent; epoch: number }>;

const HEAD = /^\{"crc":"([0-9a-f]{8})",/;
const HEAD_LENGTH = '{"crc":"00000000",'.length;

/** The record in a line, or `undefined` when it is not whole. */
export function decodeLine(line: string): Decoded | undefined {
  const crc = HEAD.exec(line)?.[1];
  if (crc === undefined || !line.endsWith("}")) return undefined;
  if (checksum(line.slice(HEAD_LENGTH, -1)) !== crc) return undefined;
  return recordIn(line);
}

/** A right checksum only says that nothing was changed since, not that it was a record of ours. */
function recordIn(line: string): Decoded | undefined {
  try {
    const { event, epoch } = JSON.parse(line) as Partial<Decoded>;
    return typeof event?.seq === "number" && typeof epoch === "number" ? { event, epoch } : undefined;
  } catch {
    return undefined;
  }
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}
