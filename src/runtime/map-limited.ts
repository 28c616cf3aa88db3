import { Slots } from "./slots.ts";

/** Maps side by side, at most `limit` at once, keeping the order. The first failure rejects. */
export async function mapLimited<T, R>(items: readonly T[], limit: number, map: (item: T, index: number) => Promise<R>, signal: AbortSignal = never): Promise<R[]> {
  const slots = new Slots(limit);
  const results: R[] = [];
  results.length = items.length;
  let failure: { thrown: unknown } | undefined;
  await Promise.all(
    items.map(async (item, index) => {
      const release = await slots.take(signal);
      if (!release) return;
      try {
        if (!failure) results[index] = await map(item, index);
      } catch (thrown) {
        failure ??= { thrown };
      } finally {
        release();
      }
    }),
  );
  if (failure) throw failure.thrown;
  return results;
}

const never = new AbortController().signal;
