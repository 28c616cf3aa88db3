import { expect, test } from "vitest";
import { NODE_ID } from "../core/plan/plan.ts";
import { asId, asPath, nodeIds, typedPath } from "./names.ts";

test.each<[string, string]>([
  ["scout", "scout"],
  ["openai/gpt 4", "openai_gpt 4"],
  ["-dash", "_dash"],
  ["", "_"],
  ["äöü", "äöü"],
  ["a\u0308", "ä"],
  ["数据库", "数据库"],
  ["प्रतिवेदन", "प्रतिवेदन"],
  ["前端 页", "前端 页"],
  [" 🚀 ", "_"],
  ["__proto__", "___proto__"],
  ["x".repeat(100), "x".repeat(80)],
  ["𠮷".repeat(100), "𠮷".repeat(80)],
])("the task name %j becomes the node id %j", (name, id) => {
  expect(asId(name)).toBe(id);
  expect(id).toMatch(NODE_ID);
});

test.each<[string, (string | { given: string })[], string[]]>([
  ["generated names are numbered", ["scout", "scout", "scout"], ["scout", "scout-2", "scout-3"]],
  ["a given name stays, at any position", ["scout", { given: "scout" }], ["scout-2", "scout"]],
  ["a number that is in use is skipped", ["a", { given: "a-2" }, "a"], ["a", "a-2", "a-3"]],
  [
    "no name looks like a later round of another node",
    ["gpt-4", "gpt-4.1", "gpt-5.1"],
    ["gpt-4", "gpt-4_1", "gpt-5.1"],
  ],
  [
    "a long name is cut to leave room for its number",
    ["x".repeat(90), "x".repeat(90)],
    ["x".repeat(80), `${"x".repeat(78)}-2`],
  ],
])("node ids from task names: %s", (_what, wishes, wanted) => {
  expect(
    nodeIds(
      wishes.map((wish) => (typeof wish === "string" ? { else: wish } : { ...wish, else: "" })),
      "tasks",
    ),
  ).toEqual(wanted);
});

test("two task names that become the same node id are an error", () => {
  expect(() =>
    nodeIds(
      [
        { given: "a/b", else: "" },
        { given: "a_b", else: "" },
      ],
      "tasks",
    ),
  ).toThrow('The names "a/b" and "a_b" of two tasks both become "a_b".');
});

test("a typed task path is converted to node ids", () => {
  expect(asPath("😀")).toBe(asId("😀"));
  expect(asPath("build.2/re\u0301vision")).toBe("build.2/r\u00e9vision");
  expect(asPath("lead/")).toBe("lead/");
});

test("a task is shown by its label if that leads back to the same task", () => {
  expect(typedPath("_ ok", "😀 ok")).toBe("😀 ok");
  expect(typedPath("lead/_ ok", "😀 ok")).toBe("lead/😀 ok");
  expect(typedPath("find", "finder: find")).toBe("find");
  expect([typedPath("a", undefined), typedPath("_", "a/b")]).toEqual(["a", "_"]);
});
