import { lstatSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { folderContains } from "../files/folder-contains.ts";
import type { ProtectedThing } from "../files/protected-scan.ts";
import { isText, opened, type RawPath, textOfRaw } from "../files/raw-path.ts";

/** How existing protected files are guarded during a command. */
export type Protection = Readonly<{
  /** Paths that are mounted read-only in the command's sandbox. */
  readOnly: readonly string[];
  /** Folders that are mounted on themselves, so that they cannot be moved away together with their contents. */
  pinned: readonly string[];
  /** Symbolic links, which cannot be mounted on; they are restored if the command changed them. */
  links: readonly ProtectedThing[];
  /**
   * Files that no mount protects. Each is compared before and after the command; a changed file is treated like a new
   * file.
   */
  watched: ReadonlyMap<RawPath, string>;
}>;

/**
 * The maximum number of mounts. Each mount makes the next mount slower: with 64 a command starts some 30 ms later, with
 * 500 some seconds.
 */
const MOST_MOUNTS = 64;

/**
 * Chooses how each protected file is guarded. Files in `node_modules` are only compared: package managers replace whole
 * folders in it, and a folder with a mount in it cannot be removed. When there are more files than `MOST_MOUNTS`, the
 * deepest files are only compared, too. Hidden folders of a home folder that are on no list are not compared: the
 * programs that own them, such as a browser, change them at any time.
 */
export function protectionOf(things: readonly ProtectedThing[], roots: readonly string[]): Protection {
  const links = things.filter(({ kind, path }) => kind === "link" && !isInstalled(path));
  const rest = things.filter(({ kind, path }) => kind !== "link" && isMountable(path));
  const near = rest.toSorted((one, other) => rankOf(one) - rankOf(other)).slice(0, MOST_MOUNTS);
  const mounted = new Set(near.map(({ path }) => path));
  const readOnly = [
    ...new Set([
      ...near.map(({ path }) => textOfRaw(path)),
      ...links.flatMap(({ path }) => targetInside(textOfRaw(path), roots)),
    ]),
  ];
  const watched = things.filter(
    (thing) => !mounted.has(thing.path) && !links.includes(thing) && thing.unlisted === undefined,
  );
  return {
    readOnly,
    pinned: [...new Set(readOnly.flatMap((path) => roots.flatMap((root) => foldersAbove(root, path))))],
    links,
    watched: new Map(watched.map(({ path }) => [path, fingerprint(path)])),
  };
}

/** The folders between a writable folder and a path below it, from the top. */
export function foldersAbove(root: string, path: string): string[] {
  if (!folderContains(root, path)) return [];
  const steps = relative(root, dirname(path))
    .split(sep)
    .filter((step) => step !== "" && step !== "..");
  return steps.map((_, at) => join(root, ...steps.slice(0, at + 1)));
}

/**
 * The rank of a protected file among the files to mount: listed files near the top first, folders of unknown programs
 * last.
 */
const rankOf = ({ path, unlisted }: ProtectedThing): number => path.split("/").length + (unlisted ? LONGEST : 0);

const isInstalled = (path: RawPath): boolean => path.split("/").includes("node_modules");

const isMountable = (path: RawPath): boolean =>
  !isInstalled(path) && path.length < LONGEST && isText(path) && typeof statsOf(path) !== "string";

/** The longest path that a system call accepts. */
const LONGEST = 4_000;

/** The target of a symbolic link, if a command could write it. */
function targetInside(link: string, roots: readonly string[]): string[] {
  try {
    const real = realpathSync.native(link);
    return roots.some((root) => real !== root && folderContains(root, real)) ? [real] : [];
  } catch {
    return []; // the target of the link does not exist
  }
}

/**
 * A fingerprint that changes with the file and its content; empty when the file does not exist. It uses ctime, which
 * programs cannot set.
 */
export function fingerprint(path: RawPath): string {
  const parts: string[] = [];
  const open = [path];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const stats = statsOf(at);
    if (stats === undefined) continue;
    if (typeof stats === "string") {
      parts.push(stats);
      continue;
    }
    const names = stats.isDirectory() ? namesIn(at, stats) : [];
    // Each commit changes a repository; only these parts of a repository can make git run programs.
    const isRepository = ["HEAD", "objects", "refs"].every((part) => names.includes(part));
    parts.push(isRepository ? `${stats.ino}:${stats.mode}` : `${stats.ino}:${stats.ctimeMs}:${stats.mode}`);
    for (const name of names) if (!isRepository || ACTING.test(name)) open.push(`${at}/${name}`);
  }
  return parts.join(" ");
}

/** The state of a file; an error code if it cannot be reached, as in a folder that may not be entered. */
function statsOf(path: RawPath): Stats | string | undefined {
  try {
    return lstatSync(opened(path), { throwIfNoEntry: false });
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

const ACTING = /^(?:config|config\.worktree|commondir|hooks|info|modules|worktrees)$/i;

function namesIn(folder: RawPath, { ctimeMs }: Stats): string[] {
  try {
    return readdirSync(opened(folder), { encoding: "latin1" }).toSorted();
  } catch {
    return [`${ctimeMs}`];
  }
}
