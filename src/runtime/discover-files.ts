import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { type Dirent, readdirSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { Dialect, Reading } from "../core/dialect.ts";
import { messageOf } from "../core/error.ts";
import { hiddenCharacters } from "../core/hidden-characters.ts";
import { type Problem, problem } from "../core/problem.ts";
import type { Place } from "./discover-places.ts";
import { isInside } from "./discover-plugins.ts";

/** No agent is longer. */
export const MAX_FILE_BYTES = 1024 * 1024;
const MAX_FILES = 20_000;
const MAX_DEPTH = 8;

/** A file that may hold agents. `outside` is set where a link leaves the project. */
export type Candidate = Readonly<{ path: string; relative: string; real?: string; outside?: boolean }>;

/** What a place lists: the files in the order they are read, or why it could not be listed. */
export type Listing = Readonly<{ files: readonly Candidate[]; problem?: Problem }>;

/** The files of a place that its dialect reads, by path. A place that cannot be read is empty. */
export function listFiles(place: Place, dialect: Dialect): Listing {
  let stats: Stats | undefined;
  try {
    stats = statSync(place.path, { throwIfNoEntry: false });
    if (stats === undefined) return { files: [] };
    if (!stats.isDirectory()) return { files: [linked(place.path, basename(place.path), place)] };
    const files: Candidate[] = [];
    walk({ place, dialect, files, seen: new Set() }, "", 0);
    return { files };
  } catch (error) {
    return { files: [], problem: problem("unreadable", `The place cannot be read: ${messageOf(error)}`, { file: place.path }) };
  }
}

type Walk = { readonly place: Place; readonly dialect: Dialect; readonly files: Candidate[]; readonly seen: Set<string> };

function walk(state: Walk, below: string, depth: number): void {
  const { place, dialect, files } = state;
  const dir = below === "" ? place.path : join(place.path, below);
  const real = realpathSync(dir);
  const outside = place.root !== undefined && !isInside(real, place.root);
  const entries = readdirSync(dir, { withFileTypes: true }).sort(byName);
  for (const entry of entries) {
    const { name } = entry;
    if (name.startsWith(".") || files.length >= MAX_FILES) continue;
    const relative = below === "" ? name : `${below}/${name}`;
    if (place.folders !== undefined) {
      if (isDirectory(entry, dir)) addFolder(state, relative, place.folders);
    } else if (dialect.accepts(name) && !entry.isDirectory()) {
      const path = dir + sep + name;
      if (entry.isSymbolicLink()) files.push(linked(path, relative, place));
      else if (real === dir && !outside) files.push({ path, relative });
      else files.push({ path, relative, real: real + sep + name, ...(outside ? { outside } : {}) });
    } else if (place.deep && depth < MAX_DEPTH && name !== "node_modules" && isDirectory(entry, dir)) {
      // a link to a directory may lead back up
      const target = entry.isSymbolicLink() ? realpathSync(join(dir, name)) : join(real, name);
      if (!state.seen.has(target)) walk({ ...state, seen: state.seen.add(target) }, relative, depth + 1);
    }
  }
}

function addFolder({ place, files }: Walk, relative: string, name: string): void {
  const path = join(place.path, relative, name);
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) files.push(linked(path, `${relative}/${name}`, place));
}

/** By code unit: the same order on every machine. */
const byName = (a: Dirent, b: Dirent): number => (a.name < b.name ? -1 : 1);

function isDirectory(entry: Dirent, dir: string): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  return statSync(join(dir, entry.name), { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Where a file really lies: a project must not make us read what is not its own. */
function linked(path: string, relative: string, place: Place): Candidate {
  let real: string;
  try {
    real = realpathSync(path);
  } catch {
    return { path, relative }; // reading it will say what is wrong
  }
  const outside = place.root !== undefined && !isInside(real, place.root);
  return { path, relative, ...(real === path ? {} : { real }), ...(outside ? { outside } : {}) };
}

/** What one file held, and what is needed to know it again: its stamp, and those of the files it named. */
export type FileReading = Reading & Readonly<{ stamp: string; includes?: ReadonlyMap<string, string>; hidden: boolean }>;

/** Reads one file as its dialect says. Nothing is thrown: what is wrong with it is part of the answer. */
export function readAgentFile(file: Candidate, dialect: Dialect, { within, known }: ReadOptions): FileReading {
  let stats: Stats | undefined;
  try {
    stats = statSync(file.path, { throwIfNoEntry: false });
    if (stats === undefined) return unread("", problem("unreadable", "The link leads nowhere."));
    const stamp = stampOf(stats);
    if (known?.stamp === stamp && unchanged(known.includes)) return known;
    if (!stats.isFile()) return unread(stamp, problem("unreadable", "It is not a regular file."));
    if (stats.size > MAX_FILE_BYTES) return unread(stamp, problem("too-big", `The file is longer than ${MAX_FILE_BYTES} bytes.`));
    const text = readFileSync(file.path, "utf8");
    const wrong = notText(text, file.path);
    if (wrong !== undefined) return unread(stamp, wrong);
    const hidden = stats.size === text.length && !text.includes("\u001b") ? undefined : hiddenCharacters(text);
    const includes = new Map<string, string>();
    const include = (path: string): string | undefined => includedText(resolve(dirname(file.path), path), within, includes);
    const { agents, problems } = dialect.read(text, { file: file.path, relative: file.relative, include });
    return {
      agents,
      problems: hidden === undefined ? problems : [...problems, hidden],
      stamp,
      hidden: hidden !== undefined,
      ...(includes.size > 0 ? { includes } : {}),
    };
  } catch (error) {
    return unread("", problem("unreadable", `The file cannot be read: ${messageOf(error)}`));
  }
}

/** `within` is the directory that bounds what the file may name. */
export type ReadOptions = Readonly<{ within: string; known?: FileReading | undefined }>;

/** The hash by which a person's trust knows a file again, with everything it names. */
export function hashOf(path: string, includes: Iterable<string> = []): string {
  const hash = createHash("sha256");
  for (const file of [path, ...includes]) hash.update(readFileSync(file)).update("\0");
  return hash.digest("hex");
}

const stampOf = ({ ino, size, mtimeMs, ctimeMs }: Stats): string => `${ino}:${size}:${mtimeMs}:${ctimeMs}`;

function unchanged(includes: ReadonlyMap<string, string> | undefined): boolean {
  for (const [path, stamp] of includes ?? []) {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || stampOf(stats) !== stamp) return false;
  }
  return true;
}

/** A named file is read when it really lies inside `within`. */
function includedText(path: string, within: string, includes: Map<string, string>): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isFile() || stats.size > MAX_FILE_BYTES) return undefined;
  if (!isInside(realpathSync(path), realpathSync(within))) return undefined;
  includes.set(path, stampOf(stats));
  return readFileSync(path, "utf8");
}

const unread = (stamp: string, why: Problem): FileReading => ({ agents: [], problems: [why], stamp, hidden: false });

function notText(text: string, path: string): Problem | undefined {
  if (text.includes("\0")) return problem("not-text", "The file holds NUL bytes: it is UTF-16 or no text at all.");
  if (text.includes("\ufffd") && !isUtf8(readFileSync(path))) return problem("not-text", "The file is not UTF-8.");
  return undefined;
}
