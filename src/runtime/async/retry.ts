import { calculateBackoff, type RetryConfig, shouldRetry } from "../../core/plan/retry.ts";

/** The options of a retry loop. */
export type RetryOptions<T> = Readonly<{
  retry: RetryConfig | undefined;
  /** The number of attempts that were used before the run was resumed. */
  used?: number;
  /** Makes an attempt; `n` is 1 for the first attempt. */
  attempt(n: number): Promise<T>;
  /** The error of a result, or `undefined` for a success. */
  errorOf(result: T): string | undefined;
  /** Waits before the next attempt. A result that it returns ends the retries. */
  wait(delayMs: number, n: number, result: T): Promise<T | undefined>;
}>;

/** Retries until an attempt succeeds, the last attempt has failed, or an error is not to be retried. */
export async function withRetry<T>({ retry, used = 0, attempt, errorOf, wait }: RetryOptions<T>): Promise<T> {
  for (let n = used + 1; ; n += 1) {
    const result = await attempt(n);
    const error = errorOf(result);
    if (error === undefined || !retry || n >= retry.maxAttempts || !shouldRetry(error, retry)) return result;
    const end = await wait(calculateBackoff(retry.backoffMs, n), n, result);
    if (end !== undefined) return end;
  }
}
