import { z } from "zod";

/** The limits of a task, with the names that pi-parallel-agents uses, as they are written in inputs of every mode. */
export const resourceLimits = z.strictObject({
  maxDurationMs: z.number().int().positive().optional().describe("how long the task may take, in milliseconds"),
  maxConcurrentToolCalls: z.number().int().positive().optional().describe("how many tool calls of a turn run at once"),
  maxTurns: z.number().int().positive().optional().describe("how many model turns the task may take"),
  maxIdleMs: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("idle timeout: how long a model may send nothing, in milliseconds"),
  maxMemoryMB: z.number().positive().optional().describe("memory of the task and everything it starts, in megabytes"),
  maxCpuSeconds: z.number().positive().optional().describe("CPU time of the task and everything it starts, in seconds"),
  graceMs: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe("how long the last turn may take in which a task at a limit returns its result, in milliseconds"),
  reminders: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe("how many times an agent is asked again when it returns no result; 0: nor when its result is not valid"),
  enforceLimits: z.boolean().optional().describe("false: exceeded limits are reported, not enforced"),
});
export type ResourceLimits = z.infer<typeof resourceLimits>;
