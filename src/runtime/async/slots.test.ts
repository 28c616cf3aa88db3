import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Release, Slots } from "./slots.ts";

const never = new AbortController().signal;

describe("taking a slot", () => {
  test("as many tasks run as there are slots; the next task starts when a slot is released, in order", async () => {
    const slots = new Slots(2);
    const got: string[] = [];
    const takers = ["a", "b", "c", "d"].map((name) => slots.take(never).then((release) => (got.push(name), release)));
    const [a, b] = await Promise.all(takers.slice(0, 2));
    expect(got).toEqual(["a", "b"]);
    b?.();
    await takers[2];
    expect(got).toEqual(["a", "b", "c"]);
    a?.();
    await takers[3];
    expect(got).toEqual(["a", "b", "c", "d"]);
  });

  test("releasing a slot twice releases it once", async () => {
    const slots = new Slots(1);
    const release = await slots.take(never);
    release?.();
    release?.();
    await slots.take(never);
    let third = false;
    void slots.take(never).then(() => (third = true));
    await new Promise(setImmediate);
    expect(third).toBe(false);
  });

  test("a waiter that aborts gets no slot, and the next waiter moves up", async () => {
    const slots = new Slots(1);
    const first = await slots.take(never);
    const impatient = new AbortController();
    const second = slots.take(impatient.signal);
    const third = slots.take(never);
    impatient.abort();
    expect(await second).toBeUndefined();
    first?.();
    expect(await third).toBeDefined();
    expect(await slots.take(AbortSignal.abort())).toBeUndefined();
  });

  test("a nested slot also holds a slot of its parent", async () => {
    const outer = new Slots(2);
    const inner = new Slots(5, outer);
    const held = [await inner.take(never), await inner.take(never)];
    let third = false;
    const waiting = inner.take(never).then((release) => ((third = true), release));
    let other = false;
    const outside = outer.take(never).then((release) => ((other = true), release));
    await new Promise(setImmediate);
    expect([third, other]).toEqual([false, false]);
    held[0]?.();
    (await waiting)?.();
    expect(await outside).toBeDefined();
  });
});

test("slots: with any order of taking, aborting and releasing, no slot is given twice and no waiter is forgotten", async () => {
  type Act = { do: "take" | "give" | "abort"; which: number; inner: boolean };
  const acts = fc.array(
    fc.record<Act>({ do: fc.constantFrom("take", "take", "give", "abort"), which: fc.nat(20), inner: fc.boolean() }),
    { maxLength: 60 },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 3 }),
      acts,
      async (limit, innerLimit, script) => {
        const outer = new Slots(limit);
        const inner = new Slots(innerLimit, outer);
        const takers: {
          inner: boolean;
          controller: AbortController;
          release?: Release;
          state: "waiting" | "has" | "gone";
        }[] = [];
        const holding = (only?: "inner"): number =>
          takers.filter(({ state, inner: isInner }) => state === "has" && (only === undefined || isInner)).length;
        for (const { do: what, which, inner: inside } of script) {
          const taker = takers[which % Math.max(1, takers.length)];
          if (what === "take") {
            const controller = new AbortController();
            const entry: (typeof takers)[number] = { inner: inside, controller, state: "waiting" };
            takers.push(entry);
            void (inside ? inner : outer).take(controller.signal).then((release) => {
              entry.state = release ? "has" : "gone";
              if (release) entry.release = release;
            });
          } else if (what === "give" && taker?.state === "has") {
            taker.state = "gone";
            taker.release?.();
          } else if (what === "abort") taker?.controller.abort();
          await new Promise(setImmediate);
          expect(holding()).toBeLessThanOrEqual(limit);
          expect(holding("inner")).toBeLessThanOrEqual(innerLimit);
        }
        while (takers.some(({ state }) => state !== "gone")) {
          const next = takers.find(({ state }) => state === "has");
          expect(next, "somebody waits, and nobody holds anything").toBeDefined();
          next!.state = "gone";
          next!.release?.();
          await new Promise(setImmediate);
        }
      },
    ),
    { numRuns: 150 },
  );
});
