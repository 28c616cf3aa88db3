import { expect, test } from "vitest";
import { taskId } from "./task-id.ts";

test("an id is the index and the name", () => {
  expect(taskId(0, "scout")).toBe("0-scout");
});

test("what could be a path or a sequence becomes underscores", () => {
  expect(taskId(3, "../x\u001b[m")).toBe("3-___x__m");
});

test("a name of nothing leaves the index", () => {
  expect(taskId(7, "")).toBe("7-");
});
