import { describe, expect, test } from "vitest";
import type { Plan } from "../core/plan/plan.ts";
import type { Event } from "../core/run/event.ts";
import { emptyState, reduce, type State } from "../core/run/state.ts";
import { widthOf } from "../core/view/fit.ts";
import { frameOf } from "./live.ts";
import { createLook } from "../core/view/look.ts";

const look = createLook({ color: false, unicode: true });
const frame = (state: State, columns = 80, rows = 24): string[] =>
  frameOf(state, { look, columns, rows, now: 10_000, tick: 0, hint: "" });

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
const end = (path: string, at: number, status = "ok"): Fact => ({
  type: "node.ended",
  path,
  at,
  outcome:
    status === "ok"
      ? { status, output: "" }
      : { status, fault: { code: "CRASHED", message: "broke", retryable: false } },
});
const ids = Array.from({ length: 50 }, (_, n) => `agent-${n}`);

describe("a frame", () => {
  test("shows what each task does, its usage, and the overall progress", () => {
    const state = stateOf(
      ["a", "b", "c"],
      start("a"),
      start("b"),
      { type: "tool.started", path: "a", call: "1", tool: "grep_files", preview: "auth in src", effect: "read" },
      end("b", 3_000),
    );
    expect(frame(state, 60)).toEqual([
      "⠋ a         grep_files auth in src                      9.0s",
      "✓ b                                                     2.0s",
      "1 of 3 done · 1 running · 1 waiting · 9.0s",
    ]);
  });

  test("of fifty running agents never leaves the terminal, whatever its size", () => {
    const state = stateOf(ids, ...ids.map(start));
    for (const [columns, rows] of [
      [80, 24],
      [40, 10],
      [10, 4],
      [200, 60],
      [2, 2],
      [1, 1],
    ] as const) {
      const lines = frame(state, columns, rows);
      expect(lines.length).toBeLessThanOrEqual(Math.max(2, rows - 1));
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(Math.max(columns, 1));
    }
    expect(frame(state)).toContain("  +35 more");
  });

  test("prefers what runs, then what failed, and keeps the order in which they began", () => {
    const done = ids.slice(0, 40);
    const state = stateOf(
      ids,
      ...ids.map(start),
      ...done.map((id, n) => end(id, 2_000 + n, id === "agent-3" ? "failed" : "ok")),
    );
    const shown = frame(state)
      .slice(0, -2)
      .map((line) => line.split(" ")[1]);
    expect(shown).toEqual(["agent-3", "agent-36", "agent-37", "agent-38", "agent-39", ...ids.slice(40)]);
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

  test("counts down while nothing goes on, and says what helps", () => {
    const park = (path: string, more: object): Fact => ({
      type: "node.parked",
      path,
      why: "The key was refused.",
      waitsFor: "key",
      helps: "Correct it.",
      ...more,
    });
    const one = stateOf(["a", "b"], start("a"), start("b"), park("a", { nextTry: 75_000 }));
    expect(frame(one).join("\n")).not.toContain("asks again");
    const all = stateOf(["a"], start("a"), park("a", { nextTry: 75_000 }));
    expect(frame(all).at(-2)).toBe("parked: asks again in 1m 5s · Correct it.");
    const own = { look, columns: 80, rows: 24, now: 10_000, tick: 0, hint: "", interrupt: "Ctrl-C pauses" };
    expect(frameOf(all, own).at(-2)).toBe("parked: asks again in 1m 5s · Ctrl-C pauses · Correct it.");
    const due = stateOf(["a"], start("a"), park("a", { nextTry: 9_000 }));
    expect(frame(due).at(-2)).toContain("parked: asking again");
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
