import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { type Problem, problem } from "../core/problem.ts";

/** No agent is longer. */
export const MAX_FILE_BYTES = 1024 * 1024;

/** The text of a file, or why it has none. `ascii`: every byte is one letter. */
export type OpenedText =
  | { readonly stamp: string; readonly text: string; readonly ascii: boolean }
  | { readonly stamp: string; readonly problem: Problem };

/** By this a file is known again: what it is, how long it is, and when it changed. */
export const stampOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): string => `${ino}:${size}:${mtimeMs}:${ctimeMs}`;

/**
 * Opens a file once and judges what was opened, not its name. A pipe is never waited for, and nothing is read that is
 * too long to be an agent. `scratch` saves a new buffer for each file.
 */
export function openText(path: string, scratch?: Buffer): OpenedText {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    const stamp = stampOf(stats);
    if (!stats.isFile()) return { stamp, problem: problem("unreadable", "It is not a regular file.") };
    if (stats.size > MAX_FILE_BYTES)
      return { stamp, problem: problem("too-big", `The file is longer than ${MAX_FILE_BYTES} bytes.`) };
    const buffer = scratch !== undefined && stats.size <= scratch.length ? scratch : Buffer.allocUnsafe(stats.size);
    const length = fill(descriptor, buffer, stats.size);
    const text = buffer.toString("utf8", 0, length);
    if (text.includes("\0") || (text.includes(REPLACED) && !isUtf8(buffer.subarray(0, length))))
      return { stamp, problem: problem("not-text", notUtf8(buffer.subarray(0, length))) };
    return { stamp, text, ascii: text.length === length };
  } finally {
    closeSync(descriptor);
  }
}

/** What decoding puts in the place of bytes that are no UTF-8. */
const REPLACED = "\ufffd";

/** A read may be short. */
function fill(descriptor: number, buffer: Buffer, size: number): number {
  let length = 0;
  while (length < size) {
    const read = readSync(descriptor, buffer, length, size - length, length);
    if (read === 0) break;
    length += read;
  }
  return length;
}

function notUtf8(bytes: Buffer): string {
  const utf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (utf16) return "The file is UTF-16; only UTF-8 is read.";
  return bytes.includes(0) ? "The file holds NUL bytes: it is UTF-16 or no text at all." : "The file is not UTF-8.";
}
