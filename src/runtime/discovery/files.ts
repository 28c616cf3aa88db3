import { createHash } from "node:crypto";
import { type Dirent, existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { AgentSource } from "../../core/agent/agent.ts";
import type { Dialect, ParsedFile } from "../../core/agent/dialect.ts";
import { hiddenCharacters } from "../../core/agent/hidden-characters.ts";
import { messageOf } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { type Problem, problem } from "../../core/vocabulary/file-problem.ts";
import { readRegularBytesSync } from "../disk/regular-file.ts";
import { folderContains } from "../files/folder-contains.ts";
import { readSkillFolder, SKILL_FILE } from "../files/skill-folder.ts";
import { isUnchanged, type OpenOptions, openText, type Stamp } from "./open.ts";
import type { SourceFolder } from "./places.ts";

const MAX_FILES = 20_000;
const MAX_DEPTH = 8;

/** A file that may contain agents. `outside` is set where a symbolic link leaves the project. */
export type CandidateFile = Readonly<{ path: string; relative: string; real?: string; outside?: boolean }>;

/** The agent files of a folder in the order in which they are read, or why the folder could not be listed. */
export type Listing = Readonly<{ files: readonly CandidateFile[]; problem?: Problem }>;

/**
 * The files of a folder that may contain agents in its format, sorted by path. An unreadable directory counts as empty,
 * with a warning.
 */
export function listAgentFiles(place: SourceFolder, dialect: Dialect): Listing {
  const state: Walk = { place, dialect, files: [], seen: new Set() };
  try {
    const stats = statSync(place.path, { throwIfNoEntry: false });
    if (stats?.isDirectory()) walk(state, "", 0);
    else if (stats !== undefined) state.files.push(linked(place.path, basename(place.path), place));
  } catch (error) {
    state.problem = unreadable(place.path, error);
  }
  return { files: state.files, ...(state.problem === undefined ? {} : { problem: state.problem }) };
}

type Walk = {
  readonly place: SourceFolder;
  readonly dialect: Dialect;
  readonly files: CandidateFile[];
  readonly seen: Set<string>;
  problem?: Problem;
};

function walk(state: Walk, below: string, depth: number): void {
  const { place, dialect, files } = state;
  const dir = below === "" ? place.path : join(place.path, below);
  const real = realpathSync.native(dir);
  if (state.seen.has(real)) return; // a link to a directory may lead back up
  state.seen.add(real);
  const outside = place.root !== undefined && !folderContains(place.root, real);
  for (const entry of readdirSync(dir, { withFileTypes: true }).sort(byName)) {
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
      try {
        walk(state, relative, depth + 1);
      } catch (error) {
        state.problem ??= unreadable(join(dir, name), error);
      }
    }
  }
}

const unreadable = (path: string, error: unknown): Problem =>
  problem("unreadable", `The directory cannot be read: ${messageOf(error)}`, { file: path });

function addFolder({ place, files }: Walk, relative: string, name: string): void {
  const path = join(place.path, relative, name);
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) files.push(linked(path, `${relative}/${name}`, place));
}

/** Sorts by code unit, so that the order is the same on every machine. */
const byName = (a: Dirent, b: Dirent): number => (a.name < b.name ? -1 : 1);

