import { describe, expect, test } from "vitest";
import { bad, observe, ok, task } from "../../../test/runtime/execute/lab.ts";
import type { Outcome } from "../../core/outcome/outcome.ts";
import type { Body, Node, Plan } from "../../core/plan/plan.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import type { NodeWorktrees } from "./scope.ts";

const plan = (nodes: Record<string, Node>, output: string): Body => ({ nodes, output });
const names = (seen: { readonly events: readonly KeptEvent[] }, type: KeptEvent["type"]): string[] =>
  seen.events.flatMap((event) => (event.type === type ? [event.path] : []));
const join = (pick: "settled" | "first", ...needs: string[]): Node => ({ kind: "join", needs, pick });

test("a node starts once its dependencies have ended, and its prompt is filled with their outputs", async () => {
  const prompts: Record<string, string> = {};
  const seen = await observe({
    plan: plan({ a: task("a"), b: task("b"), c: task("{x} and {y}", { refs: { x: "a", y: "b" } }, ["a", "b"]) }, "c"),
    act: (call) => {
      prompts[call.path] = call.task.prompt;
      return ok(`out of ${call.path}`, call.path === "a" ? { moments: 3 } : {});
    },
  });
  expect(seen.performed).toEqual(["a#1", "b#1", "c#1"]);
  expect(prompts["c"]).toBe("out of a and out of b");
  expect(seen.executed.outcome).toMatchObject({ status: "ok", output: "out of c" });
  expect(seen.events.flatMap(({ type, path }) => (type.startsWith("node.") ? [`${type} ${path}`] : []))).toEqual([
    "node.started a",
    "node.started b",
    "node.ended b",
    "node.ended a",
    "node.started c",
    "node.ended c",
  ]);
});

test("a task that continues another task gets the path, prompt and output of that task", async () => {
  const continued: unknown[] = [];
  await observe({
    plan: plan({ a: task("Count."), b: task("Go on.", { resumes: "a" }, ["a"]) }, "b"),
    act: ({ path, resumes }) => {
      if (path === "b") continued.push(resumes);
      return ok("1, 2");
    },
  });
  expect(continued).toEqual([{ path: "a", prompt: "Count.", output: "1, 2" }]);
});

test("a node whose dependency failed is skipped, and so are its own dependents", async () => {
  const seen = await observe({
    plan: plan({ a: task("a"), b: task("b", {}, ["a"]), c: task("c", {}, ["b"]) }, "c"),
    act: () => bad("boom"),
  });
  expect(seen.performed).toEqual(["a#1"]);
  expect(seen.executed.outcomeOf("a")).toMatchObject({ status: "failed", fault: { message: "boom" } });
  expect(seen.executed.outcomeOf("b")).toEqual({ status: "skipped", because: "a" });
  expect(seen.executed.outcome).toEqual({ status: "skipped", because: "a" });
});

test("no more tasks run at once than there are slots, and every task gets a slot", async () => {
  const names = ["a", "b", "c", "d", "e"];
  const seen = await observe({
    plan: plan(
      { ...Object.fromEntries(names.map((name) => [name, task(name)])), all: join("settled", ...names) },
      "all",
    ),
    slots: 2,
    act: ({ path }) => ok(path, { moments: 2 }),
  });
  expect(seen.mostAtOnce).toBe(2);
  expect(seen.performed.toSorted()).toEqual(["a#1", "b#1", "c#1", "d#1", "e#1"]);
});

test("the first success decides a race: the other contenders are stopped, and their output is discarded", async () => {
  const seen = await observe({
    plan: plan({ slow: task("slow"), fast: task("fast"), won: join("first", "slow", "fast") }, "won"),
    act: ({ path }) => ok(`from ${path}`, { moments: path === "slow" ? 9 : 1 }),
  });
  expect(seen.executed.outcome).toMatchObject({ status: "ok", output: "from fast", from: ["fast"] });
  expect(seen.executed.outcomeOf("slow")).toEqual({ status: "cancelled", reason: "no longer needed" });
});

test("cancelling ends running and waiting nodes with the reason, and starts nothing more", async () => {
  const seen = await observe({
    plan: plan({ a: task("a"), b: task("b"), c: task("c", {}, ["a"]), all: join("settled", "b", "c") }, "all"),
    slots: 1,
    act: ({ path }) => ok(path, { moments: 5 }),
    before: (step, { cancel }) => void (step === 1 && cancel("enough")),
  });
  expect(seen.performed).toEqual(["a#1"]);
  for (const id of ["a", "b", "c", "all"])
    expect(seen.executed.outcomeOf(id)).toEqual({ status: "cancelled", reason: "enough" });
  expect(seen.left).toEqual({ stoppable: 0, listeners: 0 });
});

