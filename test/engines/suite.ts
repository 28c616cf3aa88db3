import { describe, expect, test } from "vitest";
import type { Answer } from "../../src/core/plan/gate.ts";
import type { KeptEvent } from "../../src/core/run/event.ts";
import type { Journal } from "../../src/core/run/run-store.ts";
import type { Call, Engine, Perform, PerformContext } from "../../src/core/task/engine.ts";

/**
 * An engine under test, in its own place. Each further engine that is opened works on the same runs, as another process
 * would.
 */
export type EngineUnderTest = Readonly<{
  engine(perform: Perform): Engine;
  /** Makes the owner of a run look dead to all others, although it lives. */
  bury(run: string): Promise<void>;
  close(): Promise<void>;
}>;

const RUN = "run_engine000000";
const call = (path: string, attempt = 1): Call => ({
  run: RUN,
  path,
  attempt,
  task: { prompt: "x" },
  attachments: [],
  context: "",
  depth: 0,
});
const fact = (seq: number): KeptEvent => ({ seq, run: RUN, path: "a", at: seq, type: "note", text: `fact ${seq}` });
const quiet = { kept: () => {}, lost: () => {} };
const alive = (): AbortSignal => new AbortController().signal;

function context(signal: AbortSignal = alive()): PerformContext {
  return {
    signal,
    emit: () => {},
    live: () => {},
    durable: () => Promise.resolve(),
    delegate: () => Promise.reject(new Error("nobody delegates here")),
    budget: {
      reserve: async () => ({ settle: () => {}, release: () => {} }),
      count: async () => undefined,
      room: async () => undefined,
    },
    attended: false,
    ask: () => Promise.resolve(undefined),
    mail: () => Promise.resolve([]),
    tell: () => {},
    past: () => Promise.resolve([]),
  };
}

const unused: Perform = () => Promise.reject(new Error("nothing is to be performed"));

