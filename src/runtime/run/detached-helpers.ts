import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { AnyInput } from "../../core/plan/input.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { Result } from "../../core/run/result.ts";
import type { UnawaitedHelpers, DelegationOutcome, Parent } from "../../core/task/engine.ts";
import { defined } from "../../core/text/defined.ts";
import { unlessAborted } from "../async/unless-aborted.ts";
import { filesOf } from "../execute/background-helpers.ts";
import type { Run } from "./run.ts";

/**
 * The parts for subagents that continue after a run: how they are started, their permissions, and where their outputs
 * are stored.
 */
export type DetachedHelperParts = Readonly<{
  plan(what: AnyInput | Plan): Plan;
  run(plan: Plan, parent: Parent): Run;
  file?(run: string, path: string): Promise<string | undefined>;
  /** Called when a subagent's run has ended. */
  ended?(run: Run): void;
}>;

/**
 * Subagents that continue after the run that started them has ended. Each is a separate run with the permissions of its
 * parent. They live as long as this process, and their results are stored like the results of any run.
 */
export function createDetachedHelpers({ plan: compile, run, file, ended }: DetachedHelperParts): UnawaitedHelpers {
  const runs = new Map<string, { readonly run: Run; over: boolean }>();
  return {
    start: async (what, parent) => {
      const plan = compile(what);
      const it = run(plan, parent);
      const key = `${it.id}/`;
      const kept = { run: it, over: false };
      runs.set(key, kept);
      const over = (): void => {
        kept.over = true;
        ended?.(it);
      };
      it.then(over, over);
      return { key, run: it.id, under: "", files: await filesOf(plan, async (id) => file?.(it.id, id)) };
    },
    ended: async (key, signal) => {
      const kept = runs.get(key);
      if (!kept) return undefined;
      const result = await unlessAborted(kept.run.then(delegatedOf, brokenRun), signal);
      return result;
    },
    stop: async (key, reason) => {
      const kept = runs.get(key);
      if (!kept || kept.over) return false;
      kept.run.cancel(reason);
      return true;
    },
  };
}

/** The result of the separate run of a subagent, as it is reported to the agent that started it. */
export function delegatedOf(result: Result): DelegationOutcome {
  return { ...outcomeOf(result), run: result.id, under: "", nodes: result.nodes };
}

const brokenRun = (thrown: unknown): DelegationOutcome =>
  failed("CRASHED", `The task did not start: ${String(thrown)}`);

function outcomeOf({ status, output, data, fault, from, approved }: Result): Outcome {
  const told = { output, ...defined({ data, approved }) };
  if (status === "ok") return { status, ...told, ...defined({ from }) };
  return status === "failed" && fault
    ? { status, fault, ...told }
    : { status: "cancelled", reason: status === "paused" ? "it was paused" : "it was stopped", output };
}
