import { cp, mkdir } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import type { Artifact } from "../../core/outcome/artifact.ts";
import { type FailedOutcome, failed, type Outcome } from "../../core/outcome/outcome.ts";
import { type Changes, type FileChange, judgeChanges } from "../../core/outcome/worktree-changes.ts";
import type { Isolation } from "../../core/plan/isolation.ts";
import type { FileVersion } from "../../core/run/file-version.ts";
import { createPolicy, type Policy } from "../../core/policy/policy.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import type { ChangeRecorder } from "../../core/task/change-recorder.ts";
import { sanitize, spellInvisible } from "../../core/text/sanitize.ts";
import { shellWord } from "../../core/text/shell-word.ts";
import { artifactOfFile } from "../disk/artifact-of.ts";
import { folderContains } from "../files/folder-contains.ts";
import { writtenGitDirectory } from "../files/git-directory.ts";
import { applyPatch, type SourceTree } from "./worktree.ts";

/** The changes of a task, and the folders where they may be applied. */
type Proposal = Readonly<{
  changes: readonly FileChange[];
  /** The file with the patch, and the changes in it. */
  patch: string;
  artifact: Artifact;
  origin: SourceTree;
  base: string;
  /** The worktree of the task, which contains the task's version of each file. */
  folder: string;
}>;

