/** What a task keeps for itself between its calls; gone when the task ends. Nobody else sees it. */
export type Scratchpad = Readonly<{
  /** Variables that the task set: they are added to the environment of what it runs, and of nothing else. */
  env: Map<string, string>;
  todos: Todo[];
  findings: string[];
}>;

/** One thing to do. */
export type Todo = { title: string; status: TodoStatus };

export const todoStatuses = ["pending", "in_progress", "completed", "dropped"] as const;
export type TodoStatus = (typeof todoStatuses)[number];

/** An empty one. */
export function emptyScratchpad(): Scratchpad {
  return { env: new Map(), todos: [], findings: [] };
}
