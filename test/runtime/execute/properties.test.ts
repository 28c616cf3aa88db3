import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { endingOf } from "../../../src/core/outcome/outcome-of-plan.ts";
import { checkPlan } from "../../../src/core/plan/check.ts";
import { needsOf } from "../../../src/core/plan/graph.ts";
import type { Body, Node } from "../../../src/core/plan/plan.ts";
import type { KeptEvent } from "../../../src/core/run/event.ts";
import type { Change } from "../../../src/core/schedule/change.ts";
import { isCrewError } from "../../../src/core/schema/error.ts";
import { type Experiment, line, type Observed, observe, ok, task } from "./lab.ts";
import { actOf, answerOf, type Flavour, roll, type World, worlds } from "./random-plan.ts";
import { propertyRuns } from "../../support/property-runs.ts";

const RUNS = propertyRuns(70);
const everything: Flavour = { delegation: true };

const experiment = (world: World, flavour: Flavour = everything): Experiment => ({
  plan: world.plan,
  act: actOf(world, flavour),
  answer: answerOf(world),
  slots: world.slots,
  choices: world.choices,
});

/** Rules that hold whenever a plan has ended, however it went. */
function checkEnd(seen: Observed, plan: Body, slots: number): void {
  expect(seen.mostAtOnce, "tasks at work").toBeLessThanOrEqual(slots);
  checkEndings(seen.events);
  checkOrder(seen.journal, plan);
  for (const id of Object.keys(plan.nodes)) {
    expect(seen.executed.outcomeOf(id), `outcome of ${id}`).toBeDefined();
    expect(seen.state.nodes.get(id)?.outcome, `the fold about ${id}`).toEqual(seen.executed.outcomeOf(id));
  }
  for (const view of seen.state.nodes.values()) expect(view.outcome, `${view.path} is open`).toBeDefined();
}

/** Every node ends exactly once, and starts nothing after its end. */
function checkEndings(events: readonly KeptEvent[]): void {
  const ended = new Set<string>();
  const begun = new Set<string>();
  for (const event of events) {
    if (event.type === "node.started" || event.type === "node.retried") {
      expect(ended.has(event.path), `${event.path} goes on after its end`).toBe(false);
      begun.add(event.path);
    }
    if (event.type !== "node.ended") continue;
    expect(ended.has(event.path), `${event.path} ends twice`).toBe(false);
    ended.add(event.path);
    for (const path of begun) {
      const isBelow =
        path.startsWith(`${event.path}/`) ||
        (path.startsWith(`${event.path}.`) && path.includes("/", event.path.length));
      if (isBelow) expect(ended.has(path), `${event.path} ended before ${path}, which is below it`).toBe(true);
    }
  }
  for (const path of begun) expect(ended.has(path), `${path} never ended`).toBe(true);
}

/** No node starts before all its dependencies have succeeded. */
function checkOrder(journal: readonly KeptEvent[], plan: Body): void {
  const good = new Set<string>();
  for (const event of journal) {
    if (event.type === "node.ended" && event.outcome.status === "ok") good.add(event.path);
    const node = event.type === "node.started" ? plan.nodes[event.path] : undefined;
    for (const need of node ? needsOf(node) : [])
      expect(good.has(need), `${event.path} started before ${need} was done`).toBe(true);
  }
}