test("a task that has its slot and has not begun is cancelled before it begins", async () => {
  const body = plan({ a: task("a"), b: task("b", { writes: ["src/**"] }), all: join("settled", "a", "b") }, "all");
  const seen = await observe({
    plan: body,
    act: ({ path }) => ok(path),
    before: (step, { cancel }) => void (step === 0 && cancel()),
  });
  expect(seen.performed).toEqual([]);
  expect(seen.executed.outcome).toEqual({ status: "cancelled", reason: "enough" });
});

test("the executor takes one step after the other, even when a listener of one step triggers the next step", async () => {
  const seen = await observe({
    plan: plan(
      { a: task("a"), b: task("b", {}, ["a"]), c: task("c", {}, ["b"]), d: task("d"), all: join("settled", "c", "d") },
      "all",
    ),
    act: ({ path }) => (path === "a" ? bad() : ok(path, { moments: 3 })),
    heard: (event, { cancel }) => void (event.type === "node.ended" && event.path === "a" && cancel()),
  });
  expect(names(seen, "node.ended")).toEqual(["a", "b", "c", "all", "d"]);
});

test("a waiting node can be cancelled for good; a running or unknown node cannot", async () => {
  const told: unknown[] = [];
  const seen = await observe({
    plan: plan({ a: task("a"), b: task("b", {}, ["a"]), all: join("settled", "a", "b") }, "all"),
    act: ({ path }) => ok(path, { moments: 2 }),
    before: (step, { cancelWaiting }) => {
      if (step === 1) told.push(...["a", "b", "c"].map((id) => cancelWaiting(id, "not this one")));
    },
  });
  expect(told).toEqual([false, true, false]);
  expect(seen.performed).toEqual(["a#1"]);
  expect(seen.executed.outcomeOf("b")).toEqual({ status: "cancelled", reason: "not this one", final: true });
  expect(names(seen, "node.ended")).toEqual(["b", "a", "all"]);
});

test("a failed node can be retried while others run, together with the nodes that were skipped because of it", async () => {
  const told: unknown[] = [];
  let tries = 0;
  const seen = await observe({
    plan: plan({ a: task("a"), b: task("b", {}, ["a"]), c: task("c"), all: join("settled", "b", "c") }, "all"),
    act: ({ path }) => (path === "a" && (tries += 1) === 1 ? bad() : ok(path, { moments: path === "c" ? 5 : 1 })),
    before: (step, { retry }) => {
      if (step === 2) told.push(retry("c"), retry("a"));
    },
  });
  expect(told).toEqual(['"c" has not failed.', undefined]);
  expect(seen.performed).toEqual(["a#1", "c#1", "a#1", "b#1"]);
  expect(seen.executed.outcomeOf("b")).toMatchObject({ status: "ok", output: "b" });
  expect(seen.control.retry("c")).toBe("The run is about to end.");
});

test("the last failed node can be retried as long as another node has not ended", async () => {
  let tries = 0;
  const told: unknown[] = [];
  const seen = await observe({
    plan: plan({ a: task("a"), b: task("b"), all: join("settled", "a", "b") }, "all"),
    act: ({ path }) => (path === "a" && (tries += 1) === 1 ? bad() : ok(path, { moments: path === "b" ? 4 : 1 })),
    before: (step, { retry }) => void (step === 2 && told.push(retry("a"))),
  });
  expect(told).toEqual([undefined]);
  expect(seen.executed.outcomeOf("a")).toMatchObject({ status: "ok" });
});

