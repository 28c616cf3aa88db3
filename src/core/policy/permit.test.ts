import { expect, test } from "vitest";
import { allowedTools, FINISH_TOOL, isFinishTool, permit, type Rights } from "./permit.ts";

const allowed = (rights: Rights, ...tools: readonly string[]): readonly boolean[] =>
  tools.map((tool) => permit(rights, tool).allowed);

test("an agent that lists no tools may use every tool except delegation", () => {
  expect(allowed({ name: "a" }, "read_file", "bash", "github__search", "task")).toEqual([true, true, true, false]);
  expect(permit({ name: "a" }, "task").rule).toBe("a lists no tools, so all but delegation are allowed");
});

test("a tool list allows the tools that it names and those that its patterns cover; an empty list allows no tool", () => {
  const rights = { name: "a", tools: ["read_file", "github__*"] };
  expect(allowed(rights, "read_file", "github__search", "gitlab__search", "write_file")).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(permit(rights, "write_file")).toEqual({ allowed: false, rule: "tools of a" });
  expect(allowed({ name: "a", tools: [] }, "read_file", "task")).toEqual([false, false]);
  expect(allowed({ name: "a", tools: ["*"] }, "read_file", "task")).toEqual([true, false]);
});

test("a tool is available if the agent lists it with an argument pattern, or denies it only for an argument pattern", () => {
  expect(allowed({ name: "a", tools: ["bash(git log *)", "github__*(x)"] }, "bash", "github__search", "git")).toEqual([
    true,
    true,
    false,
  ]);
  expect(allowed({ name: "a", tools: ["bash"], disallowedTools: ["bash(rm *)"] }, "bash")).toEqual([true]);
});

test("the allowed tools are listed in order, with the permissions that they need, each once", () => {
  const rights: Rights = { name: "a", delegation: ["spawn_agent", "ask_agent"], disallowedTools: ["bash"] };
  const tools = new Map(["spawn_agent", "bash", "read_file", "ask_agent"].map((name) => [name, {}]));
  expect(allowedTools(rights, tools)).toMatchObject({
    tools: ["spawn_agent", "read_file", "ask_agent"],
    rights: ["task", "read_file"],
  });
  const fewer = new Map([["read_file", {}]]);
  expect(allowedTools(rights, fewer)).toMatchObject({ tools: ["read_file"], rights: ["read_file"] });
});

test("permissions are computed once for each tool, and once for each set of tools", () => {
  const rights: Rights = { name: "a", tools: ["read_file"] };
  const tools = new Map([["read_file", {}]]);
  expect(permit(rights, "read_file")).toBe(permit(rights, "read_file"));
  expect(allowedTools(rights, tools)).toBe(allowedTools(rights, tools));
});

test("the parent, the policy and disallowedTools can each remove a listed tool, and the reason names the first of them", () => {
  const rights: Rights = { name: "a", tools: ["bash"], disallowedTools: ["bash"] };
  expect(permit(rights, "bash")).toEqual({ allowed: false, rule: "disallowedTools of a" });
  const barred: Rights = { ...rights, barred: { bash: "mode plan" } };
  expect(permit(barred, "bash")).toEqual({ allowed: false, rule: "mode plan" });
  expect(permit({ ...barred, ceiling: ["read_file"] }, "bash")).toEqual({
    allowed: false,
    rule: "the parent of a may not use the tool",
  });
  expect(permit({ name: "a", tools: ["bash"], ceiling: ["bash"] }, "bash").allowed).toBe(true);
});

test("all delegation tools are one permission, whatever their name", () => {
  const rights: Rights = { name: "a", tools: ["task"], delegation: ["spawn_agent", "task"], ceiling: ["task"] };
  expect(allowed(rights, "spawn_agent", "task", "other_agent")).toEqual([true, true, false]);
  expect(allowed({ ...rights, ceiling: ["spawn_agent"] }, "spawn_agent")).toEqual([false]);
  expect(allowed({ ...rights, disallowedTools: ["task"] }, "spawn_agent", "task")).toEqual([false, false]);
  expect(permit({ ...rights, barred: { task: "too deep" } }, "spawn_agent")).toEqual({
    allowed: false,
    rule: "too deep",
  });
});

test("an agent that lists no tools may use the delegation tools that its task has", () => {
  expect(allowed({ name: "a", delegation: ["spawn_agent"] }, "spawn_agent", "task")).toEqual([true, false]);
});

test("only an agent that may run commands may read the output of commands and stop them", () => {
  const companions = ["bash_output", "kill_shell"];
  expect(allowed({ name: "a", tools: ["bash"] }, ...companions)).toEqual([true, true]);
  expect(allowed({ name: "a", tools: ["read_file"] }, ...companions)).toEqual([false, false]);
  expect(allowed({ name: "a", disallowedTools: ["bash"] }, ...companions)).toEqual([false, false]);
  expect(allowed({ name: "a", tools: ["bash"], disallowedTools: ["kill_shell"] }, ...companions)).toEqual([
    true,
    false,
  ]);
});

test("a tool named like an inherited property of objects is judged like any other", () => {
  for (const name of ["constructor", "toString", "__proto__"])
    expect(permit({ name: "a", tools: ["read_file"], barred: {} }, name)).toEqual({
      allowed: false,
      rule: "tools of a",
    });
});

test("the finish tool is recognised under each of its names, and under no other name", () => {
  expect(["complete_task", "submit_result", "yield", "finish", ""].map(isFinishTool)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
  expect(FINISH_TOOL).toBe("complete_task");
});
