import { describe, expect, test } from "vitest";
import type { Plan } from "../../core/plan/plan.ts";
import type { Event } from "../../core/run/event.ts";
import { emptyState, reduce, type State } from "../../core/run/state.ts";
import { widthOf } from "../../core/view/fit.ts";
import { footRows, taskRows } from "./run-rows.ts";
import { createLook } from "../../core/view/look.ts";

const look = createLook({ color: false, unicode: true });
const frame = (state: State, columns = 80, most = 11, interrupt = ""): string[] => [
  ...taskRows(state, { look, columns, most, now: 10_000, tick: 0 }),
  ...footRows(state, { look, columns, now: 10_000, hint: "", interrupt }),
];

type Fact = Record<string, unknown> & { type: Event["type"]; path?: string };

function stateOf(ids: readonly string[], ...facts: readonly Fact[]): State {
  const nodes = Object.fromEntries(ids.map((id) => [id, { kind: "task", task: { prompt: "x" } }]));
  const plan = { nodes: { ...nodes, all: { kind: "join", needs: ids, pick: "settled" } }, output: "all" } as Plan;
  const all: Fact[] = [{ type: "run.started", plan, cwd: "", version: "" }, ...facts];
  return all
    .map((fact, index) => ({ seq: index + 1, run: "r", path: "", at: 1_000, ...fact }) as unknown as Event)
    .reduce(reduce, emptyState("r"));
}

const start = (path: string): Fact => ({ type: "node.started", path, attempt: 1, kind: "task" });
const end = (path: string, at: number): Fact => ({
  type: "node.ended",
  path,
  at,
  outcome: { status: "ok", output: "" },
});
const ids = Array.from({ length: 50 }, (_, n) => `agent-${n}`);

describe("a frame", () => {
  test("shows what each running task does, and the overall progress", () => {
    const state = stateOf(
      ["a", "b", "c"],
      start("a"),
      start("b"),
      { type: "tool.started", path: "a", call: "1", tool: "grep_files", preview: "auth in src", effect: "read" },
      end("b", 3_000),
    );
    expect(frame(state, 60)).toEqual([
      "⠋ a         grep_files auth in src                      9.0s",
      "1 of 3 done · 1 running · 1 waiting · 9.0s",
    ]);
  });

  test("of fifty running agents never exceeds the rows and columns of the terminal", () => {
    const state = stateOf(ids, ...ids.map(start));
    for (const [columns, rows] of [
      [80, 11],
      [40, 8],
      [10, 3],
      [200, 11],
      [2, 2],
      [1, 1],
    ] as const) {
      const lines = frame(state, columns, rows);
      expect(lines.length).toBeLessThanOrEqual(rows + 1);
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(Math.max(columns, 1));
    }
    expect(frame(state)).toContain("  +40 more");
  });

  test("text of agents cannot change colours or break lines", () => {
    const state = stateOf(["a"], start("a"), {
      type: "tool.started",
      path: "a",
      call: "1",
      tool: "x\u001b[31m",
      preview: "one\ntwo\r\u009b2J",
      effect: "read",
    });
    expect(frame(state)[0]).toMatch(/^⠋ a {9}x one two {2,}9\.0s$/);
  });

  test("counts down to the next try while every task is parked, and names a fix", () => {
    const park = (path: string, more: object): Fact => ({
      type: "node.parked",
      path,
      why: "The key was refused.",
      waitsFor: "key",
      helps: "Correct it.",
      ...more,
    });
    const one = stateOf(["a", "b"], start("a"), start("b"), park("a", { nextTry: 75_000 }));
    expect(frame(one).join("\n")).not.toContain("next try");
    const all = stateOf(["a"], start("a"), park("a", { nextTry: 75_000 }));
    expect(frame(all).at(-2)).toBe("parked: next try in 1m 5s · Correct it.");
    expect(frame(all, 80, 11, "Ctrl-C pauses").at(-2)).toBe("parked: next try in 1m 5s · Ctrl-C pauses · Correct it.");
    const due = stateOf(["a"], start("a"), park("a", { nextTry: 9_000 }));
    expect(frame(due).at(-2)).toContain("parked: trying again");
    const limit = stateOf(["a"], start("a"), park("a", { waitsFor: "budget" }));
    expect(frame(limit).at(-2)).toContain("waits until a limit is raised");
    expect(frame(all, 30).every((line) => widthOf(line) <= 30)).toBe(true);
  });

  test("shows the end of the text that is being written", () => {
    const state = stateOf(
      ["a"],
      start("a"),
      { type: "text.delta", path: "a", text: "First line.\nSecond li" },
      { type: "text.delta", path: "a", text: "ne grows" },
    );
    expect(frame(state)[0]).toContain("Second line grows");
  });
});
