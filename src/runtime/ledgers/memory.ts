import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { link, lstat, mkdir, open, readdir, realpath, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isRecord, parseJson } from "../../core/text/json.ts";
import { pause } from "../async/cancel.ts";

/**
 * Notes that survive a run: notes of this project, or notes of the user for all projects. They are data and grant no
 * permissions.
 */
export type Memory = Readonly<{
  list(scope: MemoryScope): Promise<readonly MemoryInfo[]>;
  read(scope: MemoryScope, key: string): Promise<MemoryEntry | undefined>;
  /**
   * Replaces a note by the result of `change`; `change` is called again after a conflict, so nothing that was written
   * in between is lost. If `change` throws, the note stays unchanged.
   */
  change(
    scope: MemoryScope,
    key: string,
    change: (now: MemoryEntry | undefined) => string,
    origin: MemoryOrigin,
    signal: AbortSignal,
  ): Promise<MemoryEntry>;
}>;

export type MemoryScope = "project" | "user";

/** The author of a note: `run_.../path (agent)`, and the project of the run. */
export type MemoryOrigin = Readonly<{ by: string; project: string }>;

export type MemoryInfo = Readonly<{
  key: string;
  revision: number;
  at: string;
  bytes: number;
  origins: readonly MemoryOrigin[];
}>;
export type MemoryEntry = MemoryInfo & Readonly<{ text: string }>;

export const MAX_ENTRY_BYTES = 64_000;
export const MAX_KEY_CHARS = 120;
const MAX_ENTRIES = 500;
/** Maximum number of authors that are stored with a note. */
const MAX_ORIGINS = 10;

type MemoryParts = Readonly<{
  home: string;
  project: string;
  clock(): number;
  /** Masks secrets in the names and texts of notes before they are stored. */
  redact(text: string): string;
}>;

/** Opens the notes below a home folder, for a project. */
export function openMemory({ home, project, clock, redact }: MemoryParts): Memory {
  let projectName: Promise<string> | undefined;
  const folderOf = async (scope: MemoryScope): Promise<string> => {
    projectName ??= realpath(project).then(hash, () => hash(project));
    return join(home, "memory", scope === "user" ? "user" : await projectName);
  };
  const inTurn = queues();
  return {
    list: async (scope) => {
      const folder = await folderOf(scope);
      const names = (await readdir(folder).catch(() => [])).filter((name) => NAME.test(name));
      const entries = await Promise.all(names.map((name) => newest(join(folder, name))));
      const infos = entries.filter((entry) => entry !== undefined).map(({ text: _text, ...info }) => info);
      return infos.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    },
    read: async (scope, key) => newest(join(await folderOf(scope), nameFor(redact(key)))),
    change: async (scope, given, change, origin, signal) => {
      const key = redact(given);
      const folder = join(await folderOf(scope), nameFor(key));
      const masked: typeof change = (now) => redact(change(now));
      return inTurn(folder, () => exchange({ folder, key, change: masked, origin, clock, signal }));
    },
  };
}

/**
 * Runs work on the same note one at a time within this process. Between processes, the process that creates the next
 * revision's file wins.
 */
function queues(): <T>(name: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return async (name, work) => {
    const before = last.get(name);
    const mine = (before ?? Promise.resolve()).then(work, work);
    last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (last.get(name) === mine) last.delete(name);
    }
  };
}

/** Creates the folder of a new note, unless there are too many. */
async function makeRoom(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (made === undefined || (await readdir(dirname(folder))).length <= MAX_ENTRIES) return;
  await rmdir(folder).catch(() => {});
  throw new Error(`the maximum of ${MAX_ENTRIES} notes is reached: change an existing note`);
}

/** A safe file name for a key: harmless letters and a hash. A key is a name and never a path. */
function nameFor(key: string): string {
  if (key.trim() === "" || key.length > MAX_KEY_CHARS) throw new Error(`a key has 1 to ${MAX_KEY_CHARS} characters`);
  if (/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(key))
    throw new Error("a key must not hold control or invisible characters");
  if (/^\s|\s$/.test(key)) throw new Error("a key must not begin or end with a space");
  if (/^\.+$|[/\\]/.test(key) && key.split(/[/\\]/).some((step) => /^\.*$/.test(step))) {
    throw new Error("a key is not a path: it must not have empty parts or the parts . and ..");
  }
  return `${key
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 40)}~${hash(key.normalize("NFC"))}`;
}

const NAME = /^[a-z0-9-]{0,40}~[0-9a-f]{20}$/;
const REVISION = /^[1-9]\d{0,8}$/;
const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 20);

async function newestRevision(folder: string): Promise<number> {
  const files = await readdir(folder).catch(() => []);
  return files.reduce((highest, file) => (REVISION.test(file) ? Math.max(highest, Number(file)) : highest), 0);
}

