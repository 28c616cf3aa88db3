import { randomBytes } from "node:crypto";
import { chmodSync, closeSync, fstatSync, lstatSync, openSync, renameSync, symlinkSync } from "node:fs";
import { isListedName } from "../../core/policy/protected-paths.ts";
import { messageOf } from "../../core/schema/error.ts";
import { shellWord } from "../../core/text/shell-word.ts";
import { FOLDER_FLAGS } from "./protected-scan.ts";
import { opened, type RawPath, rawOf, textOfRaw } from "./raw-path.ts";

/** A quarantined protected file: its new harmless name, or why it could not be renamed. */
export type QuarantinedFile = Readonly<{
  place: string;
  now: string;
  problem?: string;
  /** True: the entry is a git repository. Its `HEAD` file, without which it is not a repository, is renamed, too. */
  repository?: true;
}>;

/** One line about a quarantined file, for people and models. */
export function asideText({ place, now, problem, repository }: QuarantinedFile): string {
  if (repository && problem === undefined) return repositoryText(place, now);
  return problem === undefined
    ? `"${place}" is executed or loaded as configuration later, so it was renamed to "${now}"`
    : `"${place}" is executed or loaded as configuration later and could not be renamed (${problem}): look at it before you use this folder`;
}

/** Says where a quarantined repository is, how a command can get only the files, and how the user can keep it. */
function repositoryText(place: string, now: string): string {
  const keep = `mv ${shellWord(now)} ${shellWord(place)} && mv ${shellWord(`${place}/HEAD`)}.refused-* ${shellWord(`${place}/HEAD`)}`;
  return (
    `"${place}" is a new git repository, whose configuration and hooks can run programs, so it was renamed to "${now}"; nothing in it is lost. ` +
    "If the files are needed without their history, clone below /tmp, delete .git there, and move the folder here. " +
    `Only the user can keep the repository: look at its config and hooks, then run: ${keep}. ` +
    `To let commands create it, allow write_file(${place}/**)`
  );
}

/**
 * Renames a protected file that a program created to a harmless name. Nothing is deleted, since a person may have
 * created it. The path to it is opened folder by folder below the root, and no symbolic link is followed. `undefined`:
 * the file no longer exists.
 */
export function setAside(root: string, path: RawPath): QuarantinedFile | undefined {
  return inFolderOf(root, path, (folder, name) => {
    if (lstatSync(opened(`${folder}/${name}`), { throwIfNoEntry: false }) === undefined) return undefined;
    const harmless = harmlessName(name);
    renameSync(opened(`${folder}/${name}`), opened(`${folder}/${harmless}`));
    return harmless;
  });
}

/**
 * Restores a symbolic link that was changed or deleted. If another file is in its place, that file gets a harmless
 * name.
 */
export function restoreLink(root: string, path: RawPath, target: RawPath): QuarantinedFile | undefined {
  const moved = setAside(root, path);
  const made = inFolderOf(root, path, (folder, name) => {
    symlinkSync(opened(target), opened(`${folder}/${name}`));
    return name;
  });
  return moved ?? made;
}

function harmlessName(name: RawPath): RawPath {
  const mark = `refused-${randomBytes(3).toString("hex")}`;
  const next = `${name}.${mark}`;
  return next.length > LONGEST_NAME || isListedName(textOfRaw(next)) ? mark : next;
}

const LONGEST_NAME = 255;

/**
 * Opens the folder that contains `path`, and calls `work` with this folder and the name of the entry. A folder that
 * this process may not open or change gets the permissions for this until `work` has returned.
 */
function inFolderOf(
  root: string,
  path: RawPath,
  work: (folder: string, name: RawPath) => RawPath | undefined,
): QuarantinedFile | undefined {
  const top = rawOf(root);
  const steps = path
    .slice(top.length)
    .split("/")
    .filter((step) => step !== "");
  const name = steps.pop() ?? "";
  const place = textOfRaw([...steps, name].join("/"));
  let here: number | undefined;
  const closed: { fd: number; mode: number }[] = [];
  const at = (fd = here): string => `/proc/self/fd/${fd}`;
  const permitted = <T>(action: () => T): T => {
    try {
      return action();
    } catch (error) {
      if (!isForbidden(error) || here === undefined) throw error;
      const mode = fstatSync(here).mode & 0o7777;
      chmodSync(at(), mode | 0o700);
      closed.push({ fd: here, mode });
      return action();
    }
  };
  const leave = (): void => {
    if (here !== undefined && !closed.some(({ fd }) => fd === here)) closeSync(here);
  };
  try {
    here = openSync(opened(top), FOLDER_FLAGS);
    for (const step of steps) {
      const next = permitted(() => openSync(opened(`${at()}/${step}`), FOLDER_FLAGS));
      leave();
      here = next;
    }
    const now = permitted(() => work(at(), name));
    return now === undefined ? undefined : { place, now: textOfRaw([...steps, now].join("/")) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP") return undefined;
    return { place, now: place, problem: messageOf(error) };
  } finally {
    leave();
    for (const { fd, mode } of closed.toReversed()) {
      chmodSync(at(fd), mode);
      closeSync(fd);
    }
  }
}

const isForbidden = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "EACCES";
