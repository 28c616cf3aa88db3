import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { alone } from "../disk/file-lock.ts";
import { readRegularText } from "../disk/regular-file.ts";

/**
 * Runs a change to the list of worktrees of a repository, one at a time in all processes of subcrew.
 *
 * `git worktree add` reads the entries of all other worktrees and fails on an entry that is half written or half
 * removed. A repository that cannot be locked is used without the lock.
 */
export async function withWorktreeLock<T>(top: string, work: () => Promise<T>): Promise<T> {
  const common = await commonDirOf(top);
  if (common === undefined) return work();
  let isStarted = false;
  const start = (): Promise<T> => ((isStarted = true), work());
  try {
    return await alone(join(common, LOCK), start, AbortSignal.timeout(PATIENCE_MS));
  } catch (error) {
    if (isStarted) throw error;
    return work();
  }
}

const LOCK = "subcrew-worktrees.lock";
/** Maximum wait for the lock; longer than any single change, for which git has two minutes. */
const PATIENCE_MS = 300_000;

/** The folder that all worktrees of a repository share: `.git`, or the folder that the file of this name points to. */
export async function commonDirOf(top: string): Promise<string | undefined> {
  const own = join(top, ".git");
  const kind = await stat(own).catch(() => undefined);
  if (kind?.isDirectory()) return own;
  if (!kind?.isFile()) return undefined;
  const gitDir = await gitDirOf(top).catch(() => undefined);
  if (gitDir === undefined || !(await stat(gitDir).catch(() => undefined))?.isDirectory()) return undefined;
  const common = await readRegularText(join(gitDir, "commondir")).catch(() => ".");
  return resolve(gitDir, common.trim());
}

/** The git directory that the `.git` file of a worktree or a submodule names. */
export async function gitDirOf(folder: string): Promise<string> {
  const text = await readRegularText(join(folder, ".git"));
  return resolve(folder, text.replace(/^gitdir: /, "").trim());
}
