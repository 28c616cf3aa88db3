import { expect, test } from "vitest";
import type { Event } from "./event.ts";
import { isWaiting, openQuestions } from "./run-status.ts";
import { emptyState, hasWaitingNode, nodesUnderWay, reduce, type State, waitsNow } from "./state.ts";

const RUN = "run_status000000";
let seq = 0;
const fold = (state: State, path: string, fact: object): State =>
  reduce(state, { seq: ++seq, run: RUN, path, at: seq, ...fact } as Event);
const start = (state: State, path: string): State =>
  fold(state, path, { type: "node.started", attempt: 1, kind: "task", prompt: "x" });
const end = (state: State, path: string, outcome: object = { status: "ok", output: "" }): State =>
  fold(state, path, { type: "node.ended", outcome });

test("the set of running nodes equals a search through all nodes, also after retries and resumes", () => {
  const state = emptyState(RUN);
  const names = Array.from({ length: 30 }, (_, n) => `t${n}`);
  let random = 7;
  for (let step = 0; step < 600; step += 1) {
    random = (random * 48_271) % 2_147_483_647;
    const path = names[random % names.length]!;
    const what = random % 11;
    if (what < 5) start(state, path);
    else if (what < 8) end(state, path);
    else if (what === 8) end(state, path, { status: "cancelled", reason: "stopped" });
    else if (what === 9) fold(state, "", { type: "run.resumed", after: seq });
    else fold(state, path, { type: "gate.opened", question: "?" });
    const open = [...state.nodes.values()].filter(({ status }) => status === "running");
    expect(new Set(nodesUnderWay(state))).toEqual(new Set(open));
    expect(hasWaitingNode(state)).toBe([...state.nodes.values()].some(waitsNow));
  }
});

test("tasks that were not resumed with one task neither count as waiting nor keep a run from waiting", () => {
  const state = emptyState(RUN);
  const task = { kind: "task", task: { prompt: "x" } };
  const plan = {
    output: "all",
    nodes: { a: task, b: task, all: { kind: "join", pick: "settled", needs: ["a", "b"] } },
  };
  fold(state, "", { type: "run.started", plan, cwd: "/", version: "1", limits: {} });
  for (const path of ["a", "b", "b/helper"]) start(state, path);
  for (const path of ["a", "b/helper"]) fold(state, path, { type: "gate.opened", question: "?" });
  fold(state, "", { type: "run.resumed", after: seq, task: "a" });
  expect(openQuestions(state).map(({ path }) => path)).toEqual(["a"]);
  expect(isWaiting(state)).toBe(true);
  fold(state, "", { type: "run.resumed", after: seq });
  expect(isWaiting(state)).toBe(false);
});

test("a run counts as waiting while all of its running tasks wait for an answer", () => {
  const state = emptyState(RUN);
  for (const path of ["a", "b"]) start(state, path);
  fold(state, "a", { type: "gate.opened", question: "?" });
  expect(isWaiting(state)).toBe(false);
  fold(state, "b", { type: "gate.opened", question: "?" });
  expect(isWaiting(state)).toBe(true);
  start(state, "b/helper");
  expect(isWaiting(state)).toBe(false);
  end(state, "b/helper");
  expect(isWaiting(state)).toBe(true);
});
