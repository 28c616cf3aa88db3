import { expect, test } from "vitest";
import { bad, observe, ok, task } from "../../../test/runtime/execute/lab.ts";
import type { Body, Node } from "../../core/plan/plan.ts";

const plan = (nodes: Record<string, Node>, output: string): Body => ({ nodes, output });
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

test("the first success decides a race: the others are stopped, and their output is discarded", async () => {
  const seen = await observe({
    plan: plan({ slow: task("slow"), fast: task("fast"), won: join("first", "slow", "fast") }, "won"),
    act: ({ path }) => ok(`from ${path}`, { moments: path === "slow" ? 9 : 1 }),
  });
  expect(seen.executed.outcome).toMatchObject({ status: "ok", output: "from fast", from: ["fast"] });
  expect(seen.executed.outcomeOf("slow")).toEqual({ status: "cancelled", reason: "no longer needed" });
});

test("cancelling ends what runs and what waits with the reason, and starts nothing more", async () => {
  const seen = await observe({
    plan: plan({ a: task("a"), b: task("b"), c: task("c", {}, ["a"]), all: join("settled", "b", "c") }, "all"),
    slots: 1,
    act: ({ path }) => ok(path, { moments: 5 }),
    before: (step, { cancel }) => void (step === 1 && cancel("enough")),
  });
  expect(seen.performed).toEqual(["a#1"]);
  for (const id of ["a", "b", "c", "all"])
    expect(seen.executed.outcomeOf(id)).toEqual({ status: "cancelled", reason: "enough" });
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
