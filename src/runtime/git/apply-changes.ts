import { join, relative, sep } from "node:path";
import type { Outcome } from "../../core/outcome/outcome.ts";
import { type Changes, type FileChange, judgeChanges } from "../../core/outcome/worktree-changes.ts";
import type { Isolation } from "../../core/plan/isolation.ts";
import { createPolicy, type Policy } from "../../core/policy/policy.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import { defined } from "../../core/text/defined.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { folderContains } from "../files/folder-contains.ts";
import { applyPatch, type SourceTree } from "./worktree.ts";

/** What a task changed, and where that may go. */
type Proposal = Readonly<{ changes: readonly FileChange[]; patch: string; origin: SourceTree; base: string }>;

type Working = Readonly<{
  call: Call;
  isolation: Isolation;
  outcome: Outcome;
  policy: Policy | undefined;
  context: PerformContext;
  /** Whose changes of a file were applied in this run. */
  appliedBy: Map<string, string>;
  /** One after the other. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}>;

/** Applies changes, or keeps them and says why, where they are and how to apply them. */
export async function settleChanges(proposal: Proposal, working: Working): Promise<Changes> {
  const { changes, patch, origin } = proposal;
  const { call, context, appliedBy, inTurn } = working;
  const files = changes.map(({ path }) => path);
  const what = `${files.length} ${files.length === 1 ? "file" : "files"} (${listNames(files)})`;
  const kept = (why: string, code: string, conflicts?: readonly string[]): Changes => {
    const how = `Apply it with: git -C ${quoted(origin.tree.folder)} apply ${quoted(patch)}`;
    const text = `The changes of "${call.path}" to ${what} were not applied: ${why}. They are in ${patch}. ${how}`;
    context.emit({ type: "warning", code, text });
    return { files, applied: false, patch, ...defined({ conflicts }) };
  };
  const refusal = await refused(proposal, working, what);
  if (refusal !== undefined) return kept(refusal, "CHANGES_KEPT");
  const key = (file: string): string => join(origin.tree.folder, file);
  return inTurn(async () => {
    if (context.signal.aborted) return kept("the task was stopped", "CHANGES_KEPT");
    const done = await applyPatch(patch, origin, files);
    if (typeof done === "object") {
      const conflicts = Object.keys(done.conflicts);
      const each = conflicts.map(
        (file) => `${sanitize(file)}: ${because(done.conflicts[file]!, appliedBy.get(key(file)))}`,
      );
      const why = each.length > 0 ? each.join("; ") : `git said: ${sanitize(done.reason)}`;
      return kept(`they do not fit any more - ${why}`, "CHANGES_CONFLICT", conflicts);
    }
    for (const file of files) appliedBy.set(key(file), call.path);
    context.emit({
      type: "note",
      text: `The changes of "${call.path}" to ${what} were applied. The patch is ${patch}`,
    });
    return { files, applied: true, patch };
  });
}

function because(words: string, other: string | undefined): string {
  return other === undefined ? sanitize(words) : `"${other}" changed it, too, and its changes were applied`;
}

/** Why changes stay a patch; `undefined` when they may be applied. */
async function refused(
  { changes, base, origin }: Proposal,
  working: Working,
  what: string,
): Promise<string | undefined> {
  const { call, isolation, outcome, policy, context } = working;
  if (isolation.keep) return "that was wished";
  if (context.signal.aborted) return "the task was stopped";
  if (outcome.status !== "ok") return "the task did not succeed";
  const placed = changes.map((change) => ({ ...change, path: placeOf(join(origin.tree.folder, change.path), base) }));
  const stray = placed.find(({ path }) => path.startsWith("/"));
  if (stray) return `${sanitize(stray.path)} is outside of the folder that is worked in (outside)`;
  const { decision, rule, why, path = "" } = judgeChanges(policy ?? createPolicy("default"), placed);
  if (decision === "allow") return undefined;
  const reason = `${sanitize(path)}: ${why} (${rule})`;
  if (decision === "deny" || !context.attended) return reason;
  const lines = changes.map(({ how, path: file }) => `  ${how} ${sanitize(file)}`);
  const question = `"${call.path}" changed ${what} in its worktree:\n${lines.join("\n")}\nApply that to ${origin.tree.folder}?`;
  const answer = await context.ask(question, { call: "changes", signal: context.signal });
  if (answer?.approve) return undefined;
  return answer ? `${answer.by ?? "the person"} said no` : "nobody answered";
}

function placeOf(absolute: string, base: string): string {
  return folderContains(base, absolute) ? relative(base, absolute).split(sep).join("/") : absolute;
}

const SHOWN = 10;

/** Some names, and how many more there are. */
export function listNames(names: readonly string[]): string {
  const shown = names
    .slice(0, SHOWN)
    .map((name) => sanitize(name))
    .join(", ");
  return names.length > SHOWN ? `${shown} and ${names.length - SHOWN} more` : shown;
}

/** A path as a shell reads it. */
const quoted = (path: string): string => (/^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);
