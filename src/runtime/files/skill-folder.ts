import { createHash } from "node:crypto";
import { type Dirent, lstatSync, opendirSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";

/** The name of the file of a skill. Each skill is a folder that contains this file. */
export const SKILL_FILE = "SKILL.md";

/** Maximum number of files and folders of a skill that are checked. */
const MAX_ENTRIES = 2000;
/** Maximum number of bytes whose content is hashed. For all further files, only size and time of change are hashed. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * One line for each file beside a `SKILL.md`; the line changes when the file changes. `complete` is false if there are
 * more files than are checked.
 */
export type SkillFolder = Readonly<{ lines: readonly string[]; complete: boolean }>;

/** Reads a regular file of at most this many bytes; throws for anything else. */
export type ReadBytes = (path: string, most: number) => Buffer;

/**
 * Describes the files that take effect with a skill: all files in the folder of its `SKILL.md`, at any depth, except
 * `.git`. Links are not followed: the description contains the path that a link names, not the file there. Pipes and
 * devices are never opened.
 */
export function readSkillFolder(file: string, read: ReadBytes): SkillFolder {
  const root = dirname(file);
  const lines: string[] = [];
  const folders = [""];
  let bytes = 0;
  let room = MAX_ENTRIES;
  for (let below = folders.pop(); below !== undefined; below = folders.pop()) {
    const entries = entriesOf(join(root, below), room);
    if (entries === undefined) lines.push(JSON.stringify(["unreadable", below]));
    for (const entry of entries ?? []) {
      const name = below === "" ? entry.name : `${below}/${entry.name}`;
      const path = join(root, name);
      if (path === file || entry.name === ".git") continue;
      if ((room -= 1) < 0) return { lines, complete: false };
      if (entry.isDirectory()) folders.push(name);
      const [line, size] = described(entry, path, MAX_BYTES - bytes, read);
      lines.push(JSON.stringify([name, ...line]));
      bytes += size;
    }
  }
  return { lines, complete: true };
}

/** The entries of a folder, sorted by name. At most `EXTRA` entries more than `room` are read. */
function entriesOf(path: string, room: number): readonly Dirent[] | undefined {
  try {
    const folder = opendirSync(path);
    try {
      const entries: Dirent[] = [];
      for (let entry = folder.readSync(); entry && entries.length < room + EXTRA; entry = folder.readSync())
        entries.push(entry);
      return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
    } finally {
      folder.closeSync();
    }
  } catch {
    return undefined;
  }
}
/**
 * Three entries are read beyond the limit: two for `SKILL.md` and `.git`, which do not count, and one more to notice
 * that the limit is exceeded.
 */
const EXTRA = 3;

/** The data of an entry that are hashed besides its name, and how many bytes of its content were read. */
function described(entry: Dirent, path: string, room: number, read: ReadBytes): readonly [readonly unknown[], number] {
  try {
    if (entry.isDirectory()) return [["folder"], 0];
    if (entry.isSymbolicLink()) return [["link", readlinkSync(path)], 0];
    if (!entry.isFile()) return [["special"], 0];
    const { size, mtimeMs } = lstatSync(path);
    if (size > room) return [["long", size, mtimeMs], 0];
    const content = read(path, room);
    return [["file", createHash("sha256").update(content).digest("hex")], content.length];
  } catch {
    return [["unreadable"], 0];
  }
}
