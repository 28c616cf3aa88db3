import { expect, test } from "vitest";
import type { Agent } from "../../core/agent/agent.ts";
import { agentHash, isChanged, withAuthOf, withoutAuth } from "./recorded-agent.ts";

const auth = { type: "apiKey", key: "$TOKEN" } as const;
const remote = (cardUrl: string): NonNullable<Agent["remote"]> => ({ cardUrl, auth });
const agent: Agent = { name: "far", description: "d", instructions: "i", remote: remote("https://a.example/card") };
const local: Agent = { name: "near", description: "d", instructions: "i" };

test("a remote agent is recorded with its address and without its credentials, a local agent unchanged", () => {
  expect(withoutAuth(agent)).toEqual({ ...agent, remote: { cardUrl: "https://a.example/card" } });
  expect(withoutAuth(local)).toBe(local);
});

test("a recorded agent gets the present credentials only for the same address", () => {
  const recorded = withoutAuth(agent);
  expect(withAuthOf(recorded, agent)).toEqual(agent);
  expect(withAuthOf(recorded, { ...agent, remote: remote("https://b.example/card") })).toBe(recorded);
  expect(withAuthOf(recorded, { ...agent, remote: { ...remote("https://a.example/card"), cardJson: "{}" } })).toBe(
    recorded,
  );
  expect(withAuthOf(recorded, undefined)).toBe(recorded);
  expect(withAuthOf(local, local)).toBe(local);
});

test("other instructions or permissions make another agent; credentials, file and documentation do not", () => {
  const moved: Agent = { ...agent, remote: { ...agent.remote, auth: { type: "apiKey", key: "$OTHER" } } };
  expect(isChanged(agent, moved)).toBe(false);
  expect(isChanged(agent, { ...agent, source: { kind: "project" } })).toBe(false);
  expect(isChanged(agent, { ...agent, instructions: "other" })).toBe(true);
  expect(agentHash(agent, ["a", "b"])).toBe(agentHash(moved, ["b", "a"]));
  expect(agentHash(agent, ["a"])).not.toBe(agentHash(agent, ["a", "b"]));
});
