import { expect, test } from "vitest";
import type { Plan } from "../../core/plan/plan.ts";
import type { Event } from "../../core/run/event.ts";
import { emptyState, reduce } from "../../core/run/state.ts";
import { createLook } from "../../core/view/look.ts";
import { listedRows, topFrame, type TopState } from "./frame.ts";
import { firstView, keepSelection, press, type TopView } from "./view.ts";

const look = createLook({ color: false, unicode: true });

const task = (...needs: string[]): object => ({ kind: "task", needs, task: { agent: "explore", prompt: "x" } });
const plan = {
  output: "ship",
  nodes: {
    read: task(),
    api: task("read"),
    page: task("read"),
    docs: task("read"),
    all: { kind: "join", needs: ["api", "page"], pick: "all" },
    test: task("all"),
    ship: task("test", "docs"),
  },
};

function shown(): TopState {
  const state = emptyState("run_1");
  const facts: readonly (readonly [string, object])[] = [
    ["", { type: "run.started", plan: plan as unknown as Plan, cwd: "/w", version: "1" }],
    ["read", { type: "node.started", kind: "task", attempt: 1, agent: "explore", label: "read" }],
    ["read", { type: "node.ended", outcome: { status: "ok", output: "" } }],
    ["api", { type: "node.started", kind: "task", attempt: 1, agent: "explore", label: "api" }],
    ["api/look", { type: "node.started", kind: "task", attempt: 1, agent: "explore", label: "look" }],
  ];
  for (const [index, [path, fact]] of facts.entries())
    reduce(state, { seq: index + 1, run: "run_1", at: index, path, ...fact } as unknown as Event);
  return { title: "t", runs: [{ id: "run_1", state, life: "running", problems: [] }], one: true, hidden: [] };
}

const pressed = (state: TopState, view: TopView, ...names: string[]): TopView =>
  names.reduce((before, name) => {
    const { rows } = listedRows(state, before);
    const kept = keepSelection(rows, before);
    const next = press(rows, kept, { name }, 10).view;
    return keepSelection(listedRows(state, next).rows, next);
  }, view);

const textOf = (state: TopState, view: TopView, columns = 100): string[] =>
  topFrame(state, view, { columns, height: 16, now: 10, look }).rows.map((row) => {
    let text = "";
    for (const field of row) text = `${text.padEnd(field.column)}${field.text}`;
    return text.trimEnd();
  });

test("the graph of a run has a column per layer, lines between tasks, and no join", () => {
  const state = shown();
  const view = pressed(state, firstView, "t", "t");
  expect(view.shape).toBe("graph");
  expect(textOf(state, view).slice(2, 8)).toMatchInlineSnapshot(`
    [
      "  ✓ read      ─┬─> ⠋ api       ─┬─  ⠋ look",
      "               ├─  z page      ─┴─  z test      ─┐",
      "               └─  z docs      ──────────────────┴─  z ship",
      "",
      "api · explore · starting",
      "",
    ]
  `);
});

test("in the graph of top, left and right follow the edges, and the selected task stays selected in every view", () => {
  const state = shown();
  const view = pressed(state, firstView, "t", "t", "home");
  expect(view.selected).toBe("run_1/read");
  const right = pressed(state, view, "right", "right");
  expect(["run_1/test", "run_1/api/look"]).toContain(right.selected);
  expect(pressed(state, right, "left", "left").selected).toBe("run_1/read");
  expect(pressed(state, right, "t")).toMatchObject({ shape: "tree", selected: right.selected });
});

test("in top, a graph that is wider than the screen counts the hidden tasks", () => {
  const state = shown();
  const lines = textOf(state, pressed(state, firstView, "t", "t"), 40);
  expect(lines.join("\n")).toMatch(/hidden: \d outside of the screen/);
  for (const text of lines) expect(text.length).toBeLessThanOrEqual(40);
});