/** The newest revision. If it is replaced while it is read, the new revision is read instead. */
async function newest(folder: string): Promise<MemoryEntry | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const revision = await newestRevision(folder);
    if (revision === 0) return undefined;
    const entry = await readRevision(folder, revision);
    if (entry) return entry;
  }
  throw new Error(`the note in ${folder} is damaged`);
}

/** Reads a revision: one line of JSON about the note, then its text. `undefined`: the file is missing or incomplete. */
async function readRevision(folder: string, revision: number): Promise<MemoryEntry | undefined> {
  const file = await open(
    join(folder, String(revision)),
    constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
  ).catch(() => undefined);
  if (!file) return undefined;
  try {
    const content = await file.readFile("utf8");
    const end = content.indexOf("\n");
    const about = end < 0 ? undefined : parsed(content.slice(0, end));
    const text = content.slice(end + 1);
    return about && { ...about, revision, text, bytes: Buffer.byteLength(text) };
  } finally {
    await file.close();
  }
}

function parsed(line: string): Pick<MemoryInfo, "key" | "at" | "origins"> | undefined {
  try {
    const about: unknown = parseJson(line);
    if (
      !isRecord(about) ||
      typeof about["key"] !== "string" ||
      typeof about["at"] !== "string" ||
      !Array.isArray(about["origins"])
    )
      return undefined;
    const origins = about["origins"]
      .filter(isRecord)
      .map(({ by, project }) => ({ by: String(by), project: String(project) }));
    return { key: about["key"], at: about["at"], origins };
  } catch {
    return undefined;
  }
}

type Exchange = Readonly<{
  folder: string;
  key: string;
  change: (now: MemoryEntry | undefined) => string;
  origin: MemoryOrigin;
  clock(): number;
  signal: AbortSignal;
}>;

const ATTEMPTS = 200;
/** The longest time between reading and writing a note; a slower writer must read again. */
const FRESH_MS = 20_000;
/** How long an emptied revision file is kept, in milliseconds, so that its number is not reused by a slow writer. */
const KEPT_EMPTY_MS = 120_000;

/**
 * Replaces a note only if it was not changed meanwhile: each revision has a number of its own, and creating its file
 * fails if the number is taken. A number is not reused after its text was removed: an empty file reserves it for longer
 * than any writer waits.
 */
async function exchange({ folder, key, change, origin, clock, signal }: Exchange): Promise<MemoryEntry> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const looked = performance.now();
    const isFresh = (): boolean => performance.now() - looked < FRESH_MS;
    const now = await newest(folder);
    const text = change(now);
    const bytes = Buffer.byteLength(text);
    if (bytes > MAX_ENTRY_BYTES)
      throw new Error(`a note can have at most ${MAX_ENTRY_BYTES} bytes, and this note would have ${bytes}`);
    if (!now) await makeRoom(folder);
    const origins = [origin, ...(now?.origins ?? []).filter(({ by }) => by !== origin.by)].slice(0, MAX_ORIGINS);
    const about = { key, at: new Date(clock()).toISOString(), origins };
    const revision = (now?.revision ?? 0) + 1;
    if (await claim(join(folder, String(revision)), `${JSON.stringify(about)}\n${text}`, isFresh)) {
      if (!isFresh() && (await newestRevision(folder)) > revision)
        throw new Error(`it is unknown whether "${key}" was changed: read it`);
      await tidy(folder, revision);
      return { ...about, revision, text, bytes };
    }
    await pause(Math.random() * Math.min(50, attempt + 1), signal);
    signal.throwIfAborted();
  }
  throw new Error(`"${key}" is being changed by too many tasks at once: try again`);
}

/** Creates a file exclusively and atomically. False: it exists already, or it took too long. */
async function claim(file: string, content: string, isFresh: () => boolean): Promise<boolean> {
  const draft = draftIn(dirname(file));
  try {
    await writeFile(draft, content, { flag: "wx", mode: 0o600, flush: true });
    if (!isFresh()) return false;
    await link(draft, file);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Empties the previous revision, and occasionally deletes old empty and abandoned files. */
async function tidy(folder: string, revision: number): Promise<void> {
  if (revision > 1) {
    const draft = draftIn(folder);
    await writeFile(draft, "", { flag: "wx", mode: 0o600 });
    await rename(draft, join(folder, String(revision - 1)));
  }
  if (revision % TIDIED_EVERY !== 0) return;
  for (const file of await readdir(folder)) {
    if (REVISION.test(file) && Number(file) >= revision - 1) continue;
    const stats = await lstat(join(folder, file)).catch(() => undefined);
    if (stats && Date.now() - stats.mtimeMs > KEPT_EMPTY_MS) await rm(join(folder, file), { force: true });
  }
}

const TIDIED_EVERY = 16;
const draftIn = (folder: string): string => join(folder, `.${randomBytes(8).toString("hex")}.tmp`);
