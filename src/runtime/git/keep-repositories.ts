import { cp, mkdir, readdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { shellWord } from "../../core/text/shell-word.ts";
import { listNames } from "./apply-changes.ts";

/** The data for keeping the repositories inside of a task's worktree, and the folders involved. */
export type InnerRepositories = Readonly<{
  /** The path of the task. */
  of: string;
  /** The paths of submodules and nested repositories that the task has filled or removed. */
  paths: readonly string[];
  /** The worktree of the task, which is removed afterwards. */
  worktree: string;
  patch: string;
  workspace: string;
  /** The name of the machine with the worktree, if the workspace is on another machine. */
  host?: string;
}>;

/**
 * Moves files that a task wrote into submodules and nested repositories to a folder beside its patch, because a patch
 * cannot contain them. Returns one text for each thing that a person has to know.
 */
export async function keepRepositories(given: InnerRepositories): Promise<string[]> {
  const { of, paths, worktree, patch, workspace, host } = given;
  const kept: string[] = [];
  const gone: string[] = [];
  const target = patch.replace(/\.patch$/, ".repositories");
  for (const path of paths) {
    const names = await readdir(join(worktree, path)).catch(() => undefined);
    (names === undefined ? gone : kept).push(path);
    if (names !== undefined) await moveFolder(join(worktree, path), join(target, path));
  }
  const copy =
    host === undefined ? ` with: cp -R ${shellWord(`${target}/.`)} ${shellWord(workspace)}` : ` to ${workspace}.`;
  const place = host === undefined ? target : `${target} on ${host}`;
  return [
    ...(kept.length === 0
      ? []
      : [
          `Files of "${of}" in submodules or other repositories cannot be part of a patch and were not applied: ${listNames(kept)}. They are in ${place}. Look at them, then copy them${copy}`,
        ]),
    ...(gone.length === 0
      ? []
      : [`"${of}" removed submodules in its worktree; they stay in the workspace: ${listNames(gone)}.`]),
  ];
}

async function moveFolder(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  try {
    await rename(from, to);
  } catch {
    // another file system, or an earlier attempt to settle these changes was interrupted
    await cp(from, to, { recursive: true, verbatimSymlinks: true });
  }
}
