import { expect, test } from "vitest";
import { promptArguments, promptIn } from "../../src/cli/mcp/prompts.ts";

test("words after a prompt are its arguments in order or by name, and remaining words belong to the last argument", () => {
  expect(promptArguments(["12", "slow", "and", "careful"], ["issue", "style"])).toEqual({
    issue: "12",
    style: "slow and careful",
  });
  expect(promptArguments(["style=short", "12"], ["issue", "style"])).toEqual({ issue: "12", style: "short" });
  expect(promptArguments(["a"], [])).toEqual({});
  expect([promptIn("mcp__git__review"), promptIn("mcp__git__a__b"), promptIn("mcp__git")]).toEqual([
    { server: "git", prompt: "review" },
    { server: "git", prompt: "a__b" },
    undefined,
  ]);
});
