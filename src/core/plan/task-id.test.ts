import { expect, test } from "vitest";
import { taskId } from "./task-id.ts";

test("an id is the index and the name", () => {
  expect(taskId(0, "scout")).toBe("0-scout");
});

test("path separators and escape sequences become underscores", () => {
  expect(taskId(3, "../x\u001b[m")).toBe("3-___x__m");
});

test("a task without a name is called after its position", () => {
  expect(taskId(7, "")).toBe("7-task_7");
  expect(taskId(0)).toBe("0-task_0");
});
