import type { z } from "zod";
import { parseDuration } from "../text/duration.ts";
import type { retry as schema } from "./task.ts";

/** When a failed task is tried again; `maxAttempts` counts the first try. */
export type RetryConfig = Readonly<z.infer<typeof schema>>;

/** Maximum wait between two attempts. */
export const MAX_BACKOFF_MS = 60_000;

/**
 * Whether a task is retried after an error. `skipOn` takes precedence over `retryOn`; without `retryOn` every error is
 * retried; without a retry setting no error is.
 */
export function shouldRetry(error: string, retry?: RetryConfig | null): boolean {
  if (!retry) return false;
  const { retryOn = [], skipOn = [] } = retry;
  if (mentions(error, skipOn)) return false;
  return retryOn.length === 0 || mentions(error, retryOn);
}

/**
 * The wait after the given attempt (1 is the first): `baseMs`, doubled with each attempt, never above a minute and
 * always finite.
 */
export function calculateBackoff(baseMs: number, attempt: number): number {
  const doublings = Number.isNaN(attempt) ? 0 : attempt - 1;
  return baseMs > 0 ? Math.min(baseMs * 2 ** doublings, MAX_BACKOFF_MS) : 0;
}

/** Reads `ATTEMPTS[xDELAY]`, as in `3`, `3x500ms` or `3,1s`; `undefined` for any other text. */
export function parseRetryFlag(text: string): RetryConfig | undefined {
  const parts = /^(\d{1,3})(?:[x,](.+))?$/.exec(text.trim());
  if (parts === null) return undefined;
  const maxAttempts = Number(parts[1]);
  const backoffMs = parts[2] === undefined ? DEFAULT_BACKOFF_MS : parseDuration(parts[2]);
  if (maxAttempts < 1 || maxAttempts > MOST_ATTEMPTS || backoffMs === undefined) return undefined;
  return { maxAttempts, backoffMs };
}

const DEFAULT_BACKOFF_MS = 1_000;
const MOST_ATTEMPTS = 100;

/** True if the error contains one of the patterns; every error contains the empty pattern. */
function mentions(error: string, patterns: readonly string[]): boolean {
  const text = error.toLowerCase();
  return patterns.some((pattern) => text.includes(pattern.toLowerCase()));
}
