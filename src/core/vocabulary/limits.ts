import { defined } from "../text/defined.ts";
import { isRecord } from "../text/json.ts";
import type { ResourceLimits } from "./limits-schema.ts";

export type { ResourceLimits } from "./limits-schema.ts";

/** The default limits of an agent: turns and working time. */
export const DEFAULT_MAX_TURNS = 100;
export const DEFAULT_MAX_TIME_MS = 30 * 60_000;
/** The fraction of a limit at which a warning is given, and the smallest limit for which a warning is given. */
export const NEAR_SHARE = 0.9;
export const NEAR_MIN_TURNS = 10;
export const NEAR_MIN_MS = 60_000;
/** How long the last turn may take in which a task at a limit returns its result. */
export const GRACE_MS = 60_000;
/** How many times a task is reminded of a missing result. */
export const DEFAULT_REMINDERS = 1;
/** How long a model may send nothing at all before the request is given up. */
export const DEFAULT_MAX_IDLE_MS = 3 * 60_000;
export const DEFAULT_CONCURRENCY = 8;
/** How many levels of subagents are allowed below an agent that the run itself starts. */
export const DEFAULT_MAX_DEPTH = 2;
/** The maximum number of tasks at once that a call of the `parallel` tool can request. */
export const MAX_CONCURRENCY = 8;
/** How many items of a list are shown; the rest is hidden. */
export const COLLAPSED_ITEM_COUNT = 10;

/** The default limits of a task. */
export const DEFAULT_LIMITS: { readonly [K in keyof ResourceLimits]-?: NonNullable<ResourceLimits[K]> } = {
  maxDurationMs: DEFAULT_MAX_TIME_MS,
  maxConcurrentToolCalls: DEFAULT_CONCURRENCY,
  maxTurns: DEFAULT_MAX_TURNS,
  maxIdleMs: DEFAULT_MAX_IDLE_MS,
  graceMs: GRACE_MS,
  reminders: DEFAULT_REMINDERS,
  maxMemoryMB: Number.POSITIVE_INFINITY,
  maxCpuSeconds: Number.POSITIVE_INFINITY,
  enforceLimits: true,
};

/** Which limits may be zero, and which may have a fraction. */
const FREE: ReadonlySet<string> = new Set(["graceMs", "reminders"]);
const DIVISIBLE: ReadonlySet<string> = new Set(["maxMemoryMB", "maxCpuSeconds"]);

/**
 * The limits in a value of an agent file, or `undefined` if a limit is invalid. It checks what the schema checks, but
 * faster, because there can be many files.
 */
export function limitsIn(value: unknown): ResourceLimits | undefined {
  if (!isRecord(value)) return undefined;
  for (const [name, given] of Object.entries(value)) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name)) return undefined;
    if (given === undefined) continue;
    if (name === "enforceLimits" ? typeof given !== "boolean" : !isLimit(name, given)) return undefined;
  }
  return { ...value };
}

const isLimit = (name: string, given: unknown): boolean =>
  (DIVISIBLE.has(name) ? Number.isFinite(given) : Number.isSafeInteger(given)) &&
  Number(given) >= (FREE.has(name) ? 0 : Number.MIN_VALUE);

/** The values that a limit may have, as text; `undefined`: there is no such limit. */
export function limitWords(name: string): string | undefined {
  if (!Object.hasOwn(DEFAULT_LIMITS, name)) return undefined;
  if (name === "enforceLimits") return "true or false";
  if (FREE.has(name)) return "a whole number that is not negative";
  return `a ${DIVISIBLE.has(name) ? "" : "whole "}number above zero that is not too large`;
}

/** All limits of one task. */
export type Limits = Readonly<{
  maxTurns: number;
  maxTimeMs: number;
  maxConcurrentToolCalls: number;
  maxIdleMs: number;
  graceMs: number;
  /** How many times a task is asked again for a missing result; 0: an invalid result is not corrected either. */
  reminders: number;
  /** The memory limit in megabytes; absent: not limited. */
  maxMemoryMB?: number;
  maxCpuSeconds?: number;
  enforce: boolean;
}>;

/** Combines limits. Of each limit the smallest value applies, so that no level can widen another. */
export function narrowest(...levels: readonly (ResourceLimits | undefined)[]): ResourceLimits | undefined {
  const given = levels.filter((level) => level !== undefined);
  if (given.length < 2) return given[0];
  const narrow: { [K in keyof ResourceLimits]: number | boolean } = {};
  for (const [key, value] of given.flatMap((level) => Object.entries(level)) as [
    keyof ResourceLimits,
    number | boolean | undefined,
  ][]) {
    const before = narrow[key];
    if (value === undefined) continue;
    narrow[key] =
      typeof value === "number" && typeof before === "number" ? Math.min(value, before) : value || (before ?? false);
  }
  return narrow as ResourceLimits;
}

/** Merges limits from several levels (agent, task, settings) into the limits of one task. */
export function combineLimits(...levels: readonly (ResourceLimits | undefined)[]): Limits {
  const given = narrowest(...levels) ?? {};
  return {
    maxTurns: given.maxTurns ?? DEFAULT_MAX_TURNS,
    maxTimeMs: given.maxDurationMs ?? DEFAULT_MAX_TIME_MS,
    maxConcurrentToolCalls: given.maxConcurrentToolCalls ?? DEFAULT_CONCURRENCY,
    maxIdleMs: given.maxIdleMs ?? DEFAULT_MAX_IDLE_MS,
    graceMs: given.graceMs ?? GRACE_MS,
    reminders: given.reminders ?? DEFAULT_REMINDERS,
    ...defined({ maxMemoryMB: given.maxMemoryMB, maxCpuSeconds: given.maxCpuSeconds }),
    enforce: given.enforceLimits ?? true,
  };
}
