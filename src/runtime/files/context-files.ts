import type { FileHandle } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import { messageOf } from "../../core/schema/error.ts";
import { MAX_OUTPUT_BYTES } from "../../core/text/cut.ts";
import { fence } from "../../core/text/fence.ts";
import { isOpenRefusal, openInside, printableName, type Root } from "./open-contained.ts";

/**
 * The files as Markdown, in the given order. A file that is missing, outside of `cwd` or not text is named with the
 * reason. A large file is cut with a notice. Returns a promise, although the function of this name in
 * pi-parallel-agents is synchronous.
 */
export async function readContextFiles(filePaths: readonly string[], cwd: string | Root = "."): Promise<string> {
  const sections: string[] = [];
  let left = ALL_BYTES;
  for (const path of filePaths) {
    const { text, bytes, name = path } = await section(cwd, path, Math.min(left, FILE_BYTES));
    left -= bytes;
    sections.push(`## File: ${printableName(name)}\n\n${text}`);
  }
  return sections.join("\n\n");
}

/** How many bytes of one file, and of all files together, are added to the context. */
const FILE_BYTES = MAX_OUTPUT_BYTES;
const ALL_BYTES = 10 * FILE_BYTES;

/** A file of the context; `name` is its path from the root, if that differs from the given path. */
type Section = Readonly<{ text: string; bytes: number; name?: string }>;

async function section(cwd: string | Root, path: string, most: number): Promise<Section> {
  if (most <= 0) return note(`left out: the files before it already hold ${ALL_BYTES} bytes`);
  try {
    const { handle, kind, stats } = await openInside(cwd, path);
    try {
      if (kind !== "file") return unread("not a regular file");
      const name = nameOf(typeof cwd === "string" ? cwd : cwd.given, path);
      return { ...shown(await head(handle, most), stats.size), name };
    } finally {
      await handle.close();
    }
  } catch (error) {
    return unread(isOpenRefusal(error) && error.code === "MISSING" ? missing(path) : messageOf(error));
  }
}

/** The path of a file that was read, from the root: absolute paths of this machine are not revealed to a model. */
function nameOf(root: string, path: string): string {
  const name = relative(resolve(root), resolve(root, path));
  return name === "" || name.startsWith("..") ? path : name.split(sep).join("/");
}

/**
 * The error of the operating system with the path as given: absolute paths of this machine are not revealed to a model.
 */
const missing = (path: string): string => `ENOENT: no such file or directory, open '${printableName(path)}'`;

function unread(reason: string): Section {
  return note(`Error reading file: ${reason}`);
}

function shown(bytes: Uint8Array, size: number): Section {
  if (bytes.includes(0)) return note(`not shown: a binary file of ${size} bytes`);
  // While streaming, an incomplete UTF-8 character is held back instead of being replaced.
  const text = new TextDecoder().decode(bytes, { stream: bytes.length < size }).replace(/\r?\n$/, "");
  const notice = bytes.length < size ? `\n\n(cut: the first ${bytes.length} of ${size} bytes)` : "";
  return { text: fence(text) + notice, bytes: bytes.length };
}

/** Reads until the buffer is full or the file ends, since a single read may return less. */
async function head(file: FileHandle, most: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(most);
  let filled = 0;
  while (filled < most) {
    const { bytesRead } = await file.read(buffer, filled, most - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function note(text: string): Section {
  return { text: `(${text})`, bytes: 0 };
}
