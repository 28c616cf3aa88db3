/** The states of a task in a pegasus log. */
export type PegasusState = "idle" | "reasoning" | "acting" | "suspended" | "completed" | "failed";

/** The records of a pegasus log that change the state of its task. */
export type PegasusEvent =
  | "TASK_CREATED"
  | "REASON_DONE"
  | "TOOL_CALL_COMPLETED"
  | "TOOL_CALL_FAILED"
  | "STEP_COMPLETED"
  | "NEED_MORE_INFO"
  | "MESSAGE_RECEIVED"
  | "TASK_SUSPENDED"
  | "TASK_RESUMED"
  | "TASK_COMPLETED"
  | "TASK_FAILED";

/** The data on which the next state of a pegasus task depends, besides the current state and the event. */
export type StateDetails = Readonly<{
  /** The state before the task was suspended. */
  suspendedState?: PegasusState;
  /** The steps of the task's plan. */
  steps?: readonly PegasusStep[];
}>;

/** A step of a plan: a tool call, the answer, or another kind. */
export type PegasusStep = Readonly<{ type?: string; completed: boolean }>;

type Next = PegasusState | ((details: StateDetails) => PegasusState);

/** The type of a step that calls a tool. After such a step the task reasons about the result. */
export const TOOL_STEP = "tool_call";

const afterStep = ({ steps = [] }: StateDetails): PegasusState => {
  if (steps.some(({ completed }) => !completed)) return "acting";
  return steps.some(({ type }) => type === TOOL_STEP) ? "reasoning" : "completed";
};

/** Every possible transition between the states of a pegasus task; no other transition is possible. */
const transitions: Readonly<Record<PegasusState, Readonly<Partial<Record<PegasusEvent, Next>>>>> = {
  idle: { TASK_CREATED: "reasoning", TASK_FAILED: "failed" },
  reasoning: {
    REASON_DONE: "acting",
    NEED_MORE_INFO: "suspended",
    TASK_SUSPENDED: "suspended",
    TASK_COMPLETED: "completed",
    TASK_FAILED: "failed",
  },
  acting: {
    TOOL_CALL_COMPLETED: afterStep,
    TOOL_CALL_FAILED: afterStep,
    STEP_COMPLETED: afterStep,
    TASK_SUSPENDED: "suspended",
    TASK_COMPLETED: "completed",
    TASK_FAILED: "failed",
  },
  suspended: {
    TASK_RESUMED: ({ suspendedState = "reasoning" }) => suspendedState,
    MESSAGE_RECEIVED: "reasoning",
    TASK_FAILED: "failed",
  },
  completed: { TASK_RESUMED: "reasoning" },
  failed: {},
};

const known: ReadonlySet<string> = new Set(Object.values(transitions).flatMap((row) => Object.keys(row)));

export function isPegasusEvent(event: string): event is PegasusEvent {
  return known.has(event);
}

/** The state after an event; `undefined` when the event is impossible in this state. */
export function nextState(
  state: PegasusState,
  event: PegasusEvent,
  details: StateDetails = {},
): PegasusState | undefined {
  const next = transitions[state][event];
  return typeof next === "function" ? next(details) : next;
}