describe("when only one task of the plan is resumed", () => {
  const body = plan(
    { a: task("a"), b: task("b"), c: task("c", {}, ["a"]), d: task("d", {}, ["c", "b"]), all: join("settled", "d") },
    "all",
  );

  test("that task and its dependents start, and the plan is over once nothing of them can start", async () => {
    const seen = await observe({ plan: body, act: ({ path }) => ok(path), only: "a" });
    expect(seen.performed).toEqual(["a#1", "c#1"]);
    expect(seen.executed.outcomeOf("b")).toEqual({ status: "cancelled", reason: "later" });
    expect(seen.left).toEqual({ stoppable: 0, listeners: 0 });
  });

  test("a task that is added as its dependent starts, too, and another added task does not", async () => {
    const { performed } = await observe({
      plan: body,
      act: ({ path }) => ok(path, { moments: 3 }),
      only: "a",
      before: (step, { change }) =>
        void (step === 1 && change({ newTasks: { e: task("e", {}, ["a"]), f: task("f") }, into: "all" })),
    });
    expect(performed).toEqual(["a#1", "c#1", "e#1"]);
  });

  test("another task that failed and is retried starts, too", async () => {
    const both = plan({ a: task("a"), b: task("b"), all: join("settled", "a", "b") }, "all");
    const before = await observe({ plan: both, act: ({ path }) => (path === "b" ? bad() : ok(path, { moments: 3 })) });
    const cut = before.journal.findIndex(({ type, path }) => type === "node.ended" && path === "b") + 1;
    const { executed } = await observe({
      plan: both,
      past: before.journal.slice(0, cut),
      act: ({ path }) => ok(path, { moments: 3 }),
      only: "a",
      before: (step, { retry }) => void (step === 1 && expect(retry("b")).toBeUndefined()),
    });
    expect(executed.outcome).toMatchObject({ status: "ok" });
  });

  test("the race is over when that task wins, and another task that has already claimed the place wins", async () => {
    const race = plan({ a: task("a"), b: task("b"), won: join("first", "a", "b") }, "won");
    const act = ({ path }: { path: string }) => ok(path);
    const seen = await observe({ plan: race, act, only: "a" });
    expect(seen.performed).toEqual(["a#1"]);
    expect(seen.executed.outcomeOf("b")).toEqual({ status: "cancelled", reason: "no longer needed" });
    const claimed = await observe({
      plan: race,
      act: ({ path }) => (path === "b" ? ok(path, { claims: 9 }) : ok(path, { moments: 99 })),
    });
    const cut = claimed.journal.findIndex(({ type }) => type === "node.won") + 1;
    const after = await observe({ plan: race, act, only: "a", past: claimed.journal.slice(0, cut) });
    expect(after.executed.outcome).toMatchObject({ status: "ok", output: "b" });
  });

  test("a change of the plan marks a task that does not start as failed", async () => {
    const { executed } = await observe({
      plan: body,
      act: ({ path }) => ok(path, { moments: 3 }),
      only: "a",
      before: (step, { change }) => void (step === 1 && change({ markFailed: { b: "not wanted" } })),
    });
    expect(executed.outcomeOf("b")).toMatchObject({ status: "failed", fault: { message: "not wanted" } });
    expect(executed.outcomeOf("d")).toEqual({ status: "skipped", because: "b" });
  });
});

test("a task whose end was not recorded ends with the task above it, unless that task starts it again", async () => {
  const seen = await observe({
    plan: plan({ a: task("a") }, "a"),
    act: ({ path }) => ok(path),
    before: (step, { interrupt }) => void (step === 0 && interrupt("a/helper")),
  });
  expect(seen.events).toContainEqual(
    expect.objectContaining({
      type: "node.ended",
      path: "a/helper",
      outcome: { status: "cancelled", reason: "no longer needed" },
    }),
  );
});

const writes = ["src/**"];
/** Three tasks for one slot, two of which write the same files. */
const ONE_SLOT_SAME_FILES: Parameters<typeof observe>[0] = {
  plan: plan(
    { x: task("x"), a: task("a", { writes }), b: task("b", { writes }), all: join("settled", "x", "a", "b") },
    "all",
  ),
  slots: 1,
  act: ({ path }) => ok(path, { moments: 2 }),
};

test("a task that is cancelled while it waits for its slot releases its files", async () => {
  const seen = await observe({
    ...ONE_SLOT_SAME_FILES,
    before: (step, { change }) => void (step === 1 && change({ markFailed: { a: "not wanted" } })),
  });
  expect(seen.performed).toEqual(["x#1", "b#1"]);
});

test("a task that waits for files or for a slot ends with its run", async () => {
  const seen = await observe({
    ...ONE_SLOT_SAME_FILES,
    before: (step, { cancel }) => void (step === 1 && cancel()),
  });
  expect(seen.performed).toEqual(["x#1"]);
  for (const id of ["a", "b"]) expect(seen.executed.outcomeOf(id)).toEqual({ status: "cancelled", reason: "enough" });
  expect(seen.left).toEqual({ stoppable: 0, listeners: 0 });
});

