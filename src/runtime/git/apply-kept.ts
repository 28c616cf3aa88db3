import { realpath } from "node:fs/promises";
import { topOf } from "./git.ts";
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
}>;

/**
 * Applies the changes in a patch file to the repository that contains a folder, file by file: a file that conflicts
 * does not prevent the others.
 */
export async function applyKept(
  patch: string,
  files: readonly string[],
  { cwd, home }: Readonly<{ cwd: string; home: string | undefined }>,
): Promise<AppliedFiles | Readonly<{ unable: string }>> {
  const top = await topOf(await realpath(cwd).catch(() => cwd));
  if (top === undefined) return { unable: `${cwd} is not in a git repository` };
  const origin = await openOrigin(top, undefined, home);
  if ("unable" in origin) return origin;
  const applied: string[] = [];
  const already: string[] = [];
  const conflicts: Record<string, string> = {};
  for (const file of files) {
    const done = await applyPatch(patch, origin, [file], { only: file });
    if (done === "applied") applied.push(file);
    else if (done === "already") already.push(file);
    else conflicts[file] = ownEntry(done.conflicts, file) ?? done.reason;
  }
  return { into: top, applied, already, conflicts };
}
