import { z } from "zod";
import { artifact } from "./artifact.ts";
import { judge } from "../policy/judge.ts";
import type { Policy } from "../policy/policy.ts";
import { strictest, type Verdict } from "../policy/verdict.ts";
import { placed } from "../rules/call-subject.ts";
import { list } from "../schema/recorded.ts";

/** One file that a task changed, and how: added, modified, deleted, or of another type now. */
export type FileChange = Readonly<{ path: string; how: "A" | "M" | "D" | "T"; isRepository: boolean }>;

export const worktreeChanges = z.strictObject({
  files: list(z.string()),
  applied: z.boolean().describe("whether the patch was applied to the workspace"),
  patch: artifact.describe("the patch, as the store of the run has it"),
  returned: z.literal(true).exactOptional().describe("made on another machine, and not applied on this one yet"),
  returnedTo: z
    .strictObject({ task: z.string(), hash: z.string() })
    .exactOptional()
    .describe("the task to whose files the changes were returned, and their hash in the store"),
  conflicts: list(z.string())
    .exactOptional()
    .describe("files that conflicted, so that the patch was not applied to them"),
  versions: z
    .record(z.string(), artifact)
    .exactOptional()
    .describe("the task's version of each conflicting file, unless it deleted the file"),
});
/** The changes that a task made in a worktree, and whether they were applied. */
export type Changes = Readonly<z.infer<typeof worktreeChanges>>;

/** The mode with which git marks a submodule or a nested repository (a gitlink). */
const COMMIT = "160000";

/** Reads what `git diff-index --raw -z` prints: two fields for each file. */
export function readChanges(raw: string): FileChange[] {
  const fields = raw.split("\0");
  const changes: FileChange[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, before, after, how] = /^:(\d+) (\d+) \S+ \S+ ([AMDT])/.exec(fields[at] ?? "") ?? [];
    const path = fields[at + 1] ?? "";
    if (how === undefined || path === "") continue;
    changes.push({ path, how: how as FileChange["how"], isRepository: before === COMMIT || after === COMMIT });
  }
  return changes;
}

/** Reads the output of `git ls-files --stage -z`: the paths that are submodules or nested repositories. */
export function readModules(staged: string): string[] {
  return staged
    .split("\0")
    .flatMap((line) => (line.startsWith(`${COMMIT} `) ? [line.slice(line.indexOf("\t") + 1)] : []));
}

/** The files of a patch that git could not apply, with git's message about each. */
export function conflictsIn(said: string, files: readonly string[]): Readonly<Record<string, string>> {
  const lines = said.split("\n").map((line) => line.replace(/^error: /, ""));
  const found = files.flatMap((file): [string, string][] => {
    const words = lines.find((line) => line.startsWith(`${file}: `))?.slice(file.length + 2);
    if (words !== undefined) return [[file, words]];
    return lines.some((line) => line.startsWith(`patch failed: ${file}:`)) ? [[file, "patch does not apply"]] : [];
  });
  return Object.fromEntries(found);
}

/** Judges the changes of a task by the policy: the strictest verdict of all files decides. */
export function judgeChanges(policy: Policy, changes: readonly FileChange[]): Verdict & Readonly<{ path?: string }> {
  const verdicts = changes.map(({ path, how }) => {
    const tool = how === "D" ? "delete_file" : "write_file";
    return { ...judge(policy, { tool, does: "write", effect: "write", subjects: [placed(path, true)] }), path };
  });
  const [first, ...rest] = verdicts;
  return first ? strictestOf(first, rest) : { decision: "allow", rule: "no changes", why: "", hint: "" };
}

function strictestOf<V extends Verdict>(first: V, rest: readonly V[]): V {
  const verdict = strictest(first, ...rest);
  return [first, ...rest].find((each) => each === verdict) ?? first;
}
