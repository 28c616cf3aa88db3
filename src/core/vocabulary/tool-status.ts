/** How a call that began came to its end. One that was refused never begins, and one without an end is unknown. */
export type ToolStatus = "ok" | "failed" | "not-started" | "timeout" | "cancelled";
