import { expect, test } from "vitest";
import type { RunStatus } from "../core/run/run-status.ts";
import { modernTask } from "./tasks.ts";

const task = (life: RunStatus): Record<string, unknown> =>
  modernTask(
    { id: "run_a", life, startedAt: 1_000, changedAt: 0, doing: "thinks" },
    { result: { content: [{ type: "text", text: "found" }] }, questions: {} },
  );

test.each<[RunStatus, string, string[]]>([
  ["starting", "working", []],
  ["running", "working", []],
  ["parked", "working", []],
  ["waiting", "input_required", ["inputRequests"]],
  ["paused", "failed", ["error"]],
  ["interrupted", "failed", ["error"]],
  ["ok", "completed", ["result"]],
  ["failed", "completed", ["result"]],
  ["cancelled", "cancelled", []],
])("a run that is %s is an MCP task that is %s, and has only the fields of this status", (life, status, fields) => {
  const shown = task(life);
  expect(shown["status"]).toBe(status);
  expect(Object.keys(shown).filter((key) => ["inputRequests", "error", "result"].includes(key))).toEqual(fields);
});

test("the MCP task of a stopped run states the reason, and its time of change is not earlier than its start", () => {
  expect(task("paused")).toMatchObject({
    statusMessage: "the run is paused; its owner can resume it",
    error: { message: "the run is paused; its owner can resume it" },
    lastUpdatedAt: "1970-01-01T00:00:01.000Z",
  });
});

test("a completed MCP task contains its result", () => {
  expect(task("ok")["result"]).toEqual({ resultType: "complete", content: [{ type: "text", text: "found" }] });
});
