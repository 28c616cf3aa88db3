import { calculateBackoff, type RetryConfig, shouldRetry } from "../../core/plan/retry.ts";

/** The parameters of a retry loop. */
export type RetryOptions<T> = Readonly<{
  retry: RetryConfig | undefined;
  /** Attempts used before a resume. */
  used?: number;
  /** Makes one attempt; 1 is the first. */
  attempt(n: number): Promise<T>;
  /** The error of a result, or `undefined` for a success. */
  errorOf(result: T): string | undefined;
  /** Waits before the next attempt; a returned value ends the retries. */
  wait(delayMs: number, n: number, result: T): Promise<T | undefined>;
}>;

/** Retries until a success, the last attempt, or an error that is not retried. */
export async function withRetry<T>({ retry, used = 0, attempt, errorOf, wait }: RetryOptions<T>): Promise<T> {
  for (let n = used + 1; ; n += 1) {
    const result = await attempt(n);
    const error = errorOf(result);
    if (error === undefined || !retry || n >= retry.maxAttempts || !shouldRetry(error, retry)) return result;
    const end = await wait(calculateBackoff(retry.backoffMs, n), n, result);
    if (end !== undefined) return end;
  }
}
