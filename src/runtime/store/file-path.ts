import { createHash } from "node:crypto";

/** Matches path segments that are valid on every file system. */
const SAFE = /^(?!\.{1,2}$)[\w.@:-]{1,100}$/;

/**
 * The path of a task as a file path below a folder. A segment with letters of other scripts, spaces or too many bytes
 * is replaced by its safe characters and a hash of the whole segment, so that no two tasks share a file.
 */
export function filePathOf(path: string): string {
  return path
    .split("/")
    .map((segment) => (SAFE.test(segment) ? segment : hashed(segment)))
    .join("/");
}

function hashed(segment: string): string {
  const hash = createHash("sha256").update(segment).digest("hex").slice(0, 12);
  const plain = segment
    .normalize("NFKD")
    .replace(/[^\w-]+/g, "_")
    .slice(0, 40);
  return `${plain}~${hash}`;
}
