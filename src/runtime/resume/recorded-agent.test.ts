import { expect, test } from "vitest";
import type { Agent } from "../../core/agent/agent.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import { agentHash, isChanged, recordedAgents, withAuthOf, withoutAuth } from "./recorded-agent.ts";

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
  expect(withAuthOf(recorded, { ...agent, remote: { ...agent.remote, signedBy: "a key" } })).toBe(recorded);
  expect(withAuthOf(recorded, withoutAuth(agent))).toBe(recorded);
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

test("an agent is recorded once with its rights, and later tasks refer to it; without rights it is not used", () => {
  const resolved = (path: string, more: object): KeptEvent =>
    ({ type: "agent.resolved", path, agent: "near", hash: "h", model: "m", ...more }) as unknown as KeptEvent;
  const known = { hash: "h", definition: local, rights: ["look"] };
  const agents = recordedAgents([
    { type: "note", path: "a", text: "x" } as unknown as KeptEvent,
    resolved("early", {}),
    resolved("half", { hash: "x", agent: "other", definition: local }),
    resolved("a", { definition: local, rights: ["look"], reuse: "k" }),
    resolved("b", { model: "n" }),
  ]);
  expect(agents.at("a")).toEqual({ ...known, model: "m", reuse: "k" });
  expect(agents.at("b")).toEqual({ ...known, model: "n" });
  expect(agents.named("near")).toEqual({ ...known, model: "n" });
  for (const path of ["early", "half", "c"]) expect(agents.at(path)).toBeUndefined();
  expect(agents.named("other")).toBeUndefined();
});
