import { expect, test } from "vitest";
import type { Agent } from "../core/agent/agent.ts";
import { reachOf } from "./explain-reach.ts";

const agent = (name: string, more: Partial<Agent>): Agent => ({ name, description: "", instructions: "", ...more });
const tools = ["read_file", "write_file", "bash"];
const coord = agent("coord", { tools: ["read_file", "task"], spawns: ["lead"] });
const lead = agent("lead", { tools: ["read_file", "task"], spawns: ["writer"] });
const writer = agent("writer", { tools: ["read_file", "write_file"] });
const others = [coord, lead, writer, agent("stranger", {})];

test("what an agent reaches through the agents it starts is told with the way there", () => {
  expect(reachOf(coord, others, tools)).toEqual([
    { name: "lead", through: "coord", adds: [] },
    { name: "writer", through: "lead", adds: ["write_file"] },
  ]);
});

test("a ceiling adds nothing, and an agent without delegation reaches nobody", () => {
  expect(reachOf({ ...coord, delegationRule: "ceiling", spawns: "*" }, [writer], tools)).toEqual([
    { name: "writer", through: "coord", adds: [] },
  ]);
  expect(reachOf(writer, others, tools)).toEqual([]);
});
