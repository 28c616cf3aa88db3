import type { Event } from "./event.ts";

/** The states of a task, as system 001 names them. */
export const taskStates = ["idle", "reasoning", "acting", "suspended", "completed", "failed"] as const;
export type TaskState = (typeof taskStates)[number];

/** What happens to a task, as system 001 names it. */
export type TaskEvent =
  | "TASK_CREATED"
  | "REASON_DONE"
  | "TOOL_CALL_COMPLETED"
  | "TOOL_CALL_FAILED"
  | "STEP_COMPLETED"
  | "NEED_MORE_INFO"
  | "TASK_SUSPENDED"
  | "TASK_RESUMED"
  | "TASK_COMPLETED"
  | "TASK_FAILED";

/** What a transition may depend on besides the state. */
export type TaskPlace = Readonly<{
  /** Where it was when it was suspended. */
  suspendedState?: TaskState;
  /** What is still to be done. */
  steps?: readonly Readonly<{ type?: string; completed: boolean }>[];
}>;

type Next = TaskState | ((place: TaskPlace) => TaskState);

const afterStep = ({ steps = [] }: TaskPlace): TaskState => {
  if (steps.some(({ completed }) => !completed)) return "acting";
  return steps.length > 0 && steps.every(({ type }) => type === "respond") ? "completed" : "reasoning";
};

/** Every transition there is; what is not in here cannot happen. */
const transitions: Readonly<Record<TaskState, Readonly<Partial<Record<TaskEvent, Next>>>>> = {
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
    NEED_MORE_INFO: "suspended",
    TASK_SUSPENDED: "suspended",
    TASK_COMPLETED: "completed",
    TASK_FAILED: "failed",
  },
  suspended: { TASK_RESUMED: ({ suspendedState = "reasoning" }) => suspendedState, TASK_FAILED: "failed" },
  completed: { TASK_RESUMED: "reasoning" },
  failed: {},
};

/** Where an event leads from here; `undefined` when it cannot happen here. */
export function nextState(state: TaskState, event: TaskEvent, place: TaskPlace = {}): TaskState | undefined {
  const next = transitions[state][event];
  return typeof next === "function" ? next(place) : next;
}

/** States that nothing follows on, that can be gone on with, and that can be interrupted. */
export const stateClasses = {
  terminal: taskStates.filter((state) => Object.keys(transitions[state]).length === 0),
  resumable: taskStates.filter((state) => state !== "suspended" && transitions[state].TASK_RESUMED !== undefined),
  suspendable: taskStates.filter((state) => transitions[state].TASK_SUSPENDED !== undefined),
} as const;

/** The state of every task of a run: a view of its events. What asks is suspended until it is answered. */
export function taskStatesOf(events: Iterable<Event>): Map<string, TaskState> {
  const states = new Map<string, TaskState>();
  const before = new Map<string, TaskState>();
  for (const event of events) {
    const now = states.get(event.path);
    const next = stateAfter(event, before.get(event.path));
    if (next === undefined || event.path === "") continue;
    if (next === "suspended" && now !== undefined) before.set(event.path, now);
    states.set(event.path, next);
  }
  return states;
}

function stateAfter(event: Event, before: TaskState | undefined): TaskState | undefined {
  switch (event.type) {
    case "node.started":
      return "idle";
    case "turn.started":
      return "reasoning";
    case "tool.started":
      return "acting";
    case "gate.opened":
      return "suspended";
    case "gate.answered":
      return before ?? "acting";
    case "node.ended":
      return event.outcome.status === "ok"
        ? "completed"
        : event.outcome.status === "cancelled"
          ? "suspended"
          : "failed";
    default:
      return undefined;
  }
}
