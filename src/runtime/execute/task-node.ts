import { canRetry, failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { TaskNode } from "../../core/plan/plan.ts";
import { fillIn, type Lookup, outputOfNode } from "../../core/schedule/fill-references.ts";
import { messageOf } from "../../core/schema/error.ts";
import type { UnawaitedHelpers, Call } from "../../core/task/engine.ts";
import { defined } from "../../core/text/defined.ts";
import { fill } from "../../core/text/template.ts";
import { reasonOf } from "../async/cancel.ts";
import { createAskPerson } from "./ask-person.ts";
import { createDelegation } from "./delegate.ts";
import { withRetry } from "./retry.ts";
import type { NodeContext, PlanScope } from "./scope.ts";
import { sendTo, postMessage } from "./send-message.ts";

/** By how much a wait is stretched at random, so that many do not come back at once. */
const JITTER = 0.25;

/** Hands a task to the engine once it has a slot, and again as its retry rule says. */
export async function carryOutTask(node: TaskNode, place: NodeContext): Promise<Outcome> {
  const { path, scope, signal } = place;
  const { run } = scope;
  const { next, used, underWay } = run.history.attempts(path);
  const numberOf = (n: number): number => next + n - used - 1;
  const call = callFor(node, place);
  const delegation = createDelegation(place);

  const attempt = async (n: number): Promise<Outcome> => {
    if (!(await delegation.begin())) return { status: "cancelled", reason: reasonOf(signal) };
    const { label, agent } = node.task;
    const attempt = numberOf(n);
    run.emit(path, {
      type: "node.started",
      attempt,
      kind: "task",
      prompt: call.task.prompt,
      ...defined({ label, agent, continues: node.task.continues }),
    });
    run.mailbox.open(path);
    let resumed = underWay && attempt === next;
    try {
      return await run.engine.perform(
        { ...call, attempt },
        {
          signal,
          emit: (fact) => run.emit(path, fact),
          live: (delta) => run.live(path, delta),
          durable: () => run.durable(),
          delegate: delegation.delegate,
          background: outliving(delegation.background, scope),
          ...defined({ agents: run.agents }),
          send: async (to, text) => sendTo(run, { to, text, from: path }),
          ...createAskPerson(place),
          budget: run.budget,
          mail: async (wait) => {
            if (resumed) delegation.lost();
            resumed = false;
            const waiting = run.mailbox.take(path);
            if (waiting.length > 0 || !wait || !(await delegation.news(wait))) return waiting;
            return run.mailbox.take(path);
          },
          onUrgent: (rung) => run.mailbox.listen(path, rung),
          tell: (text) =>
            void (
              postMessage(run, scope.caller ?? "", { text, from: path }) || postMessage(run, "", { text, from: path })
            ),
          past: underWay && attempt === next ? run.history.events(path) : [],
        },
      );
    } catch (thrown) {
      return failed("CRASHED", `The task broke: ${messageOf(thrown)}`);
    } finally {
      run.mailbox.close(path);
      await delegation.end();
    }
  };

  return withRetry<Outcome>({
    retry: node.task.retry,
    used,
    attempt,
    errorOf: (outcome) => (outcome.status === "failed" && canRetry(outcome.fault) ? outcome.fault.message : undefined),
    wait: async (backoffMs, n, outcome) => {
      if (signal.aborted) return stoppedAfter(outcome, signal);
      const asked = outcome.status === "failed" ? (outcome.fault.retryAfterMs ?? 0) : 0;
      const delayMs = Math.round(Math.max(asked, backoffMs) * (1 + run.random() * JITTER));
      run.emit(path, { type: "node.retried", attempt: numberOf(n), outcome, delayMs });
      delegation.releaseSlot();
      await run.engine.sleep(`${run.id}/${path}#${numberOf(n)}`, delayMs, signal);
      return signal.aborted ? stoppedAfter(outcome, signal) : undefined;
    },
  });
}

/** Where the run has helpers that outlive it, a task that a person started leaves to them what it need not hear of itself. */
function outliving(own: UnawaitedHelpers, { run, depth }: PlanScope): UnawaitedHelpers {
  const others = run.background;
  if (!others || depth > 0) return own;
  return {
    start: (what, parent, tells) => (tells === "result" ? own : others).start(what, parent, tells),
    ended: async (key, signal) => (await others.ended(key, signal)) ?? own.ended(key, signal),
    stop: async (key, reason) => (await others.stop(key, reason)) || own.stop(key, reason),
  };
}

/** What a task is asked: its references filled in, and in a later round of a loop, what is to be revised. */
export function promptFor(node: TaskNode, { round }: PlanScope, lookup: Lookup): string {
  const asked = fillIn(node, lookup);
  if (!round || node.task.revise === undefined) return asked;
  return fill(
    node.task.revise,
    new Map([
      ["task", asked],
      ["output", round.output],
      ["feedback", round.feedback],
    ]),
  );
}

/** The call for a task, and what it was promised attached. */
function callFor(node: TaskNode, place: NodeContext): Call {
  const { path, scope, outcomeOf } = place;
  const { refs: _refs, include = [], revise: _revise, ...task } = node.task;
  const attachments = include.map((id) => ({ title: id, text: outputOfNode(outcomeOf(id)) }));
  return {
    run: scope.run.id,
    path,
    attempt: 1,
    task: { ...task, prompt: promptFor(node, scope, place) },
    attachments,
    context: scope.run.context,
    depth: scope.depth,
    maxDepth: scope.run.maxDepth,
    ...defined({
      ceiling: scope.ceiling,
      policy: scope.policy,
      worktree: scope.worktree,
      parentModel: scope.parentModel,
    }),
  };
}

/** A task that was to be tried again and was stopped has not failed. */
function stoppedAfter(outcome: Outcome, signal: AbortSignal): Outcome {
  const output = "output" in outcome ? outcome.output : undefined;
  return { status: "cancelled", reason: reasonOf(signal), ...defined({ output }) };
}
