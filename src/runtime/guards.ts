import { lstat, mkdir, open, readdir, readFile, readlink, rmdir, unlink } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { guardedAtTop, protectedPart } from "../core/protected.ts";

/** What keeps protected places from being written by a program that may write everything around them. */
export type Guard = Readonly<{
  /** To be mounted read-only. */
  readOnly: readonly string[];
  /** To be mounted on themselves, so that they cannot be moved away with what is in them. */
  pinned: readonly string[];
  /** Takes away what was only made to mount something on. */
  release(): Promise<void>;
}>;

/** The folder to guard, as it really is, and what somebody allowed to be written although it is protected. */
export type Guarded = Readonly<{ root: string; isHome: boolean; isLifted(place: string): boolean }>;

/**
 * Guards of the folders of one process. A mount needs something to be mounted on, so for what is missing an empty folder or
 * file is made, and taken away when the last program that needs it has ended. What a process that was killed left behind
 * is recognised by being empty and closed to everybody, and taken over.
 */
export class Guards {
  readonly #users = new Map<string, number>();
  #turn: Promise<unknown> = Promise.resolve();

  /** Takes hold of everything protected in a folder. */
  take(guarded: Guarded): Promise<Guard> {
    return this.#inTurn(() => this.#take(guarded));
  }

  async #take({ root, isHome, isLifted }: Guarded): Promise<Guard> {
    const found = await protectedIn(root);
    const readOnly = found.filter((path) => !isLifted(placeIn(root, path)));
    const made: string[] = [];
    const { folders, files } = guardedAtTop(isHome);
    for (const [names, make] of [[folders, makeFolder], [files, makeFile]] as const) {
      for (const name of names) {
        if (isLifted(name)) continue;
        const path = join(root, name);
        for (const each of [...foldersAbove(root, path), path]) {
          const kind = await this.#claim(each, each === path ? make : makeFolder);
          if (kind === "made") made.push(each);
          if (each === path && kind !== undefined && !readOnly.includes(path)) readOnly.push(path);
        }
      }
    }
    const pinned = [...new Set(readOnly.flatMap((path) => foldersAbove(root, path)))];
    return { readOnly, pinned, release: () => this.#inTurn(() => this.#release(made)) };
  }

  /** Makes something to mount on, or joins those who use it already. `undefined`: something else is there, or cannot be made. */
  async #claim(path: string, make: (path: string) => Promise<boolean>): Promise<"made" | "there" | undefined> {
    const users = this.#users.get(path) ?? 0;
    const ours = users > 0 || (await make(path)) || (await isOurs(path));
    if (!ours) return (await lstat(path).then((stats) => !stats.isSymbolicLink(), () => false)) ? "there" : undefined;
    this.#users.set(path, users + 1);
    return "made";
  }

  async #release(made: readonly string[]): Promise<void> {
    const unused = made.toReversed().filter((path) => {
      const users = (this.#users.get(path) ?? 1) - 1;
      if (users > 0) this.#users.set(path, users);
      else this.#users.delete(path);
      return users === 0;
    });
    const elsewhere = unused.length > 0 ? await mountedElsewhere() : new Set<string>();
    for (const path of unused) if (!elsewhere.has(path) && (await isOurs(path))) await rmdir(path).catch(() => unlink(path).catch(() => {}));
  }

  /** One after the other: two that make and take away the same things must not meet. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work, work);
    this.#turn = turn.catch(() => {});
    return turn;
  }
}

/** Nobody else makes anything that nobody may read, write or enter but its owner, and leaves it empty. */
const FOLDER_MODE = 0o500;
const FILE_MODE = 0o400;

async function makeFolder(path: string): Promise<boolean> {
  return mkdir(path, { mode: FOLDER_MODE }).then(() => true, () => false);
}

async function makeFile(path: string): Promise<boolean> {
  const handle = await open(path, "wx", FILE_MODE).catch(() => undefined);
  await handle?.close();
  return handle !== undefined;
}

async function isOurs(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats?.isDirectory()) return (stats.mode & 0o777) === FOLDER_MODE && (await readdir(path).catch(() => ["?"])).length === 0;
  return stats?.isFile() === true && (stats.mode & 0o777) === FILE_MODE && stats.size === 0;
}

/** The folders between a root and a path below it, from the top. */
function foldersAbove(root: string, path: string): string[] {
  const steps = relative(root, dirname(path)).split(sep).filter((step) => step !== "");
  return steps.map((_, at) => join(root, ...steps.slice(0, at + 1)));
}

const placeIn = (root: string, path: string): string => relative(root, path).split(sep).join("/");

/** How deep, and at how many folders, we look for protected places that exist. */
const DEPTH = 3;
const MOST_FOLDERS = 2_000;

/** The protected places below a folder, links left out: what they lead to is not made writable by the folder. */
async function protectedIn(root: string): Promise<string[]> {
  const found: string[] = [];
  let level = [root];
  let seen = 0;
  for (let depth = 0; depth <= DEPTH && level.length > 0; depth++) {
    const next: string[] = [];
    for (const folder of level) {
      if (++seen > MOST_FOLDERS) return found;
      for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
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

/** Everything that is mounted in other mount namespaces: taking such a place away would take the mount along. */
async function mountedElsewhere(): Promise<Set<string>> {
  const mounted = new Set<string>();
  const own = await readlink("/proc/self/ns/mnt").catch(() => "");
  const known = new Set([own]);
  for (const pid of (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name))) {
    const space = await readlink(`/proc/${pid}/ns/mnt`).catch(() => own);
    if (known.has(space)) continue;
    known.add(space);
    const table = await readFile(`/proc/${pid}/mountinfo`, "utf8").catch(() => "");
    for (const line of table.split("\n")) mounted.add(unescaped(line.split(" ")[4] ?? ""));
  }
  return mounted;
}

/** The kernel writes blanks and backslashes in paths as octal numbers. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
