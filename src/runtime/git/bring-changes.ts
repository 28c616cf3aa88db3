import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Outcome } from "../../core/outcome/outcome.ts";
import { type FileChange, judgeChanges } from "../../core/outcome/worktree-changes.ts";
import { attemptPath, movedInto } from "../../core/plan/isolation.ts";
import { createPolicy, type Policy } from "../../core/policy/policy.ts";
import type { RunOutputs } from "../../core/run/run-store.ts";
import type { ChangeRecorder } from "../../core/task/change-recorder.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import type { Call, PerformContext, ReturnedChanges } from "../../core/task/engine.ts";
import { defined } from "../../core/text/defined.ts";
import { artifactOfFile } from "../disk/artifact-of.ts";
import { settleChanges } from "./apply-changes.ts";
import { patchOfProgress } from "./returned-changes.ts";
import { treeOfCall } from "./shared-workspace.ts";

export type BringParts = Readonly<{
  cwd: string;
  home: string | undefined;
  store: Pick<RunOutputs, "output" | "file" | "share">;
  /** The recorded events of a run that an earlier process coordinated. */
  past: readonly KeptEvent[];
  policyOf(call: Call): Policy | undefined;
  recorder?: ChangeRecorder;
}>;

/** Brings the changes of tasks on other machines into the workspace of the run, or to the task above. */
export type ChangesBringer = Readonly<{
  bring(call: Call, context: PerformContext, outcome: Outcome): Promise<Outcome>;
  /** The subagents that have returned changes to the files of a task. */
  returned(call: Call): readonly ReturnedChanges[];
}>;

/** Applies what tasks changed on other machines to the workspace of the run, one after the other. */
export function changesBringer(parts: BringParts): ChangesBringer {
  const appliedBy = new Map<string, string>();
  const returned = returnedIn(parts.past);
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  };
  const bring: ChangesBringer["bring"] = async (call, context, outcome) => {
    if (!outcome.changes) return outcome;
    const { cwd, home, store, recorder } = parts;
    const { returned: isReturned, returnedTo: _claimed, ...kept } = outcome.changes; // only this process says what was returned to whom
    if (!isReturned) return { ...outcome, changes: kept };
    const notHere = (why: string): Outcome => {
      const text = `The changes of "${call.path}" could not be applied to the workspace: ${why}. They are kept with the run.`;
      context.emit({ type: "warning", code: "CHANGES_KEPT", text });
      return { ...outcome, changes: kept };
    };
    const { hash } = kept.patch;
    const bytes = patchOfProgress(await store.output(call.run, attemptPath(call), { kind: "progress", hash }));
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
    const artifact = await artifactOfFile(patch);
    const { filesOf } = call;
    if (filesOf !== undefined && outcome.status === "ok" && !isDenied && !context.signal.aborted) {
      if (own !== undefined) await store.share(call.run, attemptPath(call), "patch");
      note(returned, filesOf.task, { path: attemptPath(call), hash });
      const text = `The changes of "${call.path}" were returned to the task that started it, and are applied together with the changes of that task.`;
      context.emit({ type: "note", text });
      const returnedTo = { task: filesOf.task, hash };
      return { ...outcome, changes: { ...kept, patch: artifact, applied: true, returnedTo } };
    }
    const base = await realpath(cwd).catch(() => cwd);
    const { claim: _claim, ...settling } = context;
    const settled = await settleChanges(
      {
        changes,
        patch,
        artifact,
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
  return { bring, returned: (call) => returned.get(attemptPath(call)) ?? [] };
}

type ReturnedByTask = Map<string, readonly ReturnedChanges[]>;

/** The changes that subagents had returned when an earlier process coordinated the run, by the task above. */
function returnedIn(past: readonly KeptEvent[]): ReturnedByTask {
  const found: ReturnedByTask = new Map();
  const attempts = new Map<string, number>();
  for (const event of past) {
    if (event.type === "node.started") attempts.set(event.path, event.attempt);
    const to = event.type === "node.ended" ? event.outcome.changes?.returnedTo : undefined;
    const path = attemptPath({ path: event.path, attempt: attempts.get(event.path) ?? 1 });
    if (to) note(found, to.task, { path, hash: to.hash });
  }
  return found;
}

/** Adds the changes of a subagent to those of the task above. A repeated attempt replaces its changes. */
function note(all: ReturnedByTask, task: string, one: ReturnedChanges): void {
  all.set(task, [...(all.get(task) ?? []).filter(({ path }) => path !== one.path), one]);
}
