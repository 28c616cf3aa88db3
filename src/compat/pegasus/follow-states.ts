import { isRecord } from "../../core/text/json.ts";
import { nextState, type PegasusEvent, type PegasusState, type PegasusStep, TOOL_STEP } from "./pegasus-states.ts";

/** Follows the state of a task through its log. The function returns false for a record that is out of order. */
export function followStates(): (event: PegasusEvent, data: Readonly<Record<string, unknown>>) => boolean {
  let state: PegasusState = "idle";
  let suspendedState: PegasusState = "reasoning";
  let steps: readonly PegasusStep[] = [];
  let isToolBefore = false;
  return (event, data) => {
    const isTool = event === "TOOL_CALL_COMPLETED" || event === "TOOL_CALL_FAILED";
    // A log does not have to name the plan, so the number of calls in one round may be unknown.
    if (isTool && isToolBefore && state === "reasoning") state = "acting";
    isToolBefore = isTool;
    if (event === "REASON_DONE") steps = stepsIn(data);
    if (isTool || event === "STEP_COMPLETED") steps = afterOne(steps);
    const next = nextState(state, event, { suspendedState, steps });
    if (next === undefined) return false;
    if (next === "suspended") suspendedState = state;
    // The task ends with its record TASK_COMPLETED, not with the last step.
    state = next === "completed" && event !== "TASK_COMPLETED" ? "acting" : next;
    return true;
  };
}

/** The steps of the plan in a record. If the record has no plan, its tool calls are the steps. */
function stepsIn({ plan, newMessages }: Readonly<Record<string, unknown>>): PegasusStep[] {
  const steps = isRecord(plan) && Array.isArray(plan["steps"]) ? plan["steps"].filter(isRecord) : [];
  if (steps.length > 0)
    return steps.map(({ actionType, completed }) => ({ type: String(actionType), completed: completed === true }));
  const messages = Array.isArray(newMessages) ? newMessages.filter(isRecord) : [];
  return messages.flatMap(({ toolCalls }) =>
    Array.isArray(toolCalls) ? toolCalls.map(() => ({ type: TOOL_STEP, completed: false })) : [],
  );
}

/**
 * The steps with the first open step marked as completed. Without known steps, the plan counts as a single completed
 * tool call.
 */
function afterOne(steps: readonly PegasusStep[]): readonly PegasusStep[] {
  if (steps.length === 0) return [{ type: TOOL_STEP, completed: true }];
  const open = steps.findIndex(({ completed }) => !completed);
  return steps.map((step, at) => (at === open ? { ...step, completed: true } : step));
}