describe("a winner's place in a race", () => {
  const body = plan({ a: task("a"), b: task("b"), won: join("first", "a", "b") }, "won");

  test("is recorded, and others wait until its holder has applied its changes", async () => {
    const seen = await observe({
      plan: body,
      act: ({ path }) => ok(path, path === "a" ? { claims: 4 } : { moments: 2 }),
      choices: [0, 0, 0],
    });
    expect(names(seen, "node.won")).toEqual(["a"]);
    expect(seen.executed.outcome).toMatchObject({ output: "a" });
    expect(names(seen, "node.ended")).toEqual(["a", "won", "b"]);
  });

  test("passes to the next contender when its holder fails", async () => {
    const seen = await observe({
      plan: body,
      act: ({ path }) => (path === "a" ? bad("boom", { claims: 4 }) : ok(path, { moments: 2 })),
    });
    expect(seen.executed.outcome).toMatchObject({ status: "ok", output: "b" });
    expect(names(seen, "node.won")).toEqual(["a", "b"]);
  });

  test("is not awaited by a task that has failed", async () => {
    const seen = await observe({
      plan: body,
      act: ({ path }) => (path === "a" ? ok(path, { claims: 4 }) : bad("boom", { moments: 2 })),
    });
    expect(names(seen, "node.ended")).toEqual(["b", "a", "won"]);
  });

  test("belongs to the same task after a resume", async () => {
    const act = (fast: string) => (call: { readonly path: string }) =>
      ok(call.path, { moments: call.path === fast ? 1 : 4, claims: 1 });
    const first = await observe({ plan: body, act: act("a") });
    const at = first.journal.findIndex(({ type }) => type === "node.won");
    const after = await observe({ plan: body, past: first.journal.slice(0, at + 1), act: act("b") });
    expect(after.executed.outcome).toMatchObject({ output: "a" });
    const before = await observe({ plan: body, past: first.journal.slice(0, at), act: act("b") });
    expect(before.executed.outcome).toMatchObject({ output: "b" });
  });

  test("is not given when it cannot be recorded", async () => {
    const durable = Promise.reject(new Error("the disk is full"));
    durable.catch(() => {});
    const seen = await observe({ plan: body, durable, act: ({ path }) => ok(path, { claims: 0 }) });
    for (const id of ["a", "b"]) expect(seen.executed.outcomeOf(id)).toEqual({ status: "cancelled", reason: "lost" });
  });
});

describe("the worktree of a contender", () => {
  const isolated = (needs?: readonly string[]): Node => task("work", { isolation: "worktree" }, needs);
  const folders = () => {
    const told: string[] = [];
    const worktrees = (moment: () => Promise<void>): NodeWorktrees => ({
      isolationOf: ({ isolation }) => (isolation === "worktree" ? { dirty: false, keep: false } : undefined),
      run: async ({ call }, work) => {
        told.push(`opened for ${call.path}`);
        const outcome = await work({ top: `/${call.path}`, of: "/", gitDir: "/git" });
        await moment();
        told.push(`closed for ${call.path}: ${outcome.status}`);
        return outcome;
      },
    });
    return { told, worktrees };
  };

  test("is closed before the plan ends, also when the contender never started", async () => {
    const { told, worktrees } = folders();
    const chains = { a1: isolated(), a: isolated(["a1"]), b1: isolated(), b: isolated(["b1"]) };
    const seen = await observe({
      plan: plan({ ...chains, won: join("first", "a", "b") }, "won"),
      worktrees,
      act: ({ path }) => ok(path, { moments: path === "b1" ? 50 : 1 }),
    });
    expect(seen.executed.outcome).toMatchObject({ output: "a" });
    expect(told).toEqual(["opened for a", "opened for b", "closed for a: ok", "closed for b: cancelled"]);
  });

  test("is also opened for a race that a plan change adds; a join that closes a worktree counts as started", async () => {
    const { told, worktrees } = folders();
    const seen = await observe({
      plan: plan({ x: task("x"), all: join("settled", "x") }, "all"),
      slots: 1,
      worktrees,
      act: ({ path }) => ok(path, { moments: 2 }),
      before: (step, { change }) => {
        if (step !== 1) return;
        change({
          newTasks: { a1: isolated(), a: join("settled", "a1") },
          into: "a",
          updateDependencies: { all: ["x", "a"] },
        });
        change({
          newTasks: { b1: task("b1"), b: join("settled", "b1") },
          into: "b",
          updateDependencies: { all: ["x", "a", "b"] },
        });
        change({ newTasks: { won: join("first", "a", "b") }, updateDependencies: { all: ["x"] } });
      },
    });
    expect(told.slice(0, 2)).toEqual(["opened for a", "closed for a: ok"]);
    expect(seen.events).toContainEqual(
      expect.objectContaining({ type: "node.started", path: "a", attempt: 1, kind: "join" }),
    );
    expect(seen.executed.outcomeOf("a")).toMatchObject({ status: "ok" });
    expect(names(seen, "plan.changed")).toHaveLength(3);
  });
});

