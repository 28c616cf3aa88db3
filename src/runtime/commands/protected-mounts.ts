import { type Dirent, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { guardedAtTop, protectedPart } from "../../core/policy/protected-paths.ts";

/** What keeps protected places from being written by a program that may write everything around them. */
export type MountGuard = Readonly<{
  /** To be mounted read-only. */
  readOnly: readonly string[];
  /** To be mounted on themselves, so that they cannot be moved away with what is in them. */
  pinned: readonly string[];
  /** Takes away what was only made to mount something on. Gives back the protected places that came into being meanwhile. */
  release(): readonly string[];
}>;

/** The folder to guard, as it really is, and what somebody allowed to be written although it is protected. */
export type GuardedFolder = Readonly<{ root: string; isLifted(place: string): boolean }>;

/**
 * Guards of the folders of one process. A mount needs something to be mounted on, so for some of what is missing an empty
 * folder is made (git does not see those), and taken away when the last program that needs it has ended. What a process that
 * was killed left behind is recognised by its mode and by being empty, and taken over.
 *
 * All of it happens at once, without a moment in between: a hundred small steps take two milliseconds this way.
 */
export class ProtectedMounts {
  readonly #users = new Map<string, number>();

  /** Takes hold of everything protected in a folder. */
  take({ root, isLifted }: GuardedFolder): MountGuard {
    const shut = (): string[] => protectedIn(root).filter((path) => !isLifted(placeIn(root, path)));
    const readOnly = new Set(shut());
    const made: string[] = [];
    for (const path of guardedAtTop.filter((name) => !isLifted(name)).map((name) => join(root, name))) {
      const kind = this.#claim(path);
      if (kind === "made") made.push(path);
      if (kind !== undefined) readOnly.add(path);
    }
    const pinned = [...new Set([...readOnly].flatMap((path) => foldersAbove(root, path)))];
    return {
      readOnly: [...readOnly],
      pinned,
      release: () => {
        this.#release(made);
        return shut().filter((path) => !readOnly.has(path) && !this.#users.has(path));
      },
    };
  }

  /** Makes something to mount on, or joins those who use it already. `undefined`: a link is there, or nothing can be. */
  #claim(path: string): "made" | "there" | undefined {
    const users = this.#users.get(path) ?? 0;
    if (users === 0 && !worked(() => mkdirSync(path, { mode: MODE })) && !isOurs(path)) {
      const there = lstatSync(path, { throwIfNoEntry: false });
      return there === undefined || there.isSymbolicLink() ? undefined : "there";
    }
    this.#users.set(path, users + 1);
    return "made";
  }

  #release(made: readonly string[]): void {
    const unused = made.toReversed().filter((path) => {
      const users = (this.#users.get(path) ?? 1) - 1;
      if (users > 0) this.#users.set(path, users);
      else this.#users.delete(path);
      return users === 0;
    });
    const elsewhere = unused.length > 0 ? mountedElsewhere() : new Set<string>();
    for (const path of unused) if (!elsewhere.has(path) && isOurs(path)) worked(() => rmdirSync(path));
  }
}

/** Nobody else makes a folder that only its owner may look into and not even he may write, and leaves it empty. */
const MODE = 0o500;

function worked(step: () => unknown): boolean {
  try {
    step();
    return true;
  } catch {
    return false;
  }
}

function isOurs(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && (stats.mode & 0o777) === MODE && namesIn(path)?.length === 0;
}

/** The folders between a root and a path below it, from the top. */
export function foldersAbove(root: string, path: string): string[] {
  const steps = relative(root, dirname(path))
    .split(sep)
    .filter((step) => step !== "");
  return steps.map((_, at) => join(root, ...steps.slice(0, at + 1)));
}

const placeIn = (root: string, path: string): string => relative(root, path).split(sep).join("/");

/** How deep, and at how many folders, we look for protected places that exist. */
const DEPTH = 3;
const MOST_FOLDERS = 2_000;

/** The protected places below a folder, links left out: what they lead to is not made writable by the folder. */
function protectedIn(root: string): string[] {
  const found: string[] = [];
  let level = [root];
  let seen = 0;
  for (let depth = 0; depth <= DEPTH && level.length > 0; depth++) {
    const next: string[] = [];
    for (const folder of level) {
      if (++seen > MOST_FOLDERS) return found;
      for (const entry of entriesIn(folder)) {
        const path = join(folder, entry.name);
        if (entry.isSymbolicLink()) continue;
        if (protectedPart(placeIn(root, path)) !== undefined) found.push(path);
        else if (entry.isDirectory() && entry.name !== "node_modules") next.push(path);
      }
    }
    level = next;
  }
  return found;
}

function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function namesIn(folder: string): string[] | undefined {
  try {
    return readdirSync(folder);
  } catch {
    return undefined;
  }
}

/** Everything that is mounted in other mount namespaces: taking such a place away would take the mount along. */
function mountedElsewhere(): Set<string> {
  const mounted = new Set<string>();
  const own = spaceOf("self");
  const known = new Set([own, ""]);
  for (const pid of (namesIn("/proc") ?? []).filter((name) => /^\d+$/.test(name))) {
    const space = spaceOf(pid);
    if (known.has(space)) continue;
    known.add(space);
    for (const line of textOf(`/proc/${pid}/mountinfo`).split("\n")) mounted.add(unescaped(line.split(" ")[4] ?? ""));
  }
  return mounted;
}

function spaceOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch {
    return "";
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** The kernel writes blanks and backslashes in paths as octal numbers. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
