import { Slots } from "./slots.ts";

/**
 * Maps side by side, at most `limit` at once, keeping the order. The first failure rejects at once, and nothing more is
 * begun; after an abort nothing more is begun either, what runs is waited for, and what never ran is left out.
 */
export async function mapLimited<T, R>(
  items: readonly T[],
  limit: number,
  map: (item: T, index: number) => Promise<R>,
  signal: AbortSignal = never,
): Promise<R[]> {
  const slots = new Slots(limit);
  const results: R[] = [];
  results.length = items.length;
  let failed = false;
  await Promise.all(
    items.map(async (item, index) => {
      const release = await slots.take(signal);
      if (!release) return;
      try {
        if (!failed && !signal.aborted) results[index] = await map(item, index);
      } catch (thrown) {
        failed = true;
        throw thrown;
      } finally {
        release();
      }
    }),
  );
  return results;
}

const never = new AbortController().signal;
