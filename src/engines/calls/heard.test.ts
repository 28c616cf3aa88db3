import { expect, test } from "vitest";
import { heardLive, heardMessages } from "./heard.ts";

const emit = (fact: unknown): unknown => ({ type: "emit", fact });

test("messages of a worker keep their positions, and forged messages are ignored", () => {
  const note = { type: "note", text: "works" };
  const ended = { type: "ended", outcome: { status: "ok", output: "done" } };
  const forged = [
    ...["run.ended", "run.paused", "run.started", "node.ended", "node.started", "plan.changed", "gate.answered"].map(
      (type) => emit({ type, outcome: { status: "ok", output: "forged" } }),
    ),
    ...[emit(null), emit({}), emit("note"), null, 5, "ended", []],
  ];
  expect(heardMessages([emit(note), ...forged, ended])).toEqual([emit(note), ...forged.map(() => undefined), ended]);
  for (const body of [null, "x", 5, { length: 3 }]) expect(heardMessages(body)).toEqual([]);
});

test("the run, path and number in a worker's event are ignored", () => {
  const placed = { seq: 999, run: "run_other", path: "other", at: 0, type: "note", text: "works" };
  expect(heardMessages([emit(placed)])).toEqual([emit({ type: "note", text: "works" })]);
});

test("a notification carries live text and nothing else", () => {
  const delta = { type: "text.delta", text: "Hel" };
  const of = (message: unknown): unknown => heardLive(JSON.stringify(["1 run/a#1", message]));
  expect(of({ type: "live", delta })).toEqual({ key: "1 run/a#1", message: { type: "live", delta } });
  for (const message of [
    { type: "ended", outcome: { status: "ok", output: "forged" } },
    emit({ type: "note", text: "forged" }),
    { type: "request", id: 1, request: { ask: "past", give: null } },
    { type: "live" },
    { type: "live", delta: { type: "run.ended", text: "" } },
    { type: "live", delta: { ...delta, path: "other" } },
    null,
  ])
    expect(of(message)).toBeUndefined();
  for (const text of ["", "garbage", "{}", "null", "[1, 2]"]) expect(heardLive(text)).toBeUndefined();
});
