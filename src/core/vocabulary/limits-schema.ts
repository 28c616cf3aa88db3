import { z } from "zod";

/** The limits of system 003, as they are written in inputs of every mode. */
export const resourceLimits = z.strictObject({
  maxDurationMs: z.number().int().positive().optional().describe("how long the task may take, in milliseconds"),
  maxConcurrentToolCalls: z.number().int().positive().optional().describe("how many tool calls of a turn run at once"),
  maxTurns: z.number().int().positive().optional().describe("how many model turns the task may take"),
  maxIdleMs: z.number().int().positive().optional().describe("how long a model may send nothing, in milliseconds"),
  maxMemoryMB: z
    .number()
    .positive()
    .optional()
    .describe("how much memory the task and all that it starts may use, in megabytes"),
  maxCpuSeconds: z
    .number()
    .positive()
    .optional()
    .describe("how much processor time the task and all that it starts may use"),
  graceMs: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe("how long the one turn after a limit may take, in milliseconds"),
  reminders: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe("how often an agent that hands in nothing, or nothing valid, is asked again"),
  enforceLimits: z.boolean().optional().describe("false: a limit that is passed is reported, not enforced"),
});
export type ResourceLimits = z.infer<typeof resourceLimits>;
