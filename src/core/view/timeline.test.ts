import { expect, test } from "vitest";
import type { KeptEvent } from "../run/event.ts";
import { emptyState, reduce } from "../run/state.ts";
import { defined } from "../text/defined.ts";
import type { DurationStyle } from "../text/duration.ts";
import { cellOf } from "./row-cells.ts";
import type { TopRow } from "./run-rows.ts";
import { nodeTimes, timelineText } from "./timeline.ts";

const events = (
  [
    [0, "", { type: "run.started", plan: plan(), cwd: "/w", version: "1" }],
    [1_000, "a", { type: "node.started", kind: "task", attempt: 1, prompt: "a" }],
    [3_000, "a", { type: "gate.opened", question: "May I?", call: "c" }],
    [4_000, "a", { type: "warning", code: "X", text: "still waiting" }],
    [6_000, "a", { type: "gate.answered", answer: { approve: true }, call: "c" }],
    [8_000, "a", { type: "node.ended", outcome: { status: "ok", output: "" } }],
    [10_000, "b", { type: "node.started", kind: "task", attempt: 1, prompt: "b" }],
    [12_000, "b", { type: "node.ended", outcome: { status: "ok", output: "" } }],
  ] as const
).map(([at, path, fact], index) => ({ seq: index + 1, run: "run_x", at, path, ...fact }) as unknown as KeptEvent);

function plan(): object {
  const task = (id: string, more: object = {}): object => ({ kind: "task", task: { prompt: id }, ...more });
  return { nodes: { a: task("a"), b: task("b", { needs: ["a"] }) }, output: "b" };
}

test("a timeline distinguishes queueing, working and waiting: a node is queued once its dependencies have ended", () => {
  const state = events.reduce(reduce, emptyState("run_x"));
  expect(nodeTimes(events, state, 12_000)).toEqual([
    { path: "a", readyAt: 0, startedAt: 1_000, endedAt: 8_000, waits: [{ from: 3_000, to: 6_000 }] },
    { path: "b", readyAt: 8_000, startedAt: 10_000, endedAt: 12_000, waits: [] },
  ]);
  expect(timelineText(events, state, 12_000).split("\n")).toEqual([
    ". queued  # worked  ? waited for a person or a provider  (12s in all, 2 tasks)",
    "[.###????###     ] queued      1s  worked      4s  waited      3s  a",
    "[           ..###] queued      2s  worked      2s  waited      0s  b",
  ]);
});

test("the timeline and the age in `top` show durations in the format of the settings", () => {
  const state = events.reduce(reduce, emptyState("run_x"));
  expect(timelineText(events, state, 12_000, { durations: "tight" })).toContain("(12.0s in all, 2 tasks)");
  const row = { path: "", run: { state: { ...state, startedAt: 1_000, endedAt: 91_500 } } } as unknown as TopRow;
  const age = (durations?: DurationStyle): string => cellOf(row, "age", 0, defined({ durations }));
  expect([age(), age("tight"), age("spaced")]).toEqual(["1m30s", "1m30s", "1m 30s"]);
});