function isDirectory(entry: Dirent, dir: string): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  return statSync(join(dir, entry.name), { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** The real path of a file: a project must not make subcrew read files outside of the project. */
function linked(path: string, relative: string, place: SourceFolder): CandidateFile {
  let real: string;
  try {
    real = realpathSync.native(path);
  } catch {
    return { path, relative }; // the error is reported when the file is read
  }
  const outside = place.root !== undefined && !folderContains(place.root, real);
  return { path, relative, ...(real === path ? {} : { real }), ...(outside ? { outside } : {}) };
}

/**
 * The agents of a file, with the stamps by which a later search recognises that the file, or a file that it names, has
 * changed.
 */
export type FileReading = ParsedFile &
  Readonly<{
    /** The stamp of the file; absent when it could not be opened. */
    stamp?: Stamp;
    includes?: ReadonlyMap<string, Stamp>;
    hidden: boolean;
    /** The hash of the bytes that were read; absent unless the caller asked for it. */
    hash?: string;
    /** True: the folder of a skill has more files than are checked, so that the skill cannot be trusted. */
    unchecked?: boolean;
  }>;

/** Reads one file in its format. Never throws: problems are part of the result. */
export function readAgentFile(file: CandidateFile, dialect: Dialect, options: ReadOptions): FileReading {
  const { known, hashed = false, skill = false } = options;
  try {
    const fresh = known !== undefined && (!hashed || (known.hash !== undefined && !skill));
    if (fresh && isAsBefore(file.path, known)) return known;
    return readAfresh(file, dialect, options);
  } catch (error) {
    return unread(undefined, problem("unreadable", `The file cannot be read: ${messageOf(error)}`));
  }
}

function readAfresh(file: CandidateFile, dialect: Dialect, options: ReadOptions): FileReading {
  const { source, hashed = false, skill = false } = options;
  const opened = openText(file.path, options);
  if ("problem" in opened) return unread(opened.stamp, opened.problem);
  const { text, stamp, ascii } = opened;
  const hidden = ascii && !text.includes("\u001b") ? undefined : hiddenCharacters(text);
  let includes: Map<string, Stamp> | undefined;
  const texts = [text];
  const include = (path: string): string | undefined => {
    includes ??= new Map();
    const included = includedText(resolve(dirname(file.path), path), options, includes);
    if (included !== undefined) texts.push(included);
    return included;
  };
  const { agents, problems } = dialect.read(text, { file: file.path, relative: file.relative, source, include });
  const reading: { -readonly [K in keyof FileReading]: FileReading[K] } = {
    agents,
    problems: located(hidden === undefined ? problems : [...problems, hidden], file.path),
    hidden: hidden !== undefined,
  };
  if (stamp !== undefined) reading.stamp = stamp;
  if (includes !== undefined) reading.includes = includes;
  if (!hashed) return reading;
  if (skill) {
    const { lines, complete } = readSkillFolder(file.real ?? file.path, readRegularBytesSync);
    texts.push(...lines);
    if (!complete) reading.unchecked = true;
  }
  reading.hash = hashTexts(texts);
  return reading;
}

/**
 * The trust hash of the file's current content, if the file names no other files. The hash of a skill covers the files
 * in its folder.
 */
export function hashOfFile(path: string, text: string): string {
  return hashTexts([text, ...(basename(path) === SKILL_FILE ? readSkillFolder(path, readRegularBytesSync).lines : [])]);
}

/**
 * `within`: the directory that contains all files which the file may refer to. `isClosed`: tells whether a real path is
 * in a place with secrets.
 */
export type ReadOptions = Readonly<{
  within: string;
  isClosed?: ((real: string) => boolean) | undefined;
  source?: AgentSource;
  known?: FileReading | undefined;
  hashed?: boolean;
  /** True: the file is the `SKILL.md` of a skill, whose hash covers the files in its folder. */
  skill?: boolean;
}> &
  OpenOptions;

/**
 * The hash for which a user's trust in a file is stored. It is computed over the file and all files that it names, from
 * the content that was read, not from the current content.
 */
export function hashTexts(texts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(text).update("\0");
  return hash.digest("hex");
}

function isAsBefore(path: string, { stamp, includes }: FileReading): boolean {
  if (stamp === undefined || !isUnchanged(path, stamp)) return false;
  for (const [included, before] of includes ?? []) if (!isUnchanged(included, before)) return false;
  return true;
}

/** Reads a named file if its real path is inside `within` and not in a place with secrets. */
function includedText(
  path: string,
  { within, isClosed }: Pick<ReadOptions, "within" | "isClosed">,
  includes: Map<string, Stamp>,
): string | undefined {
  if (!existsSync(path)) return undefined;
  const real = realpathSync.native(path);
  if (!folderContains(realpathSync.native(within), real) || isClosed?.(real)) return undefined;
  const opened = openText(path);
  if ("problem" in opened) return undefined;
  if (opened.stamp !== undefined) includes.set(path, opened.stamp);
  return opened.text;
}

/** Adds the path of the file to its problems: the parser that reports them does not know the path. */
function located(problems: readonly Problem[], file: string): readonly Problem[] {
  for (const found of problems as readonly { file?: string }[]) found.file ??= file;
  return problems;
}

const unread = (stamp: Stamp | undefined, why: Problem): FileReading => ({
  agents: [],
  problems: [why],
  ...defined({ stamp }),
  hidden: false,
});
