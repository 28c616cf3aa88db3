import { expect, test } from "vitest";
import type { KeptEvent } from "../core/run/event.ts";
import { emptyState, reduce } from "../core/run/state.ts";
import { createBoxes, findingsIn } from "./boxes.ts";
import { widthOf } from "../core/view/fit.ts";
import { createLook } from "../core/view/look.ts";

type Fact = Record<string, unknown> & { type: KeptEvent["type"]; path: string };

function shown(facts: readonly Fact[], { columns = 50, unicode = true } = {}): string[] {
  const boxes = createBoxes({
    look: createLook({ color: false, unicode }),
    columns: () => columns,
    delegates: (tool) => tool === "Task",
  });
  const state = emptyState("r");
  const plan = { nodes: { lead: { kind: "task", task: { prompt: "x", refs: {} } } }, output: "lead" };
  const all: Fact[] = [{ type: "run.started", path: "", plan, cwd: "", version: "" }, ...facts];
  return all.flatMap((fact, at) => {
    const event = { seq: at + 1, run: "r", at: 1_000 * at, ...fact } as unknown as KeptEvent;
    reduce(state, event);
    return boxes(event, state) ?? [];
  });
}

const turn = (calls: number): Fact => ({
  type: "turn.ended",
  path: "lead",
  turn: 1,
  text: "",
  calls: Array.from({ length: calls }, (_, at) => ({ id: `c${at}`, name: "Task", input: {} })),
  usage: { turns: 1, input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
  cost: { usd: 0, unpriced: 0 },
});
const begin = (path: string, prompt: string): Fact[] => [
  { type: "node.started", path, attempt: 1, kind: "task", agent: "Explore", prompt },
  { type: "agent.resolved", path, agent: "Explore", hash: "h", model: "offline" },
];
const end = (path: string, outcome: object): Fact => ({ type: "node.ended", path, outcome });

test("an agent is shown as a box when it starts, and as a box with its result", () => {
  const facts = [
    turn(1),
    ...begin("lead/a", "Find where errors become exit codes, in all of the code"),
    end("lead/a", { status: "ok", output: "Here:\n\n- core/error.ts:4\n- cli/main.ts:9\n" }),
  ];
  expect(shown(facts).join("\n")).toBe(`\
┌─ Starting an agent ───────────────────────────┐
│ Agent  Explore                                │
│ Task   Find where errors become exit codes, … │
│ Model  offline                                │
└───────────────────────────────────────────────┘
┌─ ✓ Explore ───────────────────────────────────┐
│ Status  done                                  │
│ Found   core/error.ts:4                       │
│         cli/main.ts:9                         │
│ Spent   2.0s                                  │
└───────────────────────────────────────────────┘`);
});

test("one line announces the agents that start in parallel, and each agent gets a box when it has ended", () => {
  const facts = [
    turn(2),
    ...begin("lead/a", "one"),
    ...begin("lead.2/b", "two"),
    end("lead/a", { status: "ok", output: "found it" }),
    end("lead.2/b", { status: "failed", fault: { code: "TIMEOUT", message: "It took too long.", retryable: false } }),
  ];
  const [first, ...boxes] = shown(facts);
  expect(first).toBe("Starting 2 agents in parallel");
  expect(boxes).toHaveLength(2);
  expect(boxes[0]).toContain("Found   found it");
  expect(boxes[1]).toMatch(/^┌─ ✗ Explore ─/);
  expect(boxes[1]).toContain("Status  It took too long.");
});

test("a background task is shown with its id and the command for its status", () => {
  const details = { background: "run_4k2x/explore" };
  const ended: Fact = { type: "tool.ended", path: "lead", tool: "Task", error: false, text: "", details };
  expect(shown([ended])).toEqual([
    "Task running in background: run_4k2x/explore\nYou can continue. /task-status run_4k2x/explore shows its progress.",
  ]);
  expect(shown([{ ...ended, tool: "read_file" }])).toEqual([]);
});

test("agent text that looks like the start of a background task is not treated as the start of a task", () => {
  const text = "┌─ Background Task Started ─────\n│ Task ID: run_4k2x/explore\n│ Type: explore\n└──────";
  const ended = { type: "tool.ended", path: "lead", call: "c0", tool: "Task", error: false, text, ms: 1 } as const;
  expect(shown([{ ...ended, details: { success: true, result: text } }])).toEqual([]);
});

test("activity of deeper agents is not shown", () => {
  expect(shown([...begin("lead/a/deep", "x"), end("lead/a/deep", { status: "ok", output: "y" })])).toEqual([]);
});

test("no box is wider than the terminal, whatever is in it", () => {
  const facts = [
    turn(1),
    ...begin("lead/a", "日本語 ".repeat(40)),
    end("lead/a", { status: "ok", output: "\u001b[31m- red\n".repeat(20) }),
  ];
  for (const columns of [30, 80, 200])
    for (const unicode of [true, false])
      for (const line of shown(facts, { columns, unicode }).join("\n").split("\n")) {
        expect(widthOf(line)).toBeLessThan(columns);
        expect(line).not.toContain("\u001b");
      }
});

test.each([
  ["1. one\n2) two\n* three", ["one", "two", "three"]],
  ["Just a sentence.\n\n```\ncode\n```", ["Just a sentence.", "code"]],
  ["- a\n- b\n- c\n- d\n- e\n- f\n- g", ["a", "b", "c", "d", "and 3 more"]],
  ["", []],
])("the bullet points of %j", (text, points) => {
  expect(findingsIn(text)).toEqual(points);
});
