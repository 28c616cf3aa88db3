/**
 * Makes the id of the task at a position: its index, then the first 20 characters of its name with special characters
 * replaced by `_`. A task without a name gets its position as name.
 */
export function taskId(index: number, name?: string): string {
  return `${index}-${(name || `task_${index}`).slice(0, NAME_CHARS).replace(/[^A-Za-z0-9_-]/g, "_")}`;
}

const NAME_CHARS = 20;