/** The requirements for every engine, in the words of `core/engine.ts`. */
export function engineSuite(name: string, make: () => Promise<EngineUnderTest>): void {
  const trying = (what: string, body: (under: EngineUnderTest) => Promise<void>): void =>
    test(what, async () => {
      const under = await make();
      try {
        await body(under);
      } finally {
        await under.close();
      }
    });

  describe(`${name}: perform`, () => {
    trying(
      "calls with the same key at the same time are executed once and have the same outcome",
      async ({ engine }) => {
        let performed = 0;
        let finish = (): void => {};
        const gate = new Promise<void>((resolve) => (finish = resolve));
        const it = engine(async () => {
          performed += 1;
          await gate;
          return { status: "ok", output: `number ${performed}` };
        });
        const both = Promise.all([it.perform(call("a"), context()), it.perform(call("a"), context())]);
        finish();
        const [one, other] = await both;
        expect(one).toEqual({ status: "ok", output: "number 1" });
        expect(other).toEqual(one);
        expect(performed).toBe(1);
      },
    );

    trying("another path, attempt or run is another key", async ({ engine }) => {
      const seen: string[] = [];
      const it = engine(async ({ run, path, attempt }) => {
        seen.push(`${run}/${path}#${attempt}`);
        return { status: "ok", output: path };
      });
      await Promise.all(
        [call("a"), call("b"), call("a", 2), { ...call("a"), run: "run_other0000000" }].map((one) =>
          it.perform(one, context()),
        ),
      );
      expect(new Set(seen).size).toBe(4);
    });

    trying("the events of a call reach its run in order", async ({ engine }) => {
      const facts: string[] = [];
      const it = engine(async (_, { emit, durable }) => {
        for (const text of ["one", "two", "three"]) emit({ type: "note", text });
        await durable();
        return { status: "ok", output: "" };
      });
      await it.perform(call("a"), { ...context(), emit: (one) => void (one.type === "note" && facts.push(one.text)) });
      expect(facts).toEqual(["one", "two", "three"]);
    });

    trying("a call whose signal aborts ends soon", async ({ engine }) => {
      const stop = new AbortController();
      const it = engine(
        (_, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => resolve({ status: "cancelled", reason: "stopped" }), { once: true });
          }),
      );
      const outcome = it.perform(call("a"), context(stop.signal));
      stop.abort({ stop: "stopped" });
      expect(await outcome).toEqual({ status: "cancelled", reason: "stopped" });
    });
  });

  describe(`${name}: sleep`, () => {
    trying("takes as long as it is told, or until the signal aborts", async ({ engine }) => {
      const it = engine(unused);
      const began = performance.now();
      await it.sleep("key", 60, alive());
      expect(performance.now() - began).toBeGreaterThanOrEqual(55);
      const stop = new AbortController();
      const long = it.sleep("long", 60_000, stop.signal);
      stop.abort();
      await long;
      await it.sleep("over", 60_000, AbortSignal.abort());
      expect(performance.now() - began).toBeLessThan(50_000);
    });
  });

  describe(`${name}: answers`, () => {
    const yes: Answer = { approve: true, by: "first" };
    const no: Answer = { approve: false, by: "second" };

    trying("the first answer counts, and only that one is told so", async ({ engine }) => {
      const it = engine(unused);
      const asked = it.answer("q", alive());
      expect(await Promise.all([it.give("q", yes), it.give("q", no)])).toEqual([true, false]);
      expect(await asked).toEqual(yes);
      expect(await it.give("q", no)).toBe(false);
    });

    trying("a question that nobody asked takes no answer", async ({ engine }) => {
      expect(await engine(unused).give("nothing", yes)).toBe(false);
    });

    trying("a question whose signal aborts has no answer, and takes none later", async ({ engine }) => {
      const it = engine(unused);
      const stop = new AbortController();
      const asked = it.answer("q", stop.signal);
      stop.abort();
      expect(await asked).toBeUndefined();
      expect(await it.give("q", yes)).toBe(false);
      expect(await it.answer("r", AbortSignal.abort())).toBeUndefined();
    });

    trying("questions do not mix", async ({ engine }) => {
      const it = engine(unused);
      const both = Promise.all([it.answer("q", alive()), it.answer("r", alive())]);
      expect(await Promise.all([it.give("r", no), it.give("q", yes)])).toEqual([true, true]);
      expect(await both).toEqual([yes, no]);
    });
  });

  describe(`${name}: journal`, () => {
    const numbers = (events: readonly KeptEvent[]): number[] => events.map(({ seq }) => seq);

    trying("facts are kept in order, and acknowledged only once they are", async ({ engine }) => {
      const kept: number[] = [];
      const journal = await engine(unused).journal(RUN, {
        kept: (events) => kept.push(...numbers(events)),
        lost: () => {},
      });
      for (let seq = 1; seq <= 200; seq += 1) journal.append(fact(seq));
      await journal.durable();
      expect(kept).toEqual(Array.from({ length: 200 }, (_, at) => at + 1));
      expect(numbers(await journal.read())).toEqual(kept);
      await journal.close();
    });

    trying("whoever opens it next finds what was kept", async ({ engine }) => {
      const first = await engine(unused).journal(RUN, quiet);
      for (const seq of [1, 2]) first.append(fact(seq));
      await first.close();
      const second = await engine(unused).journal(RUN, quiet);
      expect(await second.read()).toEqual([fact(1), fact(2)]);
      second.append(fact(3));
      await second.close();
      const third = await engine(unused).journal(RUN, quiet);
      expect(numbers(await third.read())).toEqual([1, 2, 3]);
      await third.close();
    });

    trying("one owner at a time: who comes while it is held is told so, and gets it afterwards", async ({ engine }) => {
      const first = await engine(unused).journal(RUN, quiet);
      first.append(fact(1));
      await first.durable();
      await expect(engine(unused).journal(RUN, quiet)).rejects.toMatchObject({ code: "RUN_BUSY" });
      await first.close();
      const next: Journal = await engine(unused).journal(RUN, quiet);
      expect(numbers(await next.read())).toEqual([1]);
      await next.close();
    });

    trying(
      "takeover: the next one goes on, and whoever was taken for dead can add nothing that counts",
      async ({ engine, bury }) => {
        const acknowledged: number[] = [];
        const lost: unknown[] = [];
        const first = await engine(unused).journal(RUN, {
          kept: (events) => acknowledged.push(...numbers(events)),
          lost: (error) => lost.push(error),
        });
        first.append(fact(1));
        await first.durable();
        await bury(RUN);
        const second = await engine(unused).journal(RUN, quiet);
        expect(numbers(await second.read())).toEqual([1]);
        second.append(fact(2));
        await second.durable();
        first.append({ ...fact(2), text: "of a ghost" } as KeptEvent);
        await expect(first.durable()).rejects.toMatchObject({ code: "RUN_BUSY" });
        expect([acknowledged, lost.length]).toEqual([[1], 1]);
        second.append(fact(3));
        await second.durable();
        expect(await second.read()).toEqual([fact(1), fact(2), fact(3)]);
        await Promise.all([first.close(), second.close()]);
      },
    );

    trying("runs do not mix", async ({ engine }) => {
      const it = engine(unused);
      const [one, other] = await Promise.all([it.journal(RUN, quiet), it.journal("run_other0000000", quiet)]);
      one.append(fact(1));
      other.append({ ...fact(1), text: "other" } as KeptEvent);
      await Promise.all([one.durable(), other.durable()]);
      expect(await one.read()).toEqual([fact(1)]);
      await Promise.all([one.close(), other.close()]);
    });
  });
}
