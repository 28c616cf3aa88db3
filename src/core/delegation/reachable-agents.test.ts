import { expect, test } from "vitest";
import type { Agent } from "../agent/agent.ts";
import type { Body } from "../plan/plan.ts";
import { reachableAgents } from "./reachable-agents.ts";

const agent = (name: string, more: Partial<Agent> = {}): Agent => ({
  name,
  description: name,
  instructions: "",
  ...more,
});
const all = [
  agent("boss", { tools: ["task"], spawns: ["scout", "team-*", "!team-b"] }),
  agent("king", { tools: ["task"] }),
  agent("scout"),
  agent("team-a", { tools: ["task"], spawns: ["deep"] }),
  agent("team-b"),
  agent("deep"),
  agent("quiet", { tools: ["read_file"], spawns: "*" }),
  agent("general"),
];
const roster = {
  find: (name: string) => all.find((one) => one.name === name),
  names: () => all.map(({ name }) => name),
};
const task = (more: object): Body => ({ nodes: { a: { kind: "task", task: { prompt: "x", ...more } } }, output: "a" });
const reached = (body: Body): string[] => [...reachableAgents(body, roster).keys()].toSorted();

test.each([
  ["an agent without delegation tools", task({ agent: "quiet" }), ["quiet"]],
  ["the default agent", task({}), ["general"]],
  [
    "agents by a list with stars and exclusions, and their own",
    task({ agent: "boss" }),
    ["boss", "deep", "scout", "team-a"],
  ],
  ["the whole roster", task({ agent: "king" }), all.map(({ name }) => name).toSorted()],
  [
    "an agent whose task adds a delegation tool",
    task({ agent: "scout", tools: ["task"] }),
    all.map(({ name }) => name).toSorted(),
  ],
  [
    "the tasks of a loop",
    { nodes: { l: { kind: "loop", until: "a", body: task({ agent: "deep" }) } }, output: "l" } as unknown as Body,
    ["deep"],
  ],
])("%s", (_, body, names) => {
  expect(reached(body)).toEqual(names);
});
