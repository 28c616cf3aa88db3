export const toolStatuses = ["ok", "failed", "not-started", "timeout", "cancelled"] as const;
/**
 * The final status of a tool call that was started. A refused call never starts, and the status of a call without a
 * recorded end is unknown.
 */
export type ToolStatus = (typeof toolStatuses)[number];
