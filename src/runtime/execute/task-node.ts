import { LONGEST_TOLD_MS } from "../../core/model/provider-fault.ts";
import { canRetry, type Fault, type Outcome } from "../../core/outcome/outcome.ts";
import type { Worktree } from "../../core/plan/isolation.ts";
import type { TaskNode } from "../../core/plan/plan.ts";
import type { NodeStarted } from "../../core/run/history.ts";
import { outputOfNode } from "../../core/schedule/fill-references.ts";
import { crashed } from "../../core/task/crash.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import { defined } from "../../core/text/defined.ts";
import { DEFAULT_MAX_DEPTH } from "../../core/vocabulary/limits.ts";
import { reasonOf } from "../async/cancel.ts";
import { createAskPerson } from "./ask-person.ts";
import { Delegation } from "./delegate.ts";
import { createParks, untilAgentFound } from "./park-task.ts";
import { withRetry } from "../async/retry.ts";
import type { NodeContext, PlanScope } from "./scope.ts";
import { postMessage, sendTo } from "./send-message.ts";
import { judges, promptFor, revises, withChangedFiles } from "./task-prompt.ts";

/** The share by which a wait is extended at random, so that many tasks do not retry at once. */
const JITTER = 0.25;

/** The retry setting for reviews: a failed review is retried once. */
const REVIEW_RETRY = { maxAttempts: 2, backoffMs: 250 } as const;

/** Runs a task: one attempt, and further attempts according to its retry setting. */
export async function runTask(node: TaskNode, context: NodeContext): Promise<Outcome> {
  const { path, scope, signal } = context;
  const { run } = scope;
  const { next, used, underWay } = run.history.attempts(path);
  const numberOf = (n: number): number => next + n - used - 1;
  const base = await baseOf(node, scope);
  if (base && "status" in base) return base;
  const planned = callFor(node, context);
  const rereads = planned.review === true || revises(node, path, scope);
  const call = { ...(rereads ? await withChangedFiles(planned, scope) : planned), ...defined({ worktree: base }) };
  const delegation = new Delegation(context);
  return withRetry<Outcome>({
    retry: node.task.retry ?? (call.review ? REVIEW_RETRY : undefined),
    used,
    attempt: (n) => {
      const attempt = numberOf(n);
      return attemptTask({ ...call, attempt }, { context, delegation, isResumed: underWay && attempt === next });
    },
    errorOf: (outcome) =>
      outcome.status === "failed" && canRetry(outcome.fault) && !asksTooMuch(outcome.fault)
        ? outcome.fault.message
        : undefined,
    wait: async (backoffMs, n, outcome) => {
      if (signal.aborted) return stoppedAfter(outcome, signal);
      const asked = outcome.status === "failed" ? (outcome.fault.retryAfterMs ?? 0) : 0;
      const delayMs = Math.round(Math.max(asked, backoffMs) * (1 + run.random() * JITTER));
      run.emit(path, { type: "node.retried", attempt: numberOf(n), outcome, delayMs });
      delegation.slot.release();
      await run.engine.sleep(`${run.id}/${path}#${numberOf(n)}`, delayMs, signal);
      return signal.aborted ? stoppedAfter(outcome, signal) : undefined;
    },
  });
}

/** True when the other side asks for such a long wait that a failure is more useful than another attempt. */
const asksTooMuch = ({ retryAfterMs = 0 }: Fault): boolean => !(retryAfterMs <= LONGEST_TOLD_MS);

/** The worktree that a task works in; for an isolated task, the worktree that receives its changes. */
async function baseOf({ task }: TaskNode, { run, worktree, gather, depth }: PlanScope): Promise<BaseTree> {
  return gather && run.worktrees?.isolationOf(task, depth) ? gather() : worktree;
}

type BaseTree = Worktree | Outcome | undefined;

/** Context of one attempt; `isResumed`: an earlier process recorded the beginning of this attempt. */
type Attempt = Readonly<{ context: NodeContext; delegation: Delegation; isResumed: boolean }>;

