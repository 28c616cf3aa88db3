import { isRecord } from "../text/json.ts";
import { nextState, type TaskEvent, type TaskState } from "./task-states.ts";

/** A task as system 001 keeps it in memory. */
export type PegasusTask = Readonly<{
  id: string;
  description: string;
  inputText: string;
  source: string;
  taskType: string;
  messages: readonly unknown[];
  finalResult: unknown;
  error: string | null;
  iteration: number;
  suspendedState: TaskState | null;
}>;

/** A task of which nothing is known; one without a type is a general one. */
export const emptyTask = (id: string): PegasusTask => ({
  id,
  description: "",
  inputText: "",
  source: "",
  taskType: "general",
  messages: [],
  finalResult: null,
  error: null,
  iteration: 0,
  suspendedState: null,
});

/** Reads a log of system 001. What an older or newer version wrote besides is skipped. */
export function readPegasusLog(id: string, lines: readonly unknown[]): PegasusTask {
  return lines
    .filter(isRecord)
    .reduce<PegasusTask>(
      (task, { event, data }) => fold(task, String(event), isRecord(data) ? data : {}),
      emptyTask(id),
    );
}

type Data = Readonly<Record<string, unknown>>;

function fold(task: PegasusTask, event: string, data: Data): PegasusTask {
  const messages = Array.isArray(data["newMessages"])
    ? [...task.messages, ...(data["newMessages"] as unknown[])]
    : task.messages;
  const text = (key: string, otherwise: string): string => (typeof data[key] === "string" ? data[key] : otherwise);
  switch (event) {
    case "TASK_CREATED":
      return {
        ...task,
        description: text("description", ""),
        inputText: text("inputText", ""),
        source: text("source", ""),
        taskType: text("taskType", "general"),
      };
    case "REASON_DONE":
      return { ...task, messages, iteration: task.iteration + 1 };
    case "TASK_COMPLETED":
      return {
        ...task,
        messages,
        finalResult: data["finalResult"] ?? null,
        iteration: typeof data["iterations"] === "number" ? data["iterations"] : task.iteration,
      };
    case "TASK_FAILED":
      return { ...task, error: text("error", "") };
    case "TASK_SUSPENDED":
      return { ...task, suspendedState: "reasoning" };
    case "TASK_RESUMED":
      return { ...task, suspendedState: null };
    default:
      return task;
  }
}

/** Where such a log leaves a task, in the words of `task_list`. One that nobody works on was interrupted, not failed. */
export function pegasusStatus(
  events: readonly string[],
  owned: boolean,
): "in_progress" | "interrupted" | "completed" | "failed" {
  const last = events.reduce<TaskState>((state, event) => nextState(state, event as TaskEvent) ?? state, "idle");
  if (last === "completed" || last === "failed") return last;
  return owned ? "in_progress" : "interrupted";
}
