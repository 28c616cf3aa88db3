import fc from "fast-check";
import { expect, test } from "vitest";
import type { Plan } from "../plan/plan.ts";
import type { Event } from "../run/event.ts";
import { emptyState, reduce } from "../run/state.ts";
import { defined } from "../text/defined.ts";
import type { DurationStyle } from "../text/duration.ts";
import { cellOf } from "./row-cells.ts";
import { rowsOf, type RowOptions, type ShownRun, type TopRow } from "./run-rows.ts";

const task = (prompt: string, needs: string[] = []): object => ({
  kind: "task",
  needs,
  task: { agent: "explore", prompt },
});
const plan = {
  output: "notes",
  nodes: {
    "explore-1": task("Look around"),
    build: { kind: "loop", body: { output: "write", nodes: { write: task("Write it") } } },
    all: { kind: "join", needs: ["explore-1", "build"] },
    notes: task("Write notes", ["all"]),
  },
} as unknown as Plan;
const fault = { code: "MODEL_FAILED", message: "no" };

/** Events in any order: the rows must not depend on the frames that were shown before. */
const happened = fc.tuple(
  fc.constantFrom("explore-1", "explore-1/scout", "build", "build.2/write", "all", "notes", "late"),
  fc.constantFrom<object>(
    { type: "node.started", kind: "task", attempt: 1, agent: "explore", prompt: "Do it" },
    { type: "node.started", kind: "loop", attempt: 1 },
    { type: "node.started", kind: "task", attempt: 1, agent: "explore", label: "named" },
    { type: "text.delta", text: "words" },
    { type: "gate.opened", question: "May I?" },
    { type: "node.ended", outcome: { status: "ok", output: "" } },
    { type: "node.ended", outcome: { status: "failed", fault } },
    { type: "node.ended", outcome: { status: "cancelled", reason: "stop" } },
    { type: "run.paused", reason: "stop" },
    { type: "run.resumed" },
    { type: "run.resumed", task: "build" },
    { type: "plan.changed", change: { newTasks: { extra: task("Something else") } } },
  ),
);

test("rows that are reused between frames equal rows that are computed from scratch, after any events", () => {
  const shapes: readonly RowOptions[] = [
    { one: true, shape: "tree" },
    { one: false, shape: "flat" },
    { one: false, shape: "tree" },
  ];
  const told = ({ rows }: Readonly<{ rows: readonly TopRow[] }>): object[] =>
    rows.map(({ run: _, node, ...row }) => ({ ...row, begun: node?.startedAt }));
  const ended = fc.constantFrom<ShownRun["life"]>("running", "waiting", "paused", "failed");
  fc.assert(
    fc.property(fc.array(fc.tuple(happened, ended), { maxLength: 20 }), (steps) => {
      const events: Event[] = [];
      const add = (path: string, fact: object): Event => {
        const event = { seq: events.length + 1, run: "run_1", at: events.length + 1, path, ...fact };
        events.push(event as unknown as Event);
        return events.at(-1)!;
      };
      const state = emptyState("run_1");
      reduce(state, add("", { type: "run.started", plan, cwd: "/w", version: "1" }));
      let kept: ShownRun = { id: "run_1", state, life: "running", problems: [] };
      for (const [[path, fact], life] of steps) {
        reduce(state, add(path, fact));
        if (life !== kept.life) kept = { ...kept, life };
        const fresh: ShownRun = { ...kept, state: events.reduce(reduce, emptyState("run_1")) };
        for (const shape of shapes)
          expect(told({ rows: rowsOf([kept], shape) })).toEqual(told({ rows: rowsOf([fresh], shape) }));
      }
    }),
    { numRuns: 60 },
  );
});

test("a row that did not change is the same object in the next frame", () => {
  const state = emptyState("run_1");
  reduce(state, { seq: 1, run: "run_1", at: 1, path: "", type: "run.started", plan, cwd: "/w", version: "1" });
  const run: ShownRun = { id: "run_1", state, life: "running", problems: [] };
  const before = rowsOf([run], { one: true, shape: "tree" });
  reduce(state, { run: "run_1", at: 2, path: "notes", type: "text.delta", text: "x" } as unknown as Event);
  const after = rowsOf([run], { one: true, shape: "tree" });
  expect(before.map(({ path }) => path)).toEqual(["explore-1", "build", "notes"]);
  const again = rowsOf([run], { one: true, shape: "tree" });
  expect(again.every((row, at) => row === after[at])).toBe(true);
});

test("the age in `top` has the format of durations in the settings", () => {
  const state = { ...emptyState("run_x"), startedAt: 1_000, endedAt: 91_500 };
  const row = { path: "", run: { state } } as unknown as TopRow;
  const age = (durations?: DurationStyle): string => cellOf(row, "age", 0, defined({ durations }));
  expect([age(), age("tight"), age("spaced")]).toEqual(["1m30s", "1m30s", "1m 30s"]);
});
