/** The end status of a started call. A refused call never starts, and a call without an end is unknown. */
export type ToolStatus = "ok" | "failed" | "not-started" | "timeout" | "cancelled";
