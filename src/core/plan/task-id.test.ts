import { expect, test } from "vitest";
import { taskId } from "./task-id.ts";

test("the id of a task consists of its index and its name", () => {
  expect(taskId(0, "scout")).toBe("0-scout");
});

test("in the id of a task, path separators and escape sequences become underscores", () => {
  expect(taskId(3, "../x\u001b[m")).toBe("3-___x__m");
});

test("the id of a task without a name contains its position instead", () => {
  expect(taskId(7, "")).toBe("7-task_7");
  expect(taskId(0)).toBe("0-task_0");
});
