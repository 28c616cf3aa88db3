import { messageOf } from "../../core/schema/error.ts";

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "the folder does not exist",
  ENOTDIR: "a part of the path is a file, not a folder",
  EISDIR: "the path is a folder",
  EACCES: "you have no permission to write there",
  EPERM: "you have no permission to write there",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  ENAMETOOLONG: "the name is too long",
};

/** The reason why a file cannot be written, in words. */
export function writeProblem(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? "";
  return Object.hasOwn(WORDS, code) ? WORDS[code]! : messageOf(error);
}