describe("with random plans", () => {
  test("the random plans are valid", () => {
    fc.assert(
      fc.property(worlds(), ({ plan }) => checkPlan(plan)),
      { numRuns: RUNS },
    );
  });

  test("the slot limit holds, every node ends once and after its dependencies, and the state folded from events equals the executor's", async () => {
    await fc.assert(
      fc.asyncProperty(worlds(), async (world) => checkEnd(await observe(experiment(world)), world.plan, world.slots)),
      { numRuns: RUNS * 2 },
    );
  });

  test("no task begins while all slots are in use", async () => {
    await fc.assert(
      fc.asyncProperty(worlds(), async (world) => {
        const atWork = new Set<string>();
        for (const event of (await observe(experiment(world, {}))).events) {
          if (event.type === "node.started" && event.kind === "task") atWork.add(event.path);
          if (event.type === "node.ended" || event.type === "node.retried") atWork.delete(event.path);
          expect(atWork.size).toBeLessThanOrEqual(world.slots);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test("cancelling at any moment ends all nodes, starts none, and keeps finished results", async () => {
    await fc.assert(
      fc.asyncProperty(worlds(), fc.nat(25), async (world, when) => {
        const whole = await observe(experiment(world));
        let cancelledAt = Number.POSITIVE_INFINITY;
        const seen = await observe({
          ...experiment(world),
          before: (step, { cancel }) => {
            if (step !== when) return;
            cancelledAt = 0;
            cancel("by hand");
          },
          heard: ({ seq }) => {
            if (cancelledAt === 0) cancelledAt = seq;
          },
        });
        checkEnd(seen, world.plan, world.slots);
        expect(seen.events.filter(({ type, seq }) => type === "node.started" && seq >= cancelledAt).map(line)).toEqual(
          [],
        );
        const before = (event: KeptEvent): boolean => event.seq < cancelledAt;
        expect(seen.events.filter(before).map(line)).toEqual(whole.events.filter(before).map(line));
      }),
      { numRuns: RUNS },
    );
  });

  test("cancelling before the start performs nothing", async () => {
    await fc.assert(
      fc.asyncProperty(worlds(), async (world) => {
        const seen = await observe({
          ...experiment(world),
          heard: (event, { cancel }) => event.type === "run.started" && cancel(),
        });
        checkEnd(seen, world.plan, world.slots);
        expect(seen.performed).toEqual([]);
        expect(seen.executed.outcome.status).toBe("cancelled");
      }),
      { numRuns: propertyRuns(50) },
    );
  });

  test("cancelling inside of an event handler ends everything, too", async () => {
    await fc.assert(
      fc.asyncProperty(worlds(), fc.integer({ min: 2, max: 40 }), async (world, when) => {
        const seen = await observe({
          ...experiment(world),
          heard: ({ seq }, { cancel }) => {
            if (seq === when) cancel("in the middle");
          },
        });
        checkEnd(seen, world.plan, world.slots);
      }),
      { numRuns: RUNS },
    );
  });

  test("a race keeps one winner, and only tasks that are still needed continue", async () => {
    const races = fc.record({
      seed: fc.nat(),
      size: fc.integer({ min: 1, max: 6 }),
      slots: fc.integer({ min: 1, max: 6 }),
      choices: fc.array(fc.nat(50), { minLength: 1, maxLength: 20 }),
    });
    await fc.assert(
      fc.asyncProperty(races, async ({ seed, size, slots, choices }) => {
        const ids = Array.from({ length: size }, (_, n) => `c${n}`);
        const nodes: Record<string, Node> = Object.fromEntries(ids.map((id) => [id, task("win")]));
        const plan: Body = {
          nodes: { ...nodes, winner: { kind: "join", needs: ids, pick: "first" } },
          output: "winner",
        };
        const world: World = { plan, seed, slots, choices };
        const seen = await observe({
          ...experiment(world, {}),
          act: (call) => ({ ...actOf(world)(call), moments: 1 + (roll(seed, call.path) % 3) }),
        });
        checkEnd(seen, plan, slots);
        const good = ids.filter((id) => seen.executed.outcomeOf(id)?.status === "ok");
        const { outcome } = seen.executed;
        expect(outcome.status === "ok" ? outcome.from : []).toEqual(good);
        expect(good.length).toBe(outcome.status === "ok" ? 1 : 0);
      }),
      { numRuns: RUNS },
    );
  });

  test("deeper delegation than there are slots does not hang", async () => {
    const deep = fc.record({
      depth: fc.integer({ min: 1, max: 12 }),
      slots: fc.integer({ min: 1, max: 3 }),
      wide: fc.integer({ min: 1, max: 3 }),
      choices: fc.array(fc.nat(9), { minLength: 1, maxLength: 9 }),
    });
    await fc.assert(
      fc.asyncProperty(deep, async ({ depth, slots, wide, choices }) => {
        const leads = Array.from({ length: wide }, (_, n) => `l${n}`);
        const plan: Body = {
          nodes: {
            ...Object.fromEntries(leads.map((id) => [id, task("lead")])),
            all: { kind: "join", needs: leads, pick: "settled" },
          },
          output: "all",
        };
        const seen = await observe({
          plan,
          slots,
          choices,
          maxDepth: -1,
          act: (call) =>
            ok("done", call.depth < depth ? { delegates: [{ mode: "single", task: "deeper", agent: "x" }] } : {}),
        });
        checkEnd(seen, plan, slots);
        expect(seen.executed.outcome.status).toBe("ok");
        expect(seen.performed.length).toBe(wide * (depth + 1));
      }),
      { numRuns: propertyRuns(60) },
    );
  });
});

test("when several tools of one turn delegate at the same time, no slot is lost or kept for too long", async () => {
  const part = fc.constantFrom("moment" as const, "help" as const);
  const turns = fc.record({
    tracks: fc.array(fc.array(part, { maxLength: 5 }), { minLength: 1, maxLength: 4 }),
    others: fc.integer({ min: 0, max: 6 }),
    slots: fc.integer({ min: 1, max: 2 }),
    choices: fc.array(fc.nat(50), { minLength: 1, maxLength: 20 }),
  });
  await fc.assert(
    fc.asyncProperty(turns, async ({ tracks, others, slots, choices }) => {
      const ids = ["lead", ...Array.from({ length: others }, (_, n) => `o${n}`)];
      // These tasks run one after the other, so that a new task joins the queue again and again.
      const after = (index: number): string[] => (index > 1 ? [ids[index - 1]!] : []);
      const plan: Body = {
        nodes: {
          ...Object.fromEntries(ids.map((id, index) => [id, task("go", {}, after(index))])),
          all: { kind: "join", needs: ids, pick: "settled" },
        },
        output: "all",
      };
      const help = { mode: "single", task: "help", agent: "h" };
      const asked = tracks.map((track) => track.map((part) => (part === "help" ? help : part)));
      const seen = await observe({
        plan,
        slots,
        choices,
        act: ({ path }) => ok(path, path === "lead" ? { tracks: asked } : { moments: 2 }),
      });
      checkEnd(seen, plan, slots);
      expect(seen.executed.outcome.status).toBe("ok");
      expect(seen.performed.length).toBe(ids.length + tracks.flat().filter((part) => part === "help").length);
    }),
    { numRuns: RUNS },
  );
});

describe("a run that is resumed after any prefix of its events", () => {
  /** Nodes that the journal records as performed or as failed for good: none of them may be performed again. */
  const doneIn = (past: readonly KeptEvent[]): Set<string> => {
    const attempts = new Map<string, number>();
    const done = new Set<string>();
    for (const event of past) {
      if (event.type === "node.started") attempts.set(event.path, event.attempt);
      if (event.type === "node.retried") done.add(`${event.path}#${event.attempt}`);
      if (event.type === "node.ended" && attempts.has(event.path))
        done.add(`${event.path}#${attempts.get(event.path)}`);
    }
    return done;
  };

  const cuts = async (
    world: World,
    flavour: Flavour,
    compare: (whole: Observed, rest: Observed, past: readonly KeptEvent[]) => void,
  ): Promise<void> => {
    const whole = await observe(experiment(world, flavour));
    for (let cut = 1; cut <= whole.journal.length; cut += 1) {
      const past = whole.journal.slice(0, cut);
      const rest = await observe({ ...experiment(world, flavour), past });
      const done = doneIn(past);
      expect(
        rest.performed.filter((key) => done.has(key)),
        `performed again after ${cut} events`,
      ).toEqual([]);
      expect(rest.mostAtOnce).toBeLessThanOrEqual(world.slots);
      checkEndings(rest.events);
      for (const view of rest.state.nodes.values())
        expect(view.outcome, `${view.path} is open after ${cut} events`).toBeDefined();
      compare(whole, rest, past);
    }
  };

  /**
   * The outcomes of nodes, without the name of the failed dependency: which of several fails first depends on speed.
   */
  const outcomesOf = ({ state }: Observed): Record<string, string> =>
    Object.fromEntries(
      [...state.nodes]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([path, { outcome }]) => [
          path,
          JSON.stringify(outcome)
            .replace(/"because":"\w+"/, "")
            .replace(/skipped because \w+/g, "skipped"),
        ]),
    );

  test("performs only the missing nodes, and has the same result", async () => {
    await fc.assert(
      fc.asyncProperty(worlds({ races: false }), async (world) => {
        await cuts(world, everything, (whole, rest) => expect(outcomesOf(rest)).toEqual(outcomesOf(whole)));
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  test("has the same result also after a second interruption", async () => {
    await fc.assert(
      fc.asyncProperty(worlds({ races: false }), fc.nat(1000), fc.nat(1000), async (world, first, second) => {
        const whole = await observe(experiment(world));
        const past = whole.journal.slice(0, 1 + (first % whole.journal.length));
        const taken = await observe({ ...experiment(world), past });
        const more = taken.journal.slice(0, past.length + (second % (taken.events.length + 1)));
        const rest = await observe({ ...experiment(world), past: more });
        const done = doneIn(more);
        expect(rest.performed.filter((key) => done.has(key))).toEqual([]);
        checkEndings(rest.events);
        expect(outcomesOf(rest)).toEqual(outcomesOf(whole));
      }),
      { numRuns: RUNS },
    );
  });

  test("where the faster task wins, the state rebuilt from the journal equals the state of the executor", async () => {
    await fc.assert(
      fc.asyncProperty(worlds(), async (world) => {
        await cuts(world, {}, (_whole, rest) => {
          for (const id of Object.keys(world.plan.nodes))
            expect(rest.state.nodes.get(id)?.outcome).toEqual(rest.executed.outcomeOf(id));
        });
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  test("resuming an ended run publishes again only the ends of tasks that never began", async () => {
    await fc.assert(
      fc.asyncProperty(worlds(), async (world) => {
        const whole = await observe(experiment(world));
        const rest = await observe({ ...experiment(world), past: whole.journal });
        expect(rest.performed).toEqual([]);
        const decidedAgain = (event: KeptEvent): boolean =>
          event.type === "node.ended" && ["skipped", "cancelled"].includes(event.outcome.status);
        expect(rest.events.filter((event) => !decidedAgain(event)).map(line)).toEqual([]);
        expect(rest.executed.outcome).toEqual(whole.executed.outcome);
      }),
      { numRuns: RUNS },
    );
  });

  test("a cancelled run that is resumed reaches the result that it would have had without the cancelling", async () => {
    await fc.assert(
      fc.asyncProperty(worlds({ races: false }), fc.nat(20), async (world, when) => {
        const flavour = { delegation: false };
        const act = (call: Parameters<Experiment["act"]>[0]) => actOf(world, flavour)({ ...call, attempt: 1 });
        const plain = { ...experiment(world, flavour), act };
        const whole = await observe(plain);
        const stopped = await observe({ ...plain, before: (step, { cancel }) => step === when && cancel() });
        const rest = await observe({ ...plain, past: stopped.journal });
        const plainEnding = endingOf(whole.executed.outcome, whole.executed.outcomeOf);
        expect(endingOf(rest.executed.outcome, rest.executed.outcomeOf).status).toBe(plainEnding.status);
        for (const id of Object.keys(world.plan.nodes))
          expect(rest.executed.outcomeOf(id)?.status, id).toBe(whole.executed.outcomeOf(id)?.status);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("plans that change while they run", () => {
  const adds = fc.array(
    fc.record({ kind: fc.constantFrom("task", "join", "loop"), needs: fc.array(fc.nat(12), { maxLength: 2 }) }),
    { minLength: 1, maxLength: 3 },
  );
  const rewire = fc.record({ node: fc.nat(9), needs: fc.array(fc.nat(12), { maxLength: 3 }) });
  const part = fc.oneof(
    fc.record({ adds }),
    fc.record({ adds, into: fc.nat(9) }),
    fc.record({ rewire }),
    fc.record({ fail: fc.nat(9) }),
    fc.record({ adds, rewire, fail: fc.nat(9) }),
  );
  const spec = fc.record({ when: fc.nat(8), part });
  type Spec = Readonly<{
    when: number;
    part: Partial<{
      adds: { kind: string; needs: number[] }[];
      into: number;
      rewire: { node: number; needs: number[] };
      fail: number;
    }>;
  }>;

  /** Some of these changes are valid and some are not: unknown ids, cycles, nodes that have begun. */
  const changeOf = ({ when, part: { adds = [], into, rewire, fail } }: Spec, plan: Body): Change => {
    const size = Object.keys(plan.nodes).length;
    const name = (n: number): string => (n > 11 ? "nobody" : n > 9 ? `x${when}_${n - 10}` : `n${n % size}`);
    const added: [string, Node][] = adds.map(({ kind, needs }, n) => {
      const ids = [...new Set(needs.map(name))].filter((id) => id !== `x${when}_${n}`);
      if (kind === "join" && ids.length > 0) return [`x${when}_${n}`, { kind: "join", needs: ids, pick: "settled" }];
      if (kind === "loop") {
        const nodes: Record<string, Node> = { work: task("work"), decide: task("decide", {}, ["work"]) };
        return [
          `x${when}_${n}`,
          { kind: "loop", needs: ids, body: { nodes, output: "work" }, until: "decide", max: 2, exhausted: "accept" },
        ];
      }
      return [`x${when}_${n}`, task("more", {}, ids)];
    });
    return {
      ...(added.length > 0 && { newTasks: Object.fromEntries(added) }),
      ...(into !== undefined && { into: name(into) }),
      ...(rewire && { updateDependencies: { [name(rewire.node)]: rewire.needs.map(name) } }),
      ...(fail !== undefined && { markFailed: { [name(fail)]: "given up" } }),
    };
  };

  type Tried = { applied: Change[]; refused: number };
  const growing = (world: World, specs: readonly Spec[], tried: Tried): Experiment => ({
    ...experiment(world),
    before: (step, { change }) => {
      for (const one of specs.filter(({ when }) => when === step)) {
        try {
          change(changeOf(one, world.plan));
          tried.applied.push(changeOf(one, world.plan));
        } catch (error) {
          if (!isCrewError(error) || error.code !== "BAD_CHANGE") throw error;
          tried.refused += 1;
        }
      }
    },
  });

  test("all rules for a plan hold for a plan that grew, and accepted changes are in the journal", async () => {
    let applied = 0;
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(worlds(), fc.array(spec, { minLength: 1, maxLength: 4 }), async (world, specs) => {
        const tried: Tried = { applied: [], refused: 0 };
        const seen = await observe(growing(world, specs, tried));
        checkEnd(seen, seen.state.plan!, world.slots);
        expect(seen.events.flatMap((event) => (event.type === "plan.changed" ? [event.change] : []))).toEqual(
          tried.applied,
        );
        for (const { newTasks = {}, markFailed = {} } of tried.applied) {
          for (const id of Object.keys(newTasks)) expect(seen.executed.outcomeOf(id), id).toBeDefined();
          for (const id of Object.keys(markFailed))
            expect(["failed", "skipped", "cancelled"], id).toContain(seen.executed.outcomeOf(id)?.status);
        }
        applied += tried.applied.length;
        refused += tried.refused;
      }),
      { numRuns: RUNS * 2 },
    );
    // With fewer changes, this test would prove nothing.
    expect(applied).toBeGreaterThan(RUNS / 2);
    expect(refused).toBeGreaterThan(RUNS / 2);
  });

  test("a change inside of an event handler works like any other", async () => {
    await fc.assert(
      fc.asyncProperty(worlds(), spec, async (world, one) => {
        let open = true;
        const seen = await observe({
          ...experiment(world),
          heard: (event, { change }) => {
            if (event.seq !== one.when + 2 || !open) return;
            open = false;
            try {
              change(changeOf(one, world.plan));
            } catch (error) {
              if (!isCrewError(error) || error.code !== "BAD_CHANGE") throw error;
            }
          },
        });
        checkEnd(seen, seen.state.plan!, world.slots);
        const again = await observe({ ...experiment(world), past: seen.journal });
        expect(again.performed).toEqual([]);
        expect(again.executed.outcome.status).toEqual(seen.executed.outcome.status);
      }),
      { numRuns: RUNS },
    );
  });

  test("an invalid change leaves everything as it was", async () => {
    await fc.assert(
      fc.asyncProperty(worlds(), spec, async (world, one) => {
        const tried: Tried = { applied: [], refused: 0 };
        const seen = await observe(growing(world, [one], tried));
        fc.pre(tried.applied.length === 0);
        const without = await observe(experiment(world));
        expect(seen.events.map(line)).toEqual(without.events.map(line));
      }),
      { numRuns: RUNS },
    );
  });

  test("changes of the plan survive a resume from every prefix of the journal", async () => {
    await fc.assert(
      fc.asyncProperty(
        worlds({ races: false }),
        fc.array(spec, { minLength: 1, maxLength: 3 }),
        async (world, specs) => {
          const whole = await observe(growing(world, specs, { applied: [], refused: 0 }));
          for (let cut = 1; cut <= whole.journal.length; cut += 1) {
            const past = whole.journal.slice(0, cut);
            const rest = await observe({ ...experiment(world), past });
            checkEndings(rest.events);
            for (const event of past) {
              if (event.type !== "plan.changed") continue;
              for (const id of Object.keys(event.change.newTasks ?? {}))
                expect(rest.executed.outcomeOf(id), id).toBeDefined();
            }
            for (const view of rest.state.nodes.values()) expect(view.outcome, `${view.path} is open`).toBeDefined();
          }
          const again = await observe({ ...experiment(world), past: whole.journal });
          expect(again.performed).toEqual([]);
          expect(again.executed.outcome).toEqual(whole.executed.outcome);
        },
      ),
      { numRuns: propertyRuns(25) },
    );
  });
});
