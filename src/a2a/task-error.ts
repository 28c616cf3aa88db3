/** Error codes of the A2A protocol for refused requests. */
export type TaskErrorCode =
  | "not-found"
  | "not-cancelable"
  | "unsupported"
  | "bad-request"
  | "bad-address"
  | "busy"
  | "broken";

export type TaskError = Error & Readonly<{ code: TaskErrorCode }>;

/** An error for the caller; it contains no details of this machine. */
export function taskError(code: TaskErrorCode, message: string, options?: ErrorOptions): TaskError {
  return Object.assign(new Error(message, options), { name: "TaskError", code });
}

export function isTaskError(error: unknown): error is TaskError {
  return error instanceof Error && error.name === "TaskError";
}
