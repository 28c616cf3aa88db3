import { DEFAULT_AGENT } from "../../core/delegation/roster.ts";
import { allowedText, refusedInPlan } from "../../core/delegation/spawn.ts";
import { type FailedOutcome, failed } from "../../core/outcome/outcome.ts";
import type { AnyInput } from "../../core/plan/input.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { Task } from "../../core/plan/task.ts";
import { isCrewError } from "../../core/schema/error.ts";
import type { Parent } from "../../core/task/engine.ts";
import { defined } from "../../core/text/defined.ts";
import { DEFAULT_MAX_DEPTH } from "../../core/vocabulary/limits.ts";
import type { NodeContext } from "./scope.ts";

/**
 * Checks depth, spawn policy and budget of a plan that an agent wants to start. Every delegation of a run goes through
 * this function.
 */
export async function admitPlan(
  what: AnyInput | Plan,
  { spawns }: Parent,
  { path, scope: { run, depth } }: Pick<NodeContext, "path" | "scope">,
): Promise<Plan | FailedOutcome> {
  const { maxDepth = DEFAULT_MAX_DEPTH } = run.parameters;
  if (maxDepth >= 0 && depth + 1 > maxDepth)
    return failed("DENIED", `"${path}" is at depth ${depth} and may not start other agents.`, {
      hint: "Raise maxDepth if this is intended.",
    });
  const plan = planned(() => run.compile(what));
  if ("status" in plan) return plan;
  const { nameOf = ({ agent = DEFAULT_AGENT }: Task) => agent, blocked } = run.spawning ?? {};
  const refused = refusedInPlan(plan, { spawns, ...defined({ blocked }) }, nameOf);
  if (refused)
    return failed("DENIED", `"${path}" may not start the agent "${refused.agent}".`, {
      hint:
        refused.why === "blocked"
          ? "The run was started from this agent, which must not start itself again."
          : `The \`spawns\` list of the agent behind "${path}" allows: ${allowedText(spawns)}.`,
    });
  for (const { kind } of Object.values(plan.nodes)) {
    const refusal = kind === "task" ? await run.budget.count("maxSpawns") : undefined;
    if (refusal)
      return failed("BUDGET", `"${path}" may not start more agents: ${refusal.refused}.`, {
        hint: "Raise the limit with --max-spawns.",
      });
  }
  return plan;
}

/** Compiles a plan that a model requested. An invalid request is a failed delegation, not a failed run. */
function planned(compile: () => Plan): Plan | FailedOutcome {
  try {
    return compile();
  } catch (error) {
    if (!isCrewError(error)) throw error;
    return failed("AGENT_REPORTED", error.message, { hint: error.hint });
  }
}