/** Passes one attempt to the engine as soon as the task has a slot. */
async function attemptTask(call: Call, { context, delegation, isResumed }: Attempt): Promise<Outcome> {
  const { path, scope, signal } = context;
  const { run } = scope;
  if (!(await delegation.begin(call.attempt))) return { status: "cancelled", reason: reasonOf(signal) };
  const { label, agent, continues, prompt } = call.task;
  run.emit(path, {
    type: "node.started",
    attempt: call.attempt,
    kind: "task",
    prompt,
    ...defined({ label, agent, continues }),
    ...beginningOf(call),
  });
  run.mailbox.open(path);
  const parks = createParks(context, delegation.slot);
  let tellsLost = isResumed;
  try {
    if (!(await untilAgentFound(call.task, context, delegation.slot)))
      return { status: "cancelled", reason: reasonOf(signal) };
    return await run.engine.perform(call, {
      signal,
      emit: (fact) => run.emit(path, fact),
      live: (delta) => run.live(path, delta),
      durable: () => run.durable(),
      delegate: (...asked) => delegation.delegate(...asked),
      background: delegation.background,
      ...defined({ agents: run.agents }),
      send: async (to, text) =>
        sendTo(run, { to: to.startsWith(`${run.id}/`) ? to.slice(run.id.length + 1) : to, text, from: path }),
      ...createAskPerson(context),
      budget: run.budget,
      ...defined({ parks }),
      claim: context.claim,
      mail: async (wait) => {
        if (tellsLost) delegation.lost();
        tellsLost = false;
        const waiting = run.mailbox.take(path);
        if (waiting.length > 0 || !wait || !(await delegation.news(wait))) return waiting;
        return run.mailbox.take(path);
      },
      onUrgent: (rung) => run.mailbox.listen(path, rung),
      tell: (text) =>
        void (postMessage(run, scope.caller ?? "", { text, from: path }) || postMessage(run, "", { text, from: path })),
      past: pastOf(path, run, isResumed),
    });
  } catch (thrown) {
    return crashed(thrown, call);
  } finally {
    run.mailbox.close(path);
    await delegation.end();
  }
}

/** The part of a task's start event that describes how its conversation began, except the prompt. */
function beginningOf({ attachments, depth, resumes, review, task }: Call): Partial<NodeStarted> {
  const { label: _label, agent: _agent, continues: _continues, prompt: _prompt, ...settings } = task;
  return {
    ...(attachments.length > 0 && { attached: attachments.map(({ title, path }) => ({ title, path })) }),
    ...defined({ review, resumes: resumes?.path }),
    ...(depth > 0 && Object.keys(settings).length > 0 && { task: settings }),
  };
}

/**
 * The recorded events of an attempt, for the process that continues it. A process that takes over later also gets the
 * events recorded since.
 */
function pastOf(path: string, run: PlanScope["run"], isResumed: boolean): PerformContext["past"] {
  let asked = false;
  return async () => {
    if (asked && run.recorded) return run.recorded(path);
    asked = true;
    return isResumed ? run.history.events(path) : [];
  };
}

/** The request to execute a task, with the attached outputs of other nodes. */
function callFor(node: TaskNode, context: NodeContext): Call {
  const { path, scope, outcomeOf } = context;
  const { refs: _refs, include = [], revise: _revise, resumes, ...task } = node.task;
  const from = resumes === undefined ? undefined : context.pathOf?.(resumes);
  const attachments = include.map((id) => ({
    title: id,
    path: context.pathOf?.(id) ?? id,
    text: outputOfNode(outcomeOf(id)),
  }));
  return {
    run: scope.run.id,
    path,
    attempt: 1,
    task: {
      ...task,
      prompt: promptFor(node, path, { scope, lookup: context }),
      ...(scope.round && { isolationDirty: true }), // in a later round, the task revises uncommitted changes of the earlier rounds
    },
    attachments,
    context: scope.run.context,
    ...defined({ environment: scope.run.environment }),
    ...(resumes !== undefined &&
      from !== undefined && {
        resumes: { path: from, prompt: context.promptOf(resumes), output: outputOfNode(outcomeOf(resumes)) },
      }),
    ...(judges(path, scope) && { review: true }),
    depth: scope.depth,
    maxDepth: scope.run.parameters.maxDepth ?? DEFAULT_MAX_DEPTH,
    ...defined({
      ceiling: scope.ceiling,
      policy: scope.policy,
      filesOf: scope.filesOf,
      parentModel: scope.parentModel,
      fork: scope.conversation,
    }),
  };
}

/** A task that is stopped during a retry wait is cancelled, not failed. */
function stoppedAfter(outcome: Outcome, signal: AbortSignal): Outcome {
  const output = "output" in outcome ? outcome.output : undefined;
  return { status: "cancelled", reason: reasonOf(signal), ...defined({ output }) };
}
