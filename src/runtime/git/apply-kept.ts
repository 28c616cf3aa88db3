import { realpath } from "node:fs/promises";
import { topOf } from "./git.ts";
import { writtenGitDirectory } from "../files/git-directory.ts";
import { applyPatch, openOrigin } from "./worktree.ts";
import { ownEntry } from "../../core/text/json.ts";

/** The result of applying a kept patch, per file. */
export type AppliedFiles = Readonly<{
  /** The repository whose files were changed. */
  into: string;
  applied: readonly string[];
  /** Files that already contain the changes. */
  already: readonly string[];
  /** Files to which the patch does not apply, each with git's message. */
  conflicts: Readonly<Record<string, string>>;
  /** Files that were left out, each with the reason. */
  left: Readonly<Record<string, string>>;
}>;

/**
 * `leave`: returns why a file of the repository is not applied, or `undefined` to apply it; with `leave`, folders that
 * git would treat as repositories are not applied either. Without it, all files are applied.
 */
type ApplyOptions = Readonly<{
  cwd: string;
  home: string | undefined;
  leave?: ((repository: string) => (file: string) => string | undefined) | undefined;
}>;

/**
 * Applies the changes in a patch file to the repository that contains a folder, file by file. A conflict in one file
 * does not prevent the changes of the other files.
 */
export async function applyKept(
  patch: string,
  files: readonly string[],
  { cwd, home, leave }: ApplyOptions,
): Promise<AppliedFiles | Readonly<{ unable: string }>> {
  const top = await topOf(await realpath(cwd).catch(() => cwd));
  if (top === undefined) return { unable: `${cwd} is not in a git repository` };
  const origin = await openOrigin(top, undefined, home);
  if ("unable" in origin) return origin;
  const applied: string[] = [];
  const already: string[] = [];
  const conflicts: Record<string, string> = {};
  const left: Record<string, string> = {};
  const repository = leave && (await writtenGitDirectory(top, files));
  for (const file of files) {
    const isPart = repository !== undefined && (repository === "." || file.startsWith(`${repository}/`));
    const reason = isPart ? "it is part of a folder that git would treat as a repository" : leave?.(top)(file);
    if (reason !== undefined) {
      left[file] = reason;
      continue;
    }
    const done = await applyPatch(patch, origin, [file], { only: file });
    if (done === "applied") applied.push(file);
    else if (done === "already") already.push(file);
    else conflicts[file] = ownEntry(done.conflicts, file) ?? done.reason;
  }
  return { into: top, applied, already, conflicts, left };
}
