import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Outcome } from "../../core/outcome/outcome.ts";
import { type FileChange, judgeChanges } from "../../core/outcome/worktree-changes.ts";
import { movedInto } from "../../core/plan/isolation.ts";
import { createPolicy, type Policy } from "../../core/policy/policy.ts";
import type { RunOutputs } from "../../core/run/run-store.ts";
import type { ChangeRecorder } from "../../core/task/change-recorder.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import { defined } from "../../core/text/defined.ts";
import { artifactOfFile } from "../disk/artifact-of.ts";
import { settleChanges } from "./apply-changes.ts";
import { patchOfProgress, returnedBy } from "./returned-changes.ts";
import { treeOfCall } from "./shared-workspace.ts";
import { attemptPath } from "./worktree-task.ts";

export type BringParts = Readonly<{
  cwd: string;
  home: string | undefined;
  store: Pick<RunOutputs, "output" | "file" | "keep" | "share">;
  policyOf(call: Call): Policy | undefined;
  recorder?: ChangeRecorder;
}>;

/** Applies what tasks changed on other machines to the workspace of the run, one after the other. */
export function changesBringer(
  parts: BringParts,
): (call: Call, context: PerformContext, outcome: Outcome) => Promise<Outcome> {
  const appliedBy = new Map<string, string>();
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  };
  return async (call, context, outcome) => {
    if (!outcome.changes?.returned) return outcome;
    const { cwd, home, store, recorder } = parts;
    const { returned: _returned, ...kept } = outcome.changes;
    const notHere = (why: string): Outcome => {
      const text = `The changes of "${call.path}" could not be applied to the workspace: ${why}. They are kept with the run.`;
      context.emit({ type: "warning", code: "CHANGES_KEPT", text });
      return { ...outcome, changes: kept };
    };
    const bytes = patchOfProgress(await store.output(call.run, attemptPath(call), "progress"));
    if (!bytes) return notHere("the store has no patch");
    const origin = await treeOfCall(call, cwd, home);
    if ("unable" in origin) return notHere(origin.unable);
    const own = await store.file(call.run, attemptPath(call), { kind: "patch" });
    const patch = own ?? join(await mkdtemp(join(tmpdir(), "subcrew-changes-")), "returned.patch");
    await mkdir(dirname(patch), { recursive: true });
    await writeFile(patch, bytes, { mode: 0o600 });
    // The list of files comes from the patch itself, not from the worker that sent it.
    const listed = await origin.repository.work(["apply", "--numstat", "-z", "-p1", patch], origin.tree);
    if (!listed.ok) return notHere(listed.reason);
    const changes = listed.text.split("\0").flatMap((line): FileChange[] => {
      const path = line.split("\t")[2];
      return path ? [{ path, how: "M", isRepository: false }] : [];
    });
    const policy = parts.policyOf(call);
    const isDenied = policy && judgeChanges(policy, changes).decision === "deny";
    if (call.filesOf !== undefined && outcome.status === "ok" && !isDenied && !context.signal.aborted) {
      if (own !== undefined) await store.share(call.run, attemptPath(call), "patch");
      await inTurn(() => handToTaskAbove(call, call.filesOf!, store));
      const text = `The changes of "${call.path}" were returned to the task that started it, and are applied together with the changes of that task.`;
      context.emit({ type: "note", text });
      return { ...outcome, changes: { ...kept, applied: true } };
    }
    const base = await realpath(cwd).catch(() => cwd);
    const { claim: _claim, ...settling } = context;
    const settled = await settleChanges(
      {
        changes,
        patch,
        artifact: await artifactOfFile(patch),
        origin,
        base: call.worktree ? movedInto(call.worktree, base) : base,
        folder: join(patch, "none"), // this machine does not have the task's versions of the files
      },
      {
        call,
        isolation: { dirty: true, keep: false },
        outcome,
        policy: isDenied ? policy : createPolicy("bypass"), // the worker already judged each change
        context: settling,
        appliedBy,
        isKept: own !== undefined,
        inTurn,
        ...defined({ recorder }),
      },
    );
    if (own === undefined) await rm(dirname(patch), { recursive: true, force: true });
    else await store.share(call.run, attemptPath(call), "patch");
    const { changes: made, conflict } = settled;
    return conflict ? { ...outcome, ...conflict, changes: made } : { ...outcome, changes: made };
  };
}

/**
 * Adds the changes of a subagent to the list of its parent task, whose files it started with. Adding them again has no
 * effect.
 */
async function handToTaskAbove(call: Call, above: string, store: BringParts["store"]): Promise<void> {
  const helper = attemptPath(call);
  const known = returnedBy(await store.output(call.run, above, "returned"));
  if (known.includes(helper)) return;
  await store.keep(call.run, above, JSON.stringify([...known, helper]), "returned");
}
