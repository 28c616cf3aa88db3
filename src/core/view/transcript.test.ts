import { expect, test } from "vitest";
import { noCost, noUsage } from "../outcome/usage.ts";
import type { KeptEvent } from "../run/event.ts";
import { transcriptsOf } from "./transcript.ts";

let seq = 0;
/** Facts as a journal stores them. */
const kept = (path: string, fact: object): KeptEvent =>
  ({ seq: ++seq, run: "r", at: seq, path, ...fact }) as unknown as KeptEvent;
const turn = (path: string, text: string, ...calls: { id: string; name: string }[]): KeptEvent =>
  kept(path, {
    type: "turn.ended",
    turn: 1,
    text,
    calls: calls.map((call) => ({ ...call, input: {} })),
    usage: noUsage(),
    cost: noCost(),
  });
const ended = (path: string, call: string, text: string, error = false): KeptEvent =>
  kept(path, { type: "tool.ended", call, tool: "x", error, text, ms: 5 });

test("a transcript shows a tool call where the model made it, with the result that came later", () => {
  const [task] = transcriptsOf([
    kept("a", { type: "node.started", attempt: 1, kind: "task", agent: "explore", prompt: "look" }),
    turn("a", "I look.", { id: "1", name: "grep_files" }, { id: "2", name: "bash" }),
    ended("a", "2", "second"),
    ended("a", "1", "first", true),
    kept("a", { type: "node.ended", outcome: { status: "ok", output: "found" } }),
  ]);
  expect(
    task?.entries.map((entry) => (entry.kind === "call" ? [entry.tool, entry.state, entry.result] : entry.kind)),
  ).toEqual(["prompt", "turn", ["grep_files", "error", "first"], ["bash", "ok", "second"], "end"]);
});

test("a transcript shows a tool call without a recorded result as open, and a denied call as denied", () => {
  const [task] = transcriptsOf([
    turn("a", "", { id: "1", name: "bash" }, { id: "2", name: "write_file" }),
    kept("a", { type: "tool.denied", call: "2", tool: "write_file", rule: "plan mode", text: "not allowed" }),
  ]);
  expect(task?.entries.slice(1)).toMatchObject([{ state: "open" }, { state: "denied", result: "not allowed" }]);
});

test("in a transcript, when a call id is used again after a retry, its result belongs to the later call", () => {
  const [task] = transcriptsOf([
    turn("a", "", { id: "1", name: "bash" }),
    ended("a", "1", "old"),
    turn("a", "", { id: "1", name: "bash" }),
    ended("a", "1", "new"),
  ]);
  expect(task?.entries.filter(({ kind }) => kind === "call")).toMatchObject([{ result: "old" }, { result: "new" }]);
});

test("each task has its own transcript, and a question is shown with its answer", () => {
  const all = transcriptsOf([
    kept("a", { type: "node.started", attempt: 1, kind: "task", prompt: "one" }),
    kept("a/b", { type: "node.started", attempt: 1, kind: "task", prompt: "two" }),
    kept("a", { type: "gate.opened", question: "May I?" }),
    kept("a", { type: "gate.answered", answer: { approve: false, text: "no" } }),
  ]);
  expect(all.map(({ path }) => path)).toEqual(["a", "a/b"]);
  expect(all[0]?.entries.at(-1)).toMatchObject({ kind: "question", answer: { approve: false, text: "no" } });
});
