import fc from "fast-check";
import { expect } from "vitest";
import { mapWithConcurrencyLimit } from "../../src/compat/pi-parallel/map-with-concurrency-limit.ts";

/** The number of tries of a property, and its seed; without a seed it is random. */
export type Tries = Readonly<{ numRuns: number; seed?: number }>;

/**
 * SIM-04: a pool of workers that end in any order: never too many at once, results in order, and none left after an
 * abort.
 */
export async function poolHolds(tries: Tries): Promise<void> {
  const pools = fc.record({
    fates: fc.array(fc.constantFrom("ok", "ok", "ok", "ok", "fails"), { maxLength: 40 }),
    limit: fc.integer({ min: 1, max: 8 }),
    abortAfter: fc.option(fc.nat(45), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(pools, fc.scheduler(), async ({ fates, limit, abortAfter }, scheduler) => {
      const stop = new AbortController();
      const begun: number[] = [];
      let ended = 0;
      let most = 0;
      let begunLate = 0;
      let failure: number | undefined;
      if (abortAfter === 0) stop.abort();
      const worked = mapWithConcurrencyLimit(
        fates,
        limit,
        async (fate, index) => {
          begun.push(index);
          if (stop.signal.aborted || failure !== undefined) begunLate += 1;
          most = Math.max(most, begun.length - ended);
          await scheduler.schedule(Promise.resolve());
          ended += 1;
          if (ended === abortAfter) stop.abort();
          if (fate === "fails") {
            failure ??= index;
            throw new Error(`task ${index}`);
          }
          return index;
        },
        stop.signal,
      ).then(
        (mapped) => ({ ...mapped, running: begun.length - ended }),
        (error: Error) => error,
      );
      await scheduler.waitFor(worked);
      const result = await worked;
      await scheduler.waitIdle();
      expect(most).toBeLessThanOrEqual(limit);
      expect(begunLate).toBe(0);
      expect(begun).toEqual(begun.toSorted((a, b) => a - b));
      if (result instanceof Error) {
        expect(result.message).toBe(`task ${failure}`);
        return;
      }
      if (failure === undefined) expect(result.running).toBe(0);
      expect(result.aborted).toBe(stop.signal.aborted);
      expect(result.results.length).toBe(fates.length);
      for (const [index, value] of result.results.entries()) expect([index, undefined]).toContain(value);
      if (!result.aborted) expect(result.results).toEqual(fates.map((_, index) => index));
    }),
    tries,
  );
}
