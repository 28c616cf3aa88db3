import { expect, test } from "vitest";
import type { KeptEvent } from "../run/event.ts";
import type { RunStatus } from "../run/run-status.ts";
import { emptyState, reduce, type State } from "../run/state.ts";
import { nodeTitle, progressOf, progressWords, settledWords } from "./nodes.ts";
import { statusText } from "../../sinks/status-text.ts";

const outcomes = {
  ok: { status: "ok", output: "" },
  failed: { status: "failed", fault: { code: "CRASHED", message: "broke", retryable: false } },
  cancelled: { status: "cancelled", reason: "not needed" },
  skipped: { status: "skipped", because: "a" },
} as const;

/** A run whose tasks are in these states. */
function stateOf(...tasks: readonly (keyof typeof outcomes | "running" | "waiting")[]): State {
  const nodes = Object.fromEntries(tasks.map((_, at) => [`t${at}`, { kind: "task", task: { prompt: "x", refs: {} } }]));
  const all = Object.assign(nodes, { all: { kind: "join", needs: Object.keys(nodes), pick: "settled" } });
  const facts = [
    { type: "run.started", path: "", plan: { nodes: all, output: "all" }, cwd: "", version: "" },
    ...tasks.flatMap((how, at) => [
      ...(how === "waiting" ? [] : [{ type: "node.started", path: `t${at}`, attempt: 1, kind: "task" }]),
      ...(how === "waiting" || how === "running"
        ? []
        : [{ type: "node.ended", path: `t${at}`, outcome: outcomes[how] }]),
    ]),
  ];
  return facts
    .map((fact, at) => ({ seq: at + 1, run: "r", at, ...fact }) as unknown as KeptEvent)
    .reduce(reduce, emptyState("r"));
}

test("only successful tasks count as done; failed, cancelled and skipped tasks are counted separately", () => {
  const state = stateOf("ok", "ok", "failed", "cancelled", "cancelled", "skipped", "running", "waiting");
  const progress = progressOf(state);
  expect(progress).toEqual({
    total: 8,
    done: 2,
    failed: 1,
    cancelled: 2,
    skipped: 1,
    running: 1,
    waiting: 1,
  });
  expect(settledWords(progress)).toEqual(["2 of 8 done", "1 failed", "2 cancelled", "1 skipped"]);
  expect(progressWords(progress).slice(-2)).toEqual(["1 running", "1 waiting"]);
});

test.each<[RunStatus, string]>([
  ["running", "Tasks: 1 of 4 done, 1 cancelled, 1 running, 1 waiting"],
  ["interrupted", "Tasks: 1 of 4 done, 1 cancelled"],
])("the status of a run that is %s shows the outcome of each task", (life, line) => {
  expect(statusText(stateOf("ok", "cancelled", "running", "waiting"), life, 0).split("\n")).toContain(line);
});

test("only the body of a loop has rounds; helpers that a task starts one after the other are numbered", () => {
  const started = ["build", "build.2/review", "lead", "lead/scout", "lead.2/scout"].map((path, at) => ({
    seq: at + 2,
    run: "r",
    at,
    type: "node.started",
    path,
    attempt: 1,
    kind: path === "build" ? "loop" : "task",
    label: path.slice(path.lastIndexOf("/") + 1),
  }));
  const state = (started as unknown as KeptEvent[]).reduce(reduce, emptyState("r"));
  expect([...state.nodes.values()].map(nodeTitle)).toEqual(["build", "review, round 2", "lead", "scout", "scout #2"]);
});

test("the status of several tasks names their agents; the status of one task names its type", () => {
  const typed = (...tasks: readonly "ok"[]): string | undefined =>
    statusText(withAgents(stateOf(...tasks)), "ok", 0)
      .split("\n")
      .find((line) => line.includes("explore"));
  expect(typed("ok")).toBe("Type: explore");
  expect(typed("ok", "ok")).toBe("Agents: explore");
});

function withAgents(state: State): State {
  for (const view of state.nodes.values()) if (view.kind === "task") view.agent = "explore";
  return state;
}