type Working = Readonly<{
  call: Call;
  isolation: Isolation;
  outcome: Outcome;
  policy: Policy | undefined;
  context: Pick<PerformContext, "ask" | "attended" | "claim" | "emit" | "signal">;
  /** For each file: the task whose changes to the file were applied in this run. */
  appliedBy: Map<string, string>;
  /** True if the run is stored, so that a command can find its patch later. */
  isKept: boolean;
  /** Stores the files of the workspace that are changed. */
  recorder?: ChangeRecorder;
  /** Runs work that applies patches, one at a time. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}>;

/** The result of applying changes; a conflict fails the task. */
export type SettledChanges = Readonly<{ changes: Changes; conflict?: FailedOutcome }>;

/** Applies the changes of a task; or keeps them as a patch and reports why, where it is and how to apply it. */
export async function settleChanges(proposal: Proposal, working: Working): Promise<SettledChanges> {
  const { changes, patch, artifact, origin } = proposal;
  const { call, context, appliedBy, inTurn } = working;
  const files = changes.map(({ path }) => path);
  const what = `${files.length} ${files.length === 1 ? "file" : "files"} (${listNames(files)})`;
  const kept = (why: string): SettledChanges => {
    const how = `Apply the patch with: ${applyCommand(proposal, working)}`;
    const text = `The changes of "${call.path}" to ${what} were not applied: ${why}. They are in ${patch}. ${how}`;
    context.emit({ type: "warning", code: "CHANGES_KEPT", text });
    return { changes: { files, applied: false, patch: artifact } };
  };
  const refusal = await refused(proposal, working, what);
  if (refusal !== undefined) return kept(refusal);
  // In a race, only the changes of the winning task are applied.
  if (context.claim && !(await context.claim()))
    return kept("another task won the race, and only its changes are applied");
  const key = (file: string): string => join(origin.tree.folder, file);
  return inTurn(async () => {
    if (context.signal.aborted) return kept("the task was stopped");
    const recorder = call.worktree ? undefined : working.recorder;
    const versionsOf = (): Promise<readonly FileVersion[]> =>
      Promise.all(recorder ? files.map((file) => recorder.version(key(file))) : []);
    const before = await versionsOf();
    const done = await applyPatch(patch, origin, files);
    if (typeof done === "object") {
      const conflicts = Object.keys(done.conflicts);
      const each = conflicts.map(
        (file) => `${sanitize(file)}: ${because(done.conflicts[file]!, appliedBy.get(key(file)))}`,
      );
      const why = each.length > 0 ? each.join("; ") : `git reported: ${sanitize(done.reason)}`;
      const versions = await keepVersions(conflicts, proposal);
      const message = `The changes of "${call.path}" to ${what} conflict with the workspace, so none of them was applied - ${why}.`;
      const rest = files.filter((file) => !conflicts.includes(file));
      const command = applyCommand(proposal, working, conflicts);
      const hint = conflictHint({ rest, command, versions, patch, into: origin.tree.folder });
      return {
        changes: { files, applied: false, patch: artifact, conflicts, versions: await artifactsOf(versions) },
        conflict: failed("CONFLICT", message, { hint }),
      };
    }
    for (const file of files) appliedBy.set(key(file), call.path);
    const after = await versionsOf();
    const changed = files.map((file, at) => ({ file: key(file), before: before[at]!, after: after[at]! }));
    if (recorder) context.emit({ type: "files.changed", files: changed });
    context.emit({
      type: "note",
      text: `The changes of "${call.path}" to ${what} were applied. The patch is ${patch}`,
    });
    return { changes: { files, applied: true, patch: artifact } };
  });
}

/** The path of the task's version of a file with a conflict, beside the patch. */
export const versionBeside = (patch: string, file: string): string =>
  join(patch.replace(/\.patch$/, ".conflict"), file);

async function artifactsOf(files: Readonly<Record<string, string>>): Promise<Readonly<Record<string, Artifact>>> {
  const all = Object.entries(files).map(async ([name, file]) => [name, await artifactOfFile(file)] as const);
  return Object.fromEntries(await Promise.all(all));
}

/**
 * Copies the task's version of conflicting files beside the patch. A file that the task deleted has no version to copy.
 */
async function keepVersions(
  conflicts: readonly string[],
  { patch, folder }: Proposal,
): Promise<Readonly<Record<string, string>>> {
  const versions: Record<string, string> = {};
  for (const file of conflicts) {
    const to = versionBeside(patch, file);
    try {
      await mkdir(dirname(to), { recursive: true, mode: 0o700 });
      await cp(join(folder, file), to, { verbatimSymlinks: true });
      versions[file] = to;
    } catch {
      continue; // the task deleted the file, which is also in the patch
    }
  }
  return versions;
}

type Conflict = Readonly<{
  /** The files of a task's changes that have no conflict. */
  rest: readonly string[];
  command: string;
  versions: Readonly<Record<string, string>>;
  patch: string;
  into: string;
}>;

/** Tells how to continue by hand: apply the files without a conflict, and compare the conflicting files. */
function conflictHint({ rest, command, versions, patch, into }: Conflict): string {
  const apply = rest.length === 0 ? [] : [`Apply the rest (${listNames(rest)}) with: ${command}`];
  const compare = Object.entries(versions)
    .slice(0, SHOWN)
    .map(([file, kept]) => `Compare with: git diff --no-index ${shellWord(join(into, file))} ${shellWord(kept)}`);
  return [...apply, ...compare, `The whole patch is ${patch}`].join(". ");
}

/**
 * The command that applies a kept patch. If the run is not stored, it is a `git apply` that leaves out conflicting
 * files.
 */
function applyCommand(
  { patch, origin }: Proposal,
  { call, isKept }: Working,
  conflicts: readonly string[] = [],
): string {
  if (isKept) return `subcrew apply ${shellWord(`${call.run}/${call.path}`)}`;
  const without = conflicts.map((file) => ` --exclude=${shellWord(asPattern(file))}`).join("");
  return `git -C ${shellWord(origin.tree.folder)} apply${without} ${shellWord(patch)}`;
}

/** A file name as a pattern that matches only this file. */
const asPattern = (file: string): string => file.replace(/[*?[\]\\]/g, "\\$&");

function because(words: string, other: string | undefined): string {
  return other === undefined ? sanitize(words) : `"${other}" changed the same file, and those changes were applied`;
}

/** Why changes are kept as a patch; `undefined` when they may be applied. */
async function refused(
  { changes, base, origin }: Proposal,
  working: Working,
  what: string,
): Promise<string | undefined> {
  const { call, isolation, outcome, policy, context } = working;
  if (isolation.keep) return "as requested";
  if (context.signal.aborted) return "the task was stopped";
  if (outcome.status !== "ok") return "the task did not succeed";
  const placed = changes.map((change) => ({ ...change, path: placeOf(join(origin.tree.folder, change.path), base) }));
  const stray = placed.find(({ path }) => path.startsWith("/"));
  if (stray) return `${sanitize(stray.path)} is outside of the working folder`;
  const written = changes.filter(({ how }) => how !== "D").map(({ path }) => path);
  const repository = await writtenGitDirectory(origin.tree.folder, written);
  if (repository !== undefined) return `git would treat ${sanitize(repository)} as a repository and obey its settings`;
  const { decision, rule, why, path = "" } = judgeChanges(policy ?? createPolicy("default"), placed);
  if (decision === "allow") return undefined;
  const reason = `${sanitize(path)}: ${why} (${rule})`;
  if (decision === "deny" || !context.attended) return reason;
  const lines = changes.map(({ how, path: file }) => `  ${how} ${sanitize(spellInvisible(file))}`);
  const question = `"${call.path}" changed ${what} in its worktree:\n${lines.join("\n")}\nApply these changes to ${origin.tree.folder}?`;
  const answer = await context.ask(question, { call: "changes", signal: context.signal });
  if (answer?.approve) return undefined;
  return answer ? `${answer.by ?? "the person"} said no` : "nobody answered";
}

function placeOf(absolute: string, base: string): string {
  return folderContains(base, absolute) ? relative(base, absolute).split(sep).join("/") : absolute;
}

const SHOWN = 10;

/** The first few names, and the number of the remaining names. */
export function listNames(names: readonly string[]): string {
  const shown = names
    .slice(0, SHOWN)
    .map((name) => sanitize(name))
    .join(", ");
  return names.length > SHOWN ? `${shown} and ${names.length - SHOWN} more` : shown;
}
