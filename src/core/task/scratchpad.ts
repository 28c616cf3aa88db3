/** Private state of a task between its tool calls; discarded when the task ends. */
export type Scratchpad = Readonly<{
  /** Environment variables that the task set: they are passed to commands of this task, and to nothing else. */
  env: Map<string, string>;
  todos: Todo[];
  findings: string[];
}>;

/** One to-do entry. */
export type Todo = { title: string; status: TodoStatus };

export const todoStatuses = ["pending", "in_progress", "completed", "dropped"] as const;
export type TodoStatus = (typeof todoStatuses)[number];

/** Creates an empty scratchpad. */
export function emptyScratchpad(): Scratchpad {
  return { env: new Map(), todos: [], findings: [] };
}