test("a plan whose run is already cancelled starts nothing, and everything is cancelled", async () => {
  const seen = await observe({
    plan: plan({ a: task("a"), b: task("b", {}, ["a"]) }, "b"),
    act: ({ path }) => ok(path),
    cancelled: true,
  });
  expect(seen.performed).toEqual([]);
  for (const id of ["a", "b"]) expect(seen.executed.outcomeOf(id)).toEqual({ status: "cancelled", reason: "enough" });
});

test("a node that crashes fails, and the error names it", async () => {
  const seen = await observe({
    plan: plan({ a: task("a"), g: { kind: "gate", needs: ["a"], question: "sure?" } }, "g"),
    act: ({ path }) => ok(path),
    answer: () => {
      throw new Error("no terminal");
    },
  });
  expect(seen.executed.outcome).toMatchObject({
    status: "failed",
    fault: { code: "CRASHED", message: expect.stringMatching(/lab\/g.*no terminal/) },
  });
});

test("tasks that write the same files work one after the other, also when there are slots for both", async () => {
  const both = (two: string) =>
    observe({
      plan: plan(
        {
          a: task("a", { writes: ["src/**"] }),
          b: task("b", { writes: [two] }),
          all: join("settled", "a", "b"),
        },
        "all",
      ),
      act: ({ path }) => ok(path, { moments: 2 }),
    });
  const same = await both("src/api.ts");
  expect(same.mostAtOnce).toBe(1);
  expect(same.events).toContainEqual(
    expect.objectContaining({ type: "node.waiting", path: "b", for: [{ task: "a", files: ["src/**"] }] }),
  );
  expect((await both("docs/api.md")).mostAtOnce).toBe(2);
});

test("a resumed plan performs only nodes that have not ended, and decides as before", async () => {
  const body = plan({ a: task("a"), b: task("b", {}, ["a"]) }, "b");
  const before = await observe({ plan: body, act: ({ path }) => ok(`first ${path}`) });
  const past = before.journal.slice(
    0,
    before.journal.findIndex(({ path }) => path === "b"),
  );
  const after = await observe({ plan: body, past, act: ({ path }) => ok(`second ${path}`) });
  expect(after.performed).toEqual(["b#1"]);
  expect(after.executed.outcomeOf("a")).toMatchObject({ output: "first a" });
  expect(after.executed.outcome).toMatchObject({ output: "second b" });
});

