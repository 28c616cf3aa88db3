import type { AnyInput } from "../core/input.ts";
import { isCrewError } from "../core/error.ts";
import { failed, type Outcome } from "../core/outcome.ts";
import type { Plan } from "../core/plan.ts";
import type { Place, Scope } from "./scope.ts";
import { Slots } from "./slots.ts";

/** A task's slot, and what it may start below itself. */
export type Delegation = Readonly<{
  /** Waits for the slot unless it has it; false when the task was cancelled first. */
  hold(): Promise<boolean>;
  letGo(): void;
  delegate(what: AnyInput | Plan, ceiling: readonly string[]): Promise<Outcome>;
}>;

/**
 * Runs plans under the path of the task that asks: `lead/scout`, and `lead.2/scout` the second time.
 *
 * The task's slot is free while it waits. A lead that kept its slot while its helpers queue for one would hang
 * every run whose depth reaches the number of slots.
 */
export function createDelegation({ path, scope, signal, slot }: Pick<Place, "path" | "scope" | "signal" | "slot">): Delegation {
  let release = slot;
  let waiting = 0;
  let count = 0;

  const hold = async (): Promise<boolean> => {
    release ??= await scope.slots.take(signal);
    return release !== undefined;
  };
  const letGo = (): void => {
    release?.();
    release = undefined;
  };

  const delegate = async (what: AnyInput | Plan, ceiling: readonly string[]): Promise<Outcome> => {
    const depth = scope.depth + 1;
    if (scope.run.maxDepth >= 0 && depth > scope.run.maxDepth) {
      return failed("DENIED", `"${path}" is ${scope.depth} deep and may not start agents below it.`, { hint: "Raise maxDepth if this is meant." });
    }
    const plan = planned(() => scope.run.compile(what));
    if ("status" in plan) return plan;
    const tasks = Object.values(plan.nodes).filter(({ kind }) => kind === "task").length;
    for (let task = 0; task < tasks; task += 1) {
      const refusal = scope.run.budget.count("maxSpawns");
      if (refusal) return failed("BUDGET", `"${path}" may not start more agents: ${refusal.refused}.`, { hint: "Allow more with --max-spawns." });
    }
    count += 1;
    waiting += 1;
    if (waiting === 1) letGo();
    const { outcome } = await scope.run.execute(plan, {
      ...withoutRound(scope),
      prefix: count === 1 ? `${path}/` : `${path}.${count}/`,
      roots: [plan.output],
      outer: () => undefined,
      slots: plan.concurrency === undefined ? scope.slots : new Slots(plan.concurrency, scope.slots),
      ceiling,
      signal,
      depth,
    });
    waiting -= 1;
    if (waiting === 0 && !signal.aborted) await hold();
    return outcome;
  };
  return { hold, letGo, delegate };
}

/** What a model asked for wrongly is its failure, not the run's. */
function planned(compile: () => Plan): Plan | Outcome {
  try {
    return compile();
  } catch (error) {
    if (!isCrewError(error)) throw error;
    return failed("AGENT_REPORTED", error.message, { hint: error.hint });
  }
}

function withoutRound({ round: _round, ...scope }: Scope): Scope {
  return scope;
}
