import { constants, realpathSync, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { ClosedInFolder } from "../../core/rules/call-subject.ts";
import { cutHead } from "../../core/text/cut.ts";
import { defined } from "../../core/text/defined.ts";
import { reveal } from "../../core/text/sanitize.ts";
import { folderContains } from "./folder-contains.ts";

/**
 * Opens a file or folder for reading, if what was opened is really inside of `root`.
 * The path may be relative to the root or absolute, and symbolic links that stay inside of it are allowed. The location
 * of the open descriptor decides, so replacing a folder by a link meanwhile has no effect. Pipes, sockets and devices
 * are refused without being opened. Throws a {@link OpenRefusal}; the caller closes the handle.
 */
export async function openInside(root: string | Root, path: string): Promise<OpenedFile> {
  const top = typeof root === "string" ? await rootOf(root) : root;
  const wanted = wantedPath(top, path);
  const target = await realpath(wanted).catch(async (error: unknown) => {
    throw await unreachable(top, { path, wanted, code: codeOf(error) });
  });
  if (!folderContains(top.real, target)) throw strayLink(path);
  return openTarget(top, { path, target });
}

/** Resolves a path from the root; fails if the path is invalid or leads out of the root. */
export function wantedPath(top: Root, path: string): string {
  if (path.includes("\0"))
    throw refusal("BAD_PATH", `${quoted(path)} contains a NUL character, which no file name can have`);
  if (path.length > MOST_CHARS) throw unopened(path, "ENAMETOOLONG");
  const wanted = resolve(top.given, path);
  if (!folderContains(top.given, wanted) && !folderContains(top.real, wanted)) throw outside(path);
  return wanted;
}

/**
 * Opens a path found by a walk: relative to the root and without links. A symbolic link that appeared meanwhile is
 * refused. Cheaper than {@link openInside}; the caller checks the file type.
 */
export async function openWalked(root: Root, path: string): Promise<WalkedFolder> {
  if (root.isClosed?.(slashed(path))) throw closed(path);
  const target = join(root.real, path);
  const handle = await open(target, FLAGS).catch((error: unknown) => {
    throw unopened(path, codeOf(error));
  });
  const known = await knownPlace(handle);
  const real = known ?? (await comparedPlace(handle, target).catch(() => undefined));
  if (real === target) return { handle, place: known === undefined ? target : descriptor(handle) };
  await handle.close();
  throw outside(path);
}

/**
 * An open folder and the path to read it by. On Linux that path leads to the open folder, even if its name refers to
 * another folder by now.
 */
export type WalkedFolder = Readonly<{ handle: FileHandle; place: string }>;

/** A folder to which access is limited: its path as given, and its real path. */
export type Root = Readonly<{ given: string; real: string }> & ClosedInFolder;

/** A file inside the root, open for reading. */
export type OpenedFile = Readonly<{
  handle: FileHandle;
  kind: "file" | "directory";
  stats: Stats;
  /** The real path of the file. */
  real: string;
  /** The path relative to the root, with forward slashes; empty for the root itself. */
  path: string;
}>;

/** Why a file was not opened: `OUTSIDE`, `SPECIAL`, `BAD_PATH` and `DENIED` are policy refusals. */
export type OpenRefusal = Error & { readonly code: RefusalCode };
export type RefusalCode = "OUTSIDE" | "SPECIAL" | "BAD_PATH" | "DENIED" | "MISSING" | "UNREADABLE";

export function isOpenRefusal(error: unknown): error is OpenRefusal {
  return error instanceof Error && error.name === "Refusal";
}

/** True for a refusal by policy, as opposed to an error such as a missing file. */
export function isDenial({ code }: OpenRefusal): boolean {
  return code !== "MISSING" && code !== "UNREADABLE";
}

/** Resolves the real path of a root once, for many accesses. */
export async function rootOf(root: string, isClosed?: Root["isClosed"]): Promise<Root> {
  const given = resolve(root);
  // Synchronous, because every task and every call of a file tool uses this function: through the thread pool it would
  // take ten times as long.
  try {
    return { given, real: realpathSync.native(given), ...defined({ isClosed }) };
  } catch {
    throw refusal("MISSING", `the working folder ${quoted(given)} no longer exists`);
  }
}

/** A path in quotes on one line, with special characters escaped. */
export function quoted(path: string): string {
  const { text, cut } = cutHead(path, 200);
  return `"${printableName(text)}${cut ? "..." : ""}"`;
}

/** A name that cannot begin a new line or control a terminal. */
export function printableName(name: string): string {
  return reveal(name).replaceAll("\n", "\u240a").replaceAll("\t", "\u2409");
}

/** The longest path that any supported system accepts. */
const MOST_CHARS = 4_096;

type Target = Readonly<{ path: string; target: string }>;

/**
 * Flags for opening: no symbolic link is followed (the path is already resolved), and never waits for the other end of
 * a pipe.
 */
const FLAGS =
  constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

async function openTarget(top: Root, { path, target }: Target): Promise<OpenedFile> {
  let handle: FileHandle | undefined;
  try {
    if (kindOf(await lstat(target)) === undefined) throw special(path);
    handle = await open(target, FLAGS);
    const stats = await handle.stat();
    const kind = kindOf(stats);
    if (kind === undefined) throw special(path);
    const real = (await knownPlace(handle)) ?? (await comparedPlace(handle, target));
    if (real === undefined || !folderContains(top.real, real)) throw outside(path);
    const place = slashed(relative(top.real, real));
    if (top.isClosed?.(place)) throw closed(path);
    if (kind === "file" && stats.nlink > 1 && (await top.isClosedFile?.(stats))) throw closed(path);
    return { handle, kind, stats, real, path: place };
  } catch (error) {
    await handle?.close();
    throw isOpenRefusal(error) ? error : unopened(path, codeOf(error));
  }
}

/** The path of an open descriptor, on systems that support it. */
export async function knownPlace(handle: FileHandle): Promise<string | undefined> {
  if (process.platform !== "linux") return undefined;
  return readlink(descriptor(handle)).catch(() => undefined);
}

export const descriptor = (handle: FileHandle): string => `/proc/self/fd/${handle.fd}`;

/** The resolved path, if it currently leads to the object that is open. */
export async function comparedPlace(handle: FileHandle, target: string): Promise<string | undefined> {
  const real = await realpath(target);
  const [open, named] = [await handle.stat({ bigint: true }), await stat(real, { bigint: true })];
  return open.dev === named.dev && open.ino === named.ino ? real : undefined;
}

function kindOf(stats: Stats): OpenedFile["kind"] | undefined {
  if (stats.isFile()) return "file";
  return stats.isDirectory() ? "directory" : undefined;
}

type Attempt = Readonly<{ path: string; wanted: string; code: string }>;

/**
 * The error for a path that could not be opened. A link out of the root is reported as such and not as "missing", so
 * that nothing about files outside of the root is revealed.
 */
async function unreachable(top: Root, { path, wanted, code }: Attempt): Promise<OpenRefusal> {
  if (code !== "ENOENT" && code !== "ELOOP") return unopened(path, code);
  for (let at = wanted; folderContains(top.given, at) || folderContains(top.real, at); at = dirname(at)) {
    const real = await realpath(at).catch(() => undefined);
    if (real !== undefined) return folderContains(top.real, real) ? unopened(path, code) : strayLink(path);
    const isLink = await lstat(at).then(
      (stats) => stats.isSymbolicLink(),
      () => false,
    );
    if (isLink) return strayLink(path);
    if (at === dirname(at)) break;
  }
  return unopened(path, code);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  ENOTDIR: "does not exist: a part of the path is a file, not a folder",
  ENAMETOOLONG: "is too long for a path",
  EACCES: "cannot be read: permission denied",
  EPERM: "cannot be read: permission denied",
  EMFILE: "could not be opened: too many files are open, try again",
};

function unopened(path: string, code: string): OpenRefusal {
  const missing = code === "ENOENT" || code === "ENOTDIR";
  return refusal(
    missing ? "MISSING" : "UNREADABLE",
    `${quoted(path)} ${REASONS[code] ?? `could not be opened (${code})`}`,
  );
}

export function outside(path: string): OpenRefusal {
  return refusal("OUTSIDE", `${quoted(path)} is outside of the working folder: use a path inside it`);
}

export function strayLink(path: string): OpenRefusal {
  return refusal(
    "OUTSIDE",
    `${quoted(path)} is a symbolic link that is broken or points outside of the working folder`,
  );
}

function closed(path: string): OpenRefusal {
  return refusal("DENIED", `${quoted(path)} may not be read: a rule forbids reading it, or it may hold secrets`);
}

export function special(path: string): OpenRefusal {
  return refusal("SPECIAL", `${quoted(path)} is not a regular file: pipes, sockets and devices cannot be read`);
}

export function refusal(code: RefusalCode, message: string): OpenRefusal {
  return Object.assign(new Error(message), { name: "Refusal", code });
}

const slashed = (path: string): string => path.split(sep).join("/");

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown error";
}
