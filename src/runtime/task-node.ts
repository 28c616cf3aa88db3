import type { Call } from "../core/engine.ts";
import { canRetry, type Outcome } from "../core/outcome.ts";
import type { TaskNode } from "../core/plan.ts";
import { fill } from "../core/template.ts";
import { reasonOf } from "./cancel.ts";
import { createDelegation } from "./delegate.ts";
import { fillIn, outputOf } from "./fill-in.ts";
import { withRetry } from "./retry.ts";
import type { Place } from "./scope.ts";

/** By how much a wait is stretched at random, so that many do not come back at once. */
const JITTER = 0.25;

/** Hands a task to the engine once it has a slot, and again as its retry rule says. */
export async function carryOutTask(node: TaskNode, place: Place): Promise<Outcome> {
  const { path, scope, signal } = place;
  const { run } = scope;
  const past = run.history.attempts(path);
  const before = past.ended ? past.begun : Math.max(0, past.begun - 1);
  const call = callFor(node, place);
  const delegation = createDelegation(place);

  const attempt = async (n: number): Promise<Outcome> => {
    if (!(await delegation.hold())) return { status: "cancelled", reason: reasonOf(signal) };
    const { label, agent } = node.task;
    const attempt = before + n;
    run.emit(path, {
      type: "node.started",
      attempt,
      kind: "task",
      prompt: call.task.prompt,
      ...(label !== undefined && { label }),
      ...(agent !== undefined && { agent }),
    });
    const outcome = await run.engine.perform(
      { ...call, attempt },
      {
        signal,
        emit: (fact) => run.emit(path, fact),
        live: (delta) => run.live(path, delta),
        durable: () => run.durable(),
        delegate: delegation.delegate,
        budget: run.budget,
        past: n === 1 && !past.ended ? run.history.events(path) : [],
      },
    );
    delegation.letGo();
    return outcome;
  };

  return withRetry<Outcome>({
    retry: node.task.retry,
    attempt,
    errorOf: (outcome) => (outcome.status === "failed" && canRetry(outcome.fault) ? outcome.fault.message : undefined),
    wait: async (backoffMs, n, outcome) => {
      const asked = outcome.status === "failed" ? (outcome.fault.retryAfterMs ?? 0) : 0;
      const delayMs = Math.round(Math.max(asked, backoffMs) * (1 + run.random() * JITTER));
      run.emit(path, { type: "node.retried", attempt: before + n, outcome, delayMs });
      await run.engine.sleep(`${run.id}/${path}#${before + n}`, delayMs, signal);
      return !signal.aborted;
    },
  });
}

/** The call for a task: its references filled in, and what it was promised attached. */
function callFor(node: TaskNode, place: Place): Call {
  const { path, scope, outcomeOf } = place;
  const { refs: _refs, include = [], revise, ...task } = node.task;
  const asked = fillIn(node, place);
  const prompt =
    scope.round && revise !== undefined
      ? fill(revise, new Map([["task", asked], ["output", scope.round.output], ["feedback", scope.round.feedback]]))
      : asked;
  const attachments = include.map((id) => ({ title: id, text: outputOf(outcomeOf(id)) }));
  return { run: scope.run.id, path, attempt: 1, task: { ...task, prompt }, attachments, context: scope.run.context, depth: scope.depth, ...(scope.ceiling && { ceiling: scope.ceiling }) };
}
