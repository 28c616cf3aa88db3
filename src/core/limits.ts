import { z } from "zod";

/** How long an agent may work when nothing else is said. */
export const DEFAULT_MAX_TURNS = 30;
export const DEFAULT_MAX_TIME_MS = 5 * 60_000;
/** How long the one turn lasts in which an agent that hit a limit hands in what it has. */
export const GRACE_MS = 60_000;
/** How long a model may send nothing at all before the call is given up. */
export const DEFAULT_MAX_IDLE_MS = 3 * 60_000;
export const DEFAULT_CONCURRENCY = 8;
/** How deep agents may start agents. */
export const DEFAULT_MAX_DEPTH = 2;
/** How many tasks at once the `parallel` tool may be asked for. */
export const MAX_CONCURRENCY = 8;
/** How many items of a list are shown before the rest is folded away. */
export const COLLAPSED_ITEM_COUNT = 10;

/** The limits of system 003, as they are written in inputs of every mode. */
export const resourceLimits = z.strictObject({
  maxDurationMs: z.number().int().positive().optional().describe("how long the task may take, in milliseconds"),
  maxConcurrentToolCalls: z.number().int().positive().optional().describe("how many tool calls of a turn run at once"),
  maxTurns: z.number().int().positive().optional().describe("how many model turns the task may take"),
  maxIdleMs: z.number().int().positive().optional().describe("how long a model may send nothing, in milliseconds"),
  maxMemoryMB: z.number().positive().optional().describe("how much memory the task and all that it starts may use, in megabytes"),
  maxCpuSeconds: z.number().positive().optional().describe("how much processor time the task and all that it starts may use"),
  graceMs: z.number().int().nonnegative().optional().describe("how long the one turn after a limit may take, in milliseconds"),
  enforceLimits: z.boolean().optional().describe("false: a limit that is passed is reported, not enforced"),
});
export type ResourceLimits = z.infer<typeof resourceLimits>;

/** What each of them is when nobody says anything. */
export const DEFAULT_LIMITS: { readonly [K in keyof ResourceLimits]-?: NonNullable<ResourceLimits[K]> } = {
  maxDurationMs: DEFAULT_MAX_TIME_MS,
  maxConcurrentToolCalls: DEFAULT_CONCURRENCY,
  maxTurns: DEFAULT_MAX_TURNS,
  maxIdleMs: DEFAULT_MAX_IDLE_MS,
  graceMs: GRACE_MS,
  maxMemoryMB: Number.POSITIVE_INFINITY,
  maxCpuSeconds: Number.POSITIVE_INFINITY,
  enforceLimits: true,
};

/** What bounds one task, complete. */
export type Limits = Readonly<{
  maxTurns: number;
  maxTimeMs: number;
  maxConcurrentToolCalls: number;
  maxIdleMs: number;
  graceMs: number;
  /** Absent: nobody looks. */
  maxMemoryMB?: number;
  maxCpuSeconds?: number;
  enforce: boolean;
}>;

/** Limits combine by minimum: nobody can widen what another level narrowed. */
export function narrowest(...levels: readonly (ResourceLimits | undefined)[]): ResourceLimits | undefined {
  const given = levels.filter((level) => level !== undefined);
  if (given.length < 2) return given[0];
  const narrow: { [K in keyof ResourceLimits]: number | boolean } = {};
  for (const [key, value] of given.flatMap((level) => Object.entries(level)) as [keyof ResourceLimits, number | boolean | undefined][]) {
    const before = narrow[key];
    if (value === undefined) continue;
    narrow[key] = typeof value === "number" && typeof before === "number" ? Math.min(value, before) : value || (before ?? false);
  }
  return narrow as ResourceLimits;
}

/** What bounds a task of which these levels say something. */
export function combineLimits(...levels: readonly (ResourceLimits | undefined)[]): Limits {
  const given = narrowest(...levels) ?? {};
  return {
    maxTurns: given.maxTurns ?? DEFAULT_MAX_TURNS,
    maxTimeMs: given.maxDurationMs ?? DEFAULT_MAX_TIME_MS,
    maxConcurrentToolCalls: given.maxConcurrentToolCalls ?? DEFAULT_CONCURRENCY,
    maxIdleMs: given.maxIdleMs ?? DEFAULT_MAX_IDLE_MS,
    graceMs: given.graceMs ?? GRACE_MS,
    ...(given.maxMemoryMB !== undefined && { maxMemoryMB: given.maxMemoryMB }),
    ...(given.maxCpuSeconds !== undefined && { maxCpuSeconds: given.maxCpuSeconds }),
    enforce: given.enforceLimits ?? true,
  };
}
