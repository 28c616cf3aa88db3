import { constants, type Dirent } from "node:fs";
import { access, open, readdir } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { openWalked, type Root } from "../../runtime/files/open-contained.ts";
import { type Ignore, isIgnored, parseIgnore } from "./gitignore.ts";

/**
 * Everything below a folder, folder by folder in the order of names, without files that git ignores and without `.git`.
 * Symbolic links are listed and never followed; an unreadable folder counts as empty.
 */
export async function* walk(root: Root, start: Folder, signal: AbortSignal): AsyncGenerator<FolderEntry> {
  const stack: Ahead[] = (await entriesOf(root, start)).toReversed();
  while (stack.length > 0) {
    signal.throwIfAborted();
    readAhead(root, stack);
    const entry = stack.pop();
    if (entry === undefined) break;
    yield entry;
    if (entry.kind !== "directory") continue;
    const below = await (entry.below ?? entriesOf(root, entry));
    for (let n = below.length - 1; n >= 0; n--) stack.push(below[n] as Ahead);
  }
}

/** A folder to walk, and the ignore rules that apply in it. */
export type Folder = Readonly<{ path: string; ignore: Ignore | undefined }>;

/** One entry of a folder; `ignore` holds the rules for it, or the rules inside it if it is a folder. */
export type FolderEntry = Folder & Readonly<{ name: string; kind: "file" | "directory" | "link" | "other" }>;

type Ahead = FolderEntry & { below?: Promise<FolderEntry[]> };

/** The entries of a folder, sorted by name; empty when it cannot be read. */
export async function entriesOf(root: Root, { path, ignore: above }: Folder): Promise<FolderEntry[]> {
  const opened = await openWalked(root, path).catch(() => undefined);
  if (opened === undefined) return [];
  try {
    const found = await readdir(opened.place, { withFileTypes: true });
    const inRepository = found.some(({ name }) => name === ".git");
    const rules = found.some(({ name }) => name === ".gitignore") ? await rulesIn(opened.place) : [];
    const base = slashed(root.real);
    const folder = path === "" ? base : `${base}/${path}`;
    const ignore = below({ folder, rules, above: inRepository ? undefined : above });
    return found
      .filter(({ name }) => name !== ".git")
      .map((entry) => ({
        name: entry.name,
        kind: kindOf(entry),
        path: path === "" ? entry.name : `${path}/${entry.name}`,
        ignore,
      }))
      .filter(
        (entry) =>
          !isIgnored(ignore, `${base}/${entry.path}`, entry.kind === "directory") && !root.isClosed?.(entry.path),
      )
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  } finally {
    await opened.handle.close();
  }
}

/**
 * A folder to walk, with the ignore rules of the folders above it: from the repository root, or else from the root of
 * the workspace. If these rules ignore the folder itself they are dropped, because the folder was named explicitly.
 */
export async function folderAt(root: Root, path: string): Promise<Folder> {
  const top = (await repositoryOf(root.real)) ?? root.real;
  const wanted = join(root.real, path);
  let ignore: Ignore | undefined;
  for (const folder of foldersBetween(top, wanted)) {
    if (isIgnored(ignore, slashed(folder), true)) return { path, ignore: undefined };
    if (folder === wanted) break;
    const above = folder !== top && (await isRepository(folder)) ? undefined : ignore;
    ignore = below({ folder: slashed(folder), rules: await rulesIn(folder), above });
  }
  return { path, ignore };
}

/** The repository root above this folder. */
export async function repositoryOf(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    if (await isRepository(at)) return at;
    if (at === dirname(at)) return undefined;
  }
}

/** How many folders are read before they are needed. */
const AHEAD = 8;
/** How many of the next entries are looked through to find folders that can be read in advance. */
const LOOKED_AT = 64;

function readAhead(root: Root, stack: readonly Ahead[]): void {
  if (stack.at(-1)?.kind !== "directory") return;
  const last = Math.max(0, stack.length - LOOKED_AT);
  for (let n = stack.length - 1, left = AHEAD; n >= last && left > 0; n--) {
    const entry = stack[n];
    if (entry?.kind !== "directory") continue;
    entry.below ??= entriesOf(root, entry);
    left--;
  }
}

const MOST_RULE_BYTES = 1_000_000;

/**
 * The rules in a folder's `.gitignore`. As in git, a symbolic link or anything else that is not a regular file is
 * ignored.
 */
async function rulesIn(folder: string): Promise<Ignore["rules"]> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const handle = await open(`${folder}${sep}.gitignore`, flags).catch(() => undefined);
  try {
    const stats = await handle?.stat();
    if (handle === undefined || !stats?.isFile() || stats.size > MOST_RULE_BYTES) return [];
    return parseIgnore(await handle.readFile("utf8"));
  } catch {
    return [];
  } finally {
    await handle?.close();
  }
}

function below(ignore: Ignore): Ignore | undefined {
  return ignore.rules.length === 0 ? ignore.above : ignore;
}

function* foldersBetween(top: string, folder: string): Generator<string> {
  yield top;
  let at = top;
  for (const name of folder.slice(top.length).split(sep)) {
    if (name === "") continue;
    at = join(at, name);
    yield at;
  }
}

async function isRepository(folder: string): Promise<boolean> {
  return access(join(folder, ".git")).then(
    () => true,
    () => false,
  );
}

const slashed = (path: string): string => path.split(sep).join("/").replace(/\/$/, "");

function kindOf(entry: Dirent): FolderEntry["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "link" : "other";
}
