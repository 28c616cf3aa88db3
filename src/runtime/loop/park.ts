import { providerFaultOf, waitAfterFault } from "../../core/model/provider-fault.ts";
import type { Fault } from "../../core/outcome/outcome.ts";
import { limitFlag, limitText } from "../../core/outcome/reached-limit.ts";
import type { BudgetRefusal } from "../../core/run/budget.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { defined } from "../../core/text/defined.ts";
import { pause } from "../async/cancel.ts";
import { untilAborted } from "../async/on-abort.ts";

/** Whether a task waited and continues (`goes on`), was stopped while it waited, or does not wait for this reason. */
export type Parked = "goes on" | "stopped" | "does not wait";

/** Waits until the provider that refused a turn may be asked again. */
export function createProviderParking(
  { model }: Pick<Assignment, "model">,
  { parks }: Pick<PerformContext, "parks">,
): (fault: Fault) => Promise<Parked> {
  let tries = 0;
  return async (fault) => {
    const waitsFor = providerFaultOf(fault);
    if (parks?.onProviderFault !== "park" || waitsFor === undefined) return "does not wait";
    tries += 1;
    const held = await model.reopening?.look();
    const waitMs = waitAfterFault(fault, waitsFor, tries);
    const at = Date.now() + waitMs;
    const times = held ?? { nextTry: at, ...(fault.retryAfterMs !== undefined && { until: at }) };
    const why = { why: fault.message, waitsFor, helps: fault.hint ?? "", ...times };
    const goesOn = await parks.park(why, async (signal) => {
      if (held && model.reopening) return model.reopening.wait(signal);
      await pause(waitMs, signal);
      return ASKS_AGAIN;
    });
    return goesOn ? "goes on" : "stopped";
  };
}

/**
 * Waits until the run may use more tokens, money or time: until a given time, or until it is resumed with a higher
 * limit.
 */
export async function parkForBudget(
  refusal: BudgetRefusal,
  { call }: Pick<Assignment, "call">,
  { parks }: Pick<PerformContext, "parks">,
): Promise<Parked> {
  if (parks?.onLimit !== "park" || !("limit" in refusal)) return "does not wait";
  const { limit, until } = refusal;
  const why = {
    why: `The run reached its limit of ${limitText(limit)}.`,
    waitsFor: "budget" as const,
    helps:
      limit.cap === undefined
        ? `Raise the limit: \`subcrew resume ${call.run} ${limitFlag(limit)} ...\`.`
        : `Raise the limit with ${limitFlag(limit)}, then \`subcrew resume ${call.run}\`.`,
    ...defined({ until, nextTry: until }),
  };
  const goesOn = await parks.park(why, async (signal) => {
    if (until === undefined) await untilAborted(signal);
    else await pause(Math.max(0, until - Date.now()), signal);
    return "the budget allows it again";
  });
  return goesOn ? "goes on" : "stopped";
}

/** The recorded reason why a parked task continues. */
export const ASKS_AGAIN = "asking the provider again";
