import { calculateBackoff, type RetryConfig, shouldRetry } from "../../core/plan/retry.ts";

/** What trying again needs to know about a piece of work. */
export type RetryOptions<T> = Readonly<{
  retry: RetryConfig | undefined;
  /** Tries that an earlier life has used up. */
  used?: number;
  /** One try; 1 is the first. */
  attempt(n: number): Promise<T>;
  /** The error of a result, or `undefined` when it is one to keep. */
  errorOf(result: T): string | undefined;
  /** Waits before the next try; what it gives back ends the trying. */
  wait(delayMs: number, n: number, result: T): Promise<T | undefined>;
}>;

/** Tries until a result is kept, the attempts are used up, or the error is not one to try again. */
export async function withRetry<T>({ retry, used = 0, attempt, errorOf, wait }: RetryOptions<T>): Promise<T> {
  for (let n = used + 1; ; n += 1) {
    const result = await attempt(n);
    const error = errorOf(result);
    if (error === undefined || !retry || n >= retry.maxAttempts || !shouldRetry(error, retry)) return result;
    const end = await wait(calculateBackoff(retry.backoffMs, n), n, result);
    if (end !== undefined) return end;
  }
}
