import { expect, test } from "vitest";
import { place } from "../../command.ts";

const log = [
  { ts: 1, event: "TASK_CREATED", taskId: "t1", data: { inputText: "what is 2+2?", description: "sum" } },
  { ts: 2, event: "REASON_DONE", taskId: "t1", data: {} },
  { ts: 3, event: "TASK_COMPLETED", taskId: "t1", data: { finalResult: { response: "four" } } },
]
  .map((line) => JSON.stringify(line))
  .join("\n");

test("replay shows the log of a pegasus task, and a task without a type uses `general`", async () => {
  const here = place({ "task1.jsonl": `${log}\n` });
  const { code, stdout, stderr } = await here.run(["replay", "task1.jsonl", "--speed", "0"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "four\n" });
  expect(stderr).toContain("general");
});

test("the type of a pegasus log is shown", async () => {
  const typed = log.replace('"description":"sum"', '"description":"sum","taskType":"plan"');
  const { stderr } = await place({ "t.jsonl": `${typed}\n` }).run(["replay", "t.jsonl", "--speed", "0"]);
  expect([stderr.includes("plan"), stderr.includes("general")]).toEqual([true, false]);
});

test("a file that is not a log is refused with an error of one sentence", async () => {
  const here = place({ "notes.jsonl": "hello\n" });
  const { code, stderr } = await here.run(["replay", "notes.jsonl", "--speed", "0"]);
  expect(code).toBe(2);
  expect(stderr).toContain("notes.jsonl");
  expect(stderr).not.toContain("    at ");
});
