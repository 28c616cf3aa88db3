import { Slots } from "./slots.ts";

/**
 * Maps items concurrently, at most `limit` at once, keeping the order. The first failure rejects at once, and no
 * further item is started. After an abort no further item is started either: the started items are awaited, and the
 * remaining items are left out.
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
