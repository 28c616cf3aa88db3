import { chmod, mkdir, rm, rmdir, symlink } from "node:fs/promises";
import { dirname } from "node:path";
import type { FileHistory } from "../../core/run/changed-files.ts";
import { type FileVersion, isSameVersion } from "../../core/run/file-version.ts";
import { messageOf } from "../../core/schema/error.ts";
import { folderContains } from "../files/folder-contains.ts";
import { rootOf } from "../files/open-contained.ts";
import { type ContainedPath, openContainedPath, replace } from "../files/write-contained.ts";
import type { FileVersions } from "./file-versions.ts";
import { presentVersion } from "./recorder.ts";

/** The effect of undo on one path. */
export type UndoneFile = Readonly<{
  file: string;
  /**
   * `restored`: the file has its former content again; `removed`: the run had created the file; `same`: nothing to do;
   * `refused`: the file was left unchanged.
   */
  result: "restored" | "removed" | "same" | "refused";
  /** Why the undo of this path was refused. */
  why?: string;
}>;

type UndoOptions = Readonly<{
  versions: FileVersions;
  /** The folder that the run worked in. */
  cwd: string;
  dryRun: boolean;
}>;

/** Restores the content that every path had before the run. A path that was changed after the run is refused. */
export async function undoChanges(files: readonly FileHistory[], options: UndoOptions): Promise<UndoneFile[]> {
  const done: UndoneFile[] = [];
  for (const each of inOrder(files)) {
    const step = await stepFor(each, options);
    if (options.dryRun || step.result === "same" || step.result === "refused") done.push(step);
    else
      done.push(
        await restore(each, options).then(
          () => step,
          (error: unknown) => ({ file: each.file, result: "refused", why: messageOf(error) }),
        ),
      );
  }
  return done.toSorted((a, b) => (a.file < b.file ? -1 : 1));
}

/**
 * The order of restoring: files and links that the run created go first, because they may be in place of a folder;
 * deleted folders come before their contents, and folders that the run created after their contents.
 */
function inOrder(files: readonly FileHistory[]): FileHistory[] {
  const rank = ({ before, after }: FileHistory): number => {
    if (before.kind === "absent") return after.kind === "folder" ? 3 : 0;
    return before.kind === "folder" ? 1 : 2;
  };
  const depth = ({ file }: FileHistory): number => file.split("/").length;
  const ranked = (wanted: number): FileHistory[] => files.filter((each) => rank(each) === wanted);
  return [
    ...ranked(0),
    ...ranked(1).toSorted((a, b) => depth(a) - depth(b)),
    ...ranked(2),
    ...ranked(3).toSorted((a, b) => depth(b) - depth(a)),
  ];
}

async function stepFor(
  { file, before, after, versions, isUncertain }: FileHistory,
  options: UndoOptions,
): Promise<UndoneFile> {
  const refused = (why: string): UndoneFile => ({ file, result: "refused", why });
  const now = await presentVersion(file);
  if (isSameVersion(now, before)) return { file, result: "same" };
  const isOurs = isSameVersion(now, after) || (isUncertain && versions.some((version) => isSameVersion(now, version)));
  if (!isOurs)
    return refused(now.kind === "absent" ? "the file was deleted after the run" : "the file was changed after the run");
  if (before.kind === "other") return refused("the content before the run is unknown");
  if (before.kind === "file" && (!before.kept || (await options.versions.read(before.hash)) === undefined))
    return refused(
      before.kept ? "the stored content is missing" : "the content before the run was too large to be stored",
    );
  return { file, result: before.kind === "absent" ? "removed" : "restored" };
}

/**
 * Restores one path. Its folder is opened first, so that a symbolic link created meanwhile cannot redirect the write.
 */
async function restore({ file, before }: FileHistory, { versions, cwd }: UndoOptions): Promise<void> {
  const root = await rootOf(folderContains(cwd, file) ? cwd : dirname(file));
  const spot = await openContainedPath(root, file, { itself: true, make: before.kind !== "absent" });
  try {
    if (spot.real !== file) throw new Error("the folder of the file is a symbolic link now");
    await bringBack(spot, before, versions);
  } finally {
    await spot.close();
  }
}

async function bringBack(spot: ContainedPath, before: FileVersion, versions: FileVersions): Promise<void> {
  const now = await spot.stats();
  if (before.kind === "folder") {
    await mkdir(spot.at());
    return;
  }
  if (before.kind === "absent") return now?.isDirectory() ? removeFolder(spot) : await rm(spot.at(), { force: true });
  if (before.kind === "link") {
    await rm(spot.at(), { force: true });
    return symlink(before.target, spot.at());
  }
  if (before.kind !== "file") throw new Error("the content before the run is unknown");
  const content = await versions.read(before.hash);
  if (content === undefined) throw new Error("the stored content is missing");
  if (now !== undefined && !now.isFile()) await rm(spot.at(), { force: true });
  await replace(spot, content);
  if (before.mode !== undefined) await chmod(spot.at(), before.mode);
}

/** Removes a folder that the run created, unless it contains other files. */
async function removeFolder(spot: ContainedPath): Promise<void> {
  await rmdir(spot.at()).catch(() => {
    throw new Error("the folder contains files that this run did not create");
  });
}
