import { expect, test } from "vitest";
import type { Agent } from "../../core/agent/agent.ts";
import { reachOf } from "./explain-reach.ts";

const agent = (name: string, more: Partial<Agent>): Agent => ({ name, description: "", instructions: "", ...more });
const tools = ["read_file", "write_file", "bash"];
const coord = agent("coord", { tools: ["read_file", "task"], spawns: ["lead"] });
const lead = agent("lead", { tools: ["read_file", "task"], spawns: ["writer"] });
const writer = agent("writer", { tools: ["read_file", "write_file"] });
const others = [coord, lead, writer, agent("stranger", {})];

test("tools that an agent reaches through the agents it starts are listed with the path", () => {
  expect(reachOf(coord, others, tools)).toEqual([
    { name: "lead", through: "coord", adds: [] },
    { name: "writer", through: "lead", adds: ["write_file"] },
  ]);
});

test("with delegation: ceiling no tools are added, and an agent without delegation reaches no other agent", () => {
  expect(reachOf({ ...coord, delegationRule: "ceiling", spawns: "*" }, [writer], tools)).toEqual([
    { name: "writer", through: "coord", adds: [] },
  ]);
  expect(reachOf(writer, others, tools)).toEqual([]);
});

test("tools that an agent is denied are not added by the agents it starts", () => {
  const names = (coordinator: Partial<Agent>): readonly string[] | undefined =>
    reachOf(
      { ...coord, spawns: "*", ...coordinator },
      [{ ...writer, tools: ["write_file", "bash"] }],
      [...tools, "bash_output"],
    )[0]?.adds;
  expect(names({})).toContain("bash");
  expect(names({ disallowedTools: ["bash"] })).not.toContain("bash");
  expect(names({ disallowedTools: ["bash"] })).not.toContain("bash_output");
  expect(names({ permission: "plan" })).toEqual([]);
  expect(names({ sandbox: "read-only" })).not.toContain("write_file");
});
