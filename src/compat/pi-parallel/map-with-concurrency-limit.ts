import { mapLimited } from "../../runtime/async/map-limited.ts";

/** The results in order; `undefined` for items that were not processed because of an abort. */
export type ParallelResult<R> = { results: R[]; aborted: boolean };

/**
 * Maps items concurrently, at most `concurrency` at once; without a number, or with a number below one, all at once.
 * The first error rejects at once. An abort never rejects: finished results are kept, and `aborted` is true.
 */
export async function mapWithConcurrencyLimit<T, R>(
  items: readonly T[],
  concurrency: number,
  mapper: (item: T, index: number) => Promise<R>,
  signal?: AbortSignal,
): Promise<ParallelResult<R>> {
  const wanted = Math.floor(concurrency);
  const limit = wanted >= 1 ? wanted : Math.max(1, items.length);
  const results: R[] = [];
  results.length = items.length;
  try {
    await mapLimited(
      items,
      limit,
      async (item, index) => {
        results[index] = await mapper(item, index);
      },
      signal,
    );
  } catch (thrown) {
    if (!signal?.aborted) throw thrown;
  }
  return { results, aborted: signal?.aborted ?? false };
}
