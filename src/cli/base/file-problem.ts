import type { Writable } from "node:stream";
import { CrewError, messageOf } from "../../core/schema/error.ts";

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "the folder does not exist",
  ENOTDIR: "a part of the path is a file, not a folder",
  EISDIR: "the path is a folder",
  EACCES: "you have no permission to write there",
  EPERM: "you have no permission to write there",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "your share of the disk is full",
  EFBIG: "the file would become larger than allowed",
  ENAMETOOLONG: "the name is too long",
};

/** The reason why a file cannot be written, in words. */
export function writeProblem(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? "";
  return Object.hasOwn(WORDS, code) ? WORDS[code]! : messageOf(error);
}

/** The error for output that cannot be written. `target`: the place, as the beginning of a sentence. */
export function outputProblem(target: string, error: unknown): CrewError {
  return new CrewError(
    "OUTPUT_UNWRITABLE",
    `${target} cannot be written: ${writeProblem(error)}.`,
    "Write to another place. The result of a run is kept: `subcrew result` prints it again.",
    { cause: error },
  );
}

/**
 * True for a write error that means that nobody reads the output any more: its reader has ended, as `head` in `| head`,
 * or the terminal was closed.
 */
export function isClosed(error: unknown, stream: Writable): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? "";
  return CLOSED.has(code) || ("isTTY" in stream && stream.isTTY === true);
}

const CLOSED = new Set(["EPIPE", "ECONNRESET", "ERR_STREAM_DESTROYED", "ERR_STREAM_WRITE_AFTER_END"]);