describe("a resumed plan", () => {
  const race = plan({ a: task("a"), b: task("b"), won: join("first", "a", "b") }, "won");
  const raced = () => observe({ plan: race, act: ({ path }) => ok(path, { moments: path === "a" ? 1 : 9 }) });
  const again = (body: Body, past: readonly KeptEvent[]) =>
    observe({ plan: body, past, act: ({ path }) => ok(`again ${path}`) });

  test("ends nodes that were being stopped, with the recorded reason or as no longer needed, and does not start these nodes again", async () => {
    const { journal } = await raced();
    const cut = journal.findIndex(({ type, path }) => type === "node.ended" && path === "a") + 1;
    const after = await again(race, journal.slice(0, cut));
    expect(after.performed).toEqual([]);
    expect(names(after, "node.ended")).toEqual(["won", "b"]);
    expect(after.executed.outcomeOf("b")).toEqual({ status: "cancelled", reason: "no longer needed" });

    const half: Outcome = { status: "cancelled", reason: "no longer needed", output: "half" };
    const ended = journal.map((event) =>
      event.type === "node.ended" && event.path === "b" ? { ...event, outcome: half } : event,
    );
    const whole = await again(race, ended);
    expect(whole.executed.outcomeOf("b")).toEqual(half);
    expect(names(whole, "node.ended")).toEqual(["b"]);
  });

  test("reports a decision that differs from the recorded one", async () => {
    const { journal } = await raced();
    const other = journal.map((event) =>
      event.type === "node.ended" && event.path === "won"
        ? { ...event, outcome: { status: "ok", output: "b", from: ["b"] } as Outcome }
        : event,
    );
    expect(names(await again(race, other), "node.ended")).toEqual(["won", "b"]);
  });

  test("includes the changes that were made to it, and the tasks that were cancelled before they began", async () => {
    const body = plan({ x: task("x"), y: task("y"), a: task("a"), all: join("settled", "x", "y", "a") }, "all");
    const before = await observe({
      plan: body,
      slots: 1,
      act: ({ path }) => ok(path, { moments: 2 }),
      before: (step, { change }) =>
        void (step === 1 && change({ newTasks: { n: task("n") }, markFailed: { a: "not wanted" } })),
    });
    const cut = before.journal.findIndex(({ type, path }) => type === "node.ended" && path === "x") + 1;
    const after = await again(body, before.journal.slice(0, cut));
    expect(after.performed).toEqual(["y#1", "n#1"]);
    expect(names(after, "node.ended")).toEqual(["y", "n", "all"]);
    expect(after.executed.outcomeOf("a")).toMatchObject({ status: "failed", fault: { code: "MARKED_FAILED" } });
  });

  test("uses a recorded outcome only for the same kind of node, and forgets nodes that it does not have", async () => {
    const two = plan({ a: task("a"), b: task("b", {}, ["a"]) }, "b");
    const { journal } = await observe({ plan: two, act: ({ path }) => ok(path) });
    const one = await again(plan({ a: task("a") }, "a"), journal);
    expect([one.performed, one.executed.outcome]).toMatchObject([[], { output: "a" }]);
    const gate: Node = { kind: "gate", needs: ["b"], question: "sure?" };
    const asked = await observe({ plan: plan({ b: task("b"), a: gate }, "a"), act: ({ path }) => ok(path) });
    expect((await again(two, asked.journal)).performed).toEqual(["a#2", "b#2"]);
  });

  test("uses an outcome from an old journal that does not contain the prompt of the task", async () => {
    const body = plan({ a: task("a") }, "a");
    const { journal } = await observe({ plan: body, act: ({ path }) => ok(path) });
    const old = journal.map((event) => {
      if (event.type !== "node.started") return event;
      const { prompt: _prompt, ...rest } = event;
      return rest;
    });
    expect((await again(body, old)).performed).toEqual([]);
  });

  test("repeats a task that has another prompt or another agent now", async () => {
    const of = (prompt: string, agent: string) => plan({ a: task(prompt, { agent }) }, "a");
    const { journal } = await observe({ plan: of("Look.", "scout"), act: ({ path }) => ok(path) });
    expect((await again(of("Look.", "scout"), journal)).performed).toEqual([]);
    expect((await again(of("Search.", "scout"), journal)).performed).toEqual(["a#2"]);
    expect((await again(of("Look.", "other"), journal)).performed).toEqual(["a#2"]);
  });

  test("does not start a task that was cancelled for good while it waited", async () => {
    const body = plan({ a: task("a"), b: task("b", {}, ["a"]), all: join("settled", "a", "b") }, "all");
    const before = await observe({
      plan: body,
      act: ({ path }) => ok(path, { moments: 2 }),
      before: (step, { cancelWaiting }) => void (step === 1 && cancelWaiting("b", "not this one")),
    });
    const cut = before.journal.findIndex(({ type, path }) => type === "node.ended" && path === "b") + 1;
    const after = await again(body, before.journal.slice(0, cut));
    expect(after.performed).toEqual(["a#1"]);
    expect(after.executed.outcomeOf("b")).toMatchObject({ status: "cancelled", final: true });
  });

  test("ends the helpers that a task had started and does not start again", async () => {
    const body = plan({ a: task("a") }, "a");
    const helper: Plan = { nodes: { x: task("x") }, output: "x" };
    const before = await observe({
      plan: body,
      act: ({ path }) => ok(path, path === "a" ? { delegates: [helper] } : {}),
    });
    const cut = before.journal.findIndex(({ type, path }) => type === "node.started" && path === "a/x") + 1;
    expect(cut).toBeGreaterThan(0);
    const after = await again(body, before.journal.slice(0, cut));
    expect(names(after, "node.ended")).toEqual(["a/x", "a"]);
  });
});
