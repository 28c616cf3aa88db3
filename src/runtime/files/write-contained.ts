import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { folderContains } from "./folder-contains.ts";
import {
  codeOf,
  comparedPlace,
  descriptor,
  isOpenRefusal,
  knownPlace,
  outside,
  quoted,
  type Root,
  refusal,
  special,
  strayLink,
  wantedPath,
} from "./open-contained.ts";

/**
 * A name in an open folder that was verified to be inside of the allowed folder: for creating, replacing, moving and
 * removing files. On Linux every operation goes through the open folder, so replacing a folder meanwhile has no effect.
 */
export type ContainedPath = Readonly<{
  name: string;
  /** The real path, and the path relative to the allowed folder, with forward slashes. */
  real: string;
  path: string;
  /** The real paths of the folders that were created on the way. */
  made: readonly string[];
  /** The path with which file operations reach this name, or another name in the same folder. */
  at(name?: string): string;
  /** The existing entry; `undefined` when there is none. */
  stats(): Promise<Stats | undefined>;
  close(): Promise<void>;
}>;

/** `make`: creates missing folders. `itself`: operates on a symbolic link itself instead of its target. */
export type ContainedPathOptions = Readonly<{ make?: boolean; itself?: boolean }>;

/**
 * Opens the folder that contains a path. Refuses every path that leads out of the allowed folder. The caller closes the
 * returned folder.
 */
export async function openContainedPath(
  root: Root,
  path: string,
  { make = false, itself = false }: ContainedPathOptions = {},
): Promise<ContainedPath> {
  const wanted = wantedPath(root, path);
  const target = itself ? wanted : await behindLink(root, wanted, path);
  if (target === root.given || target === root.real)
    throw refusal("BAD_PATH", `${quoted(path)} is the working folder itself`);
  const made: string[] = [];
  const folder = await openFolder(root, dirname(target), { path, make, made });
  const name = basename(target);
  const real = join(folder.real, name);
  const at = (other = name): string => join(folder.place, other);
  return {
    name,
    real,
    path: relative(root.real, real).split(sep).join("/"),
    made,
    at,
    stats: () => lstat(at()).catch(() => undefined),
    close: () => folder.handle.close(),
  };
}

/** A fingerprint of a file that changes with its content, not with its permissions; `absent` if there is no file. */
export function lookOf(stats: Stats | undefined): string {
  if (stats === undefined) return "absent";
  const { ino, size, mtimeMs } = stats;
  return `${ino}:${size}:${mtimeMs}`;
}

/**
 * Replaces the content of a file atomically. Permissions of an existing file are kept; another hard link keeps the old
 * content. False: the file does not look as expected, because something else changed it, and is left as it is.
 */
export async function replace(spot: ContainedPath, text: string | Uint8Array, expected?: string): Promise<boolean> {
  const before = await spot.stats();
  if (before !== undefined && !before.isFile())
    throw before.isDirectory() ? refusal("UNREADABLE", `${quoted(spot.path)} is a folder`) : special(spot.path);
  const draft = spot.at(`.${randomBytes(8).toString("hex")}.tmp`);
  try {
    const handle = await open(
      draft,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0),
      0o666,
    );
    try {
      await handle.writeFile(text);
      if (before !== undefined) await keepOwner(handle, before);
    } finally {
      await handle.close();
    }
    if (expected !== undefined && lookOf(await spot.stats()) !== expected) {
      await rm(draft, { force: true });
      return false;
    }
    await rename(draft, spot.at());
    return true;
  } catch (error) {
    await rm(draft, { force: true });
    throw isOpenRefusal(error) ? error : unwritable(spot.path, error);
  }
}

async function keepOwner(handle: FileHandle, { mode, uid, gid }: Stats): Promise<void> {
  const own = await handle.stat();
  if (own.uid !== uid || own.gid !== gid) await handle.chown(uid, gid).catch(() => {});
  await handle.chmod(mode & 0o777);
}

/** The target of a symbolic link if it is inside of the allowed folder; a path without a link is returned unchanged. */
async function behindLink(root: Root, wanted: string, path: string): Promise<string> {
  const isLink = await lstat(wanted).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
  if (!isLink) return wanted;
  const target = await realpath(wanted).catch(() => undefined);
  if (target === undefined || !folderContains(root.real, target)) throw strayLink(path);
  return target;
}

type Folder = Readonly<{ handle: FileHandle; real: string; place: string }>;

const FLAGS =
  constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

async function openFolder(
  root: Root,
  wanted: string,
  { path, make, made }: { path: string; make: boolean; made: string[] },
): Promise<Folder> {
  const real = await realpath(wanted).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw unwritable(path, error);
  });
  if (real !== undefined) return openReal(root, real, path);
  const isLink = await lstat(wanted).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
  if (isLink || wanted === dirname(wanted)) throw strayLink(path);
  if (!make) throw refusal("MISSING", `${quoted(path)} cannot be created: its folder does not exist`);
  const above = await openFolder(root, dirname(wanted), { path, make, made });
  try {
    const step = join(above.place, basename(wanted));
    const real = join(above.real, basename(wanted));
    await mkdir(step).then(
      () => made.push(real),
      (error: unknown) => {
        if (codeOf(error) !== "EEXIST") throw error;
      },
    );
    return await opened(root, step, { path, expected: real });
  } catch (error) {
    throw isOpenRefusal(error) ? error : unwritable(path, error);
  } finally {
    await above.handle.close();
  }
}

async function openReal(root: Root, real: string, path: string): Promise<Folder> {
  if (!folderContains(root.real, real)) throw strayLink(path);
  return opened(root, real, { path, expected: real });
}

/** An open folder whose location was verified. */
async function opened(root: Root, at: string, { path, expected }: { path: string; expected: string }): Promise<Folder> {
  const handle = await open(at, FLAGS).catch((error: unknown) => {
    throw codeOf(error) === "ELOOP" ? outside(path) : unwritable(path, error);
  });
  const known = await knownPlace(handle);
  const real = known ?? (await comparedPlace(handle, expected).catch(() => undefined));
  if (real !== undefined && folderContains(root.real, real))
    return { handle, real, place: known === undefined ? real : descriptor(handle) };
  await handle.close();
  throw outside(path);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "no longer exists",
  ENOTDIR: "cannot be created: a part of the path is a file, not a folder",
  ENAMETOOLONG: "is too long for a path",
  EACCES: "cannot be changed: permission denied",
  EPERM: "cannot be changed: permission denied",
  EROFS: "is on a read-only file system",
  ENOSPC: "could not be written: the disk is full",
  EDQUOT: "could not be written: the disk quota is used up",
  EXDEV: "is on another file system: write the new file and delete the old one instead",
  ENOTEMPTY: "is a folder that is not empty",
  EEXIST: "already exists",
  EISDIR: "is a folder",
};

/** An error that says in words why a file could not be changed. */
export function unwritable(path: string, error: unknown): Error {
  const code = codeOf(error);
  return refusal(
    code === "ENOENT" || code === "ENOTDIR" ? "MISSING" : "UNREADABLE",
    `${quoted(path)} ${REASONS[code] ?? `could not be changed (${code})`}`,
  );
}
