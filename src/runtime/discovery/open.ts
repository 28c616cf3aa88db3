import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { type Problem, problem } from "../../core/vocabulary/file-problem.ts";

/** The longest agent file that is read. */
export const MAX_FILE_BYTES = 1024 * 1024;

/** The text of a file, or why it could not be read. `ascii`: every byte is one character. */
export type OpenedText =
  | { readonly stamp?: Stamp; readonly text: string; readonly ascii: boolean }
  | { readonly stamp?: Stamp; readonly problem: Problem };

/** Fingerprint of a file: identity, size and times. */
export type Stamp = Readonly<Pick<Stats, "ino" | "size" | "mtimeMs" | "ctimeMs">>;

const stampOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): Stamp => ({ ino, size, mtimeMs, ctimeMs });

/** True when the file is still the file, and has the content, that the stamp was taken from. */
export function isUnchanged(path: string, { ino, size, mtimeMs, ctimeMs }: Stamp): boolean {
  const now = statSync(path, { throwIfNoEntry: false });
  return (
    now !== undefined && now.ino === ino && now.size === size && now.mtimeMs === mtimeMs && now.ctimeMs === ctimeMs
  );
}

export type OpenOptions = Readonly<{
  /** A buffer that the caller reuses, so that no buffer is allocated for each file. */
  scratch?: Buffer;
  /** False: no fingerprint (stamp) of the file is needed. */
  stamped?: boolean;
}>;

/**
 * Opens a file once and checks the opened file, since its name may refer to another file later. It never waits for a
 * pipe, and refuses a file that is too long to be an agent.
 */
export function openText(path: string, { scratch, stamped = true }: OpenOptions = {}): OpenedText {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const short = stamped || scratch === undefined ? undefined : readShort(descriptor, scratch);
    if (short !== undefined) return short;
    const stats = fstatSync(descriptor);
    const stamp = stampOf(stats);
    if (!stats.isFile()) return { stamp, problem: problem("unreadable", "The path does not lead to a regular file.") };
    if (stats.size > MAX_FILE_BYTES)
      return { stamp, problem: problem("too-big", `The file is longer than ${MAX_FILE_BYTES} bytes.`) };
    const buffer = scratch !== undefined && stats.size <= scratch.length ? scratch : Buffer.allocUnsafe(stats.size);
    return { stamp, ...decoded(buffer, fill(descriptor, buffer, stats.size)) };
  } finally {
    closeSync(descriptor);
  }
}

/** A file shorter than the buffer is read without asking for its size, which would cost as much as reading it. */
function readShort(descriptor: number, buffer: Buffer): OpenedText | undefined {
  let length: number;
  try {
    length = fill(descriptor, buffer, buffer.length);
  } catch {
    return undefined; // a pipe or a directory: the full check reports the problem
  }
  return length > 0 && length < buffer.length ? decoded(buffer, length) : undefined;
}

function decoded(buffer: Buffer, length: number): OpenedText {
  const text = buffer.toString("utf8", 0, length);
  if (text.includes("\0") || (text.includes(REPLACED) && !isUtf8(buffer.subarray(0, length))))
    return { problem: problem("not-text", notUtf8(buffer.subarray(0, length))) };
  return { text, ascii: text.length === length };
}

/** The replacement character for invalid UTF-8. */
const REPLACED = "\ufffd";

/** Reads until the buffer is full, since a single read may return less. */
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
  return bytes.includes(0) ? "The file contains NUL bytes: it is UTF-16 or not text." : "The file is not UTF-8.";
}
