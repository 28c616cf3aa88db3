import { describe, expect, test } from "vitest";
import { mapWithConcurrencyLimit } from "./map-with-concurrency-limit.ts";
import { raceWithAbort } from "./race-with-abort.ts";

describe("raceWithAbort", () => {
  const fails = (message: string) => () => Promise.reject(new Error(message));

  test("needs at least one contender", async () => {
    await expect(raceWithAbort([])).rejects.toThrow("No tasks to race");
  });

  test("returns any value, also undefined", async () => {
    const value = { deep: [1] };
    expect(await raceWithAbort([{ id: "a", run: async () => value }])).toEqual({ winner: "a", result: value });
    expect(await raceWithAbort([{ id: "a", run: async () => undefined }])).toEqual({ winner: "a", result: undefined });
  });

  test("ids may be any string and may repeat", async () => {
    await expect(
      raceWithAbort([
        { id: "openai/gpt 4", run: fails("x") },
        { id: "openai/gpt 4", run: fails("y") },
        { id: "__proto__", run: fails("z") },
      ]),
    ).rejects.toThrow("All race models failed:\n[openai/gpt 4]: x\n[openai/gpt 4]: y\n[__proto__]: z");
    expect(await raceWithAbort([{ id: "winner", run: async () => 1 }])).toEqual({ winner: "winner", result: 1 });
  });

  test("a contender that throws synchronously counts as failed", async () => {
    const rude = (): Promise<number> => {
      throw new Error("at once");
    };
    expect(
      await raceWithAbort([
        { id: "rude", run: rude },
        { id: "polite", run: async () => 1 },
      ]),
    ).toEqual({ winner: "polite", result: 1 });
  });

  test("is cancelled by its signal, before it starts and while it runs", async () => {
    let started = 0;
    const racer = { id: "a", run: () => new Promise<number>(() => void (started += 1)) };
    expect(await raceWithAbort([racer], AbortSignal.abort())).toEqual({ aborted: true });
    expect(started).toBe(0);
    const controller = new AbortController();
    const race = raceWithAbort([racer], controller.signal);
    setImmediate(() => controller.abort());
    expect(await race).toEqual({ aborted: true });
  });

  test("a win is kept when the signal aborts right after", async () => {
    const controller = new AbortController();
    const race = raceWithAbort([{ id: "a", run: async () => 1 }], controller.signal);
    const won = await race;
    controller.abort();
    expect(won).toEqual({ winner: "a", result: 1 });
  });
});

describe("mapWithConcurrencyLimit", () => {
  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 0.5])(
    "with a limit of %d all items start at once",
    async (concurrency) => {
      let active = 0;
      let most = 0;
      await mapWithConcurrencyLimit([1, 2, 3], concurrency, async () => {
        active += 1;
        most = Math.max(most, active);
        await new Promise(setImmediate);
        active -= 1;
      });
      expect(most).toBe(3);
    },
  );

  test("the first error rejects at once, and no further item is started", async () => {
    const begun: number[] = [];
    const map = mapWithConcurrencyLimit([1, 2, 3, 4], 2, (item) => {
      begun.push(item);
      return item === 1 ? Promise.reject(new Error("one")) : new Promise(() => {});
    });
    await expect(map).rejects.toThrow("one");
    await new Promise(setImmediate);
    expect(begun).toEqual([1, 2]);
  });

  test("an error after an abort is ignored", async () => {
    const controller = new AbortController();
    const { results, aborted } = await mapWithConcurrencyLimit(
      [1, 2, 3],
      1,
      async (item) => {
        if (item === 1) return item;
        controller.abort();
        throw new Error("because of the abort");
      },
      controller.signal,
    );
    expect([...results]).toEqual([1, undefined, undefined]);
    expect(aborted).toBe(true);
  });
});
