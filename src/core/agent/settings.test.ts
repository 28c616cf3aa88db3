import { expect, test } from "vitest";
import type { Agent } from "./agent.ts";
import { applySettings, commonTools } from "./settings.ts";

const agent: Agent = {
  name: "a",
  description: "d",
  instructions: "i",
  tools: ["read_file", "bash"],
  limits: { maxTurns: 10 },
};

test("empty settings change nothing about an agent", () => {
  expect(applySettings(agent, {})).toEqual({ agent, origins: {} });
  expect(applySettings(agent, { settings: { other: { model: "m" } } }).agent).toBe(agent);
});

test("the user's settings replace the fields of the agent file, and denied tools are combined", () => {
  const settings = { a: { model: "fast", tools: ["glob"], disallowedTools: ["bash"], limits: { maxTurns: 50 } } };
  const { agent: made, origins } = applySettings({ ...agent, disallowedTools: ["http_get"] }, { settings });
  expect(made).toMatchObject({
    model: "fast",
    tools: ["glob"],
    disallowedTools: ["http_get", "bash"],
    limits: { maxTurns: 50 },
  });
  expect(origins).toEqual({
    model: { from: "settings", key: "agents.a.model" },
    tools: { from: "settings", key: "agents.a.tools" },
    disallowedTools: { from: "settings", key: "agents.a.disallowedTools" },
    "limits.maxTurns": { from: "settings", key: "agents.a.limits.maxTurns" },
  });
});

test("defaults apply only to fields that the agent does not set", () => {
  const defaults = { thinking: "low", limits: { maxTurns: 99, maxDurationMs: 5 } } as const;
  const { agent: made, origins } = applySettings(agent, { defaults });
  expect(made).toMatchObject({ thinking: "low", limits: { maxTurns: 10, maxDurationMs: 5 } });
  expect(Object.keys(origins)).toEqual(["thinking", "limits.maxDurationMs"]);
});

test("an upper bound in the settings only removes permissions, also those that the user's own settings grant", () => {
  const ceiling = { tools: ["read_file", "write_file"], limits: { maxTurns: 20, maxDurationMs: 1_000 } };
  const { agent: made, origins } = applySettings(agent, { ceilings: [{ key: "agents.a", agent: "a", ceiling }] });
  expect(made.tools).toEqual(["read_file"]);
  expect(made.limits).toEqual({ maxTurns: 10, maxDurationMs: 1_000 });
  expect(origins["limits.maxDurationMs"]).toEqual({ from: "settings", key: "agents.a.limits.maxDurationMs" });
  expect(applySettings(agent, { ceilings: [{ key: "agents.b", agent: "b", ceiling }] }).agent).toBe(agent);
});

test("an upper bound in the settings that is above an agent's default does not raise the default", () => {
  const { limits: _none, ...plain } = agent;
  const high = { limits: { maxTurns: 1_000 } };
  expect(applySettings(plain, { ceilings: [{ key: "", ceiling: high }] }).agent.limits).toBeUndefined();
});

test.each([
  [undefined, ["read_file", "task"], ["read_file"]],
  [["*"], ["bash", "github__*"], ["bash", "github__*"]],
  [["bash", "github__list"], ["github__*"], ["github__list"]],
  [["bash"], ["glob"], []],
])("the intersection of the tool lists %j and %j", (ours, theirs, both) => {
  expect(commonTools(ours, theirs)).toEqual(both);
});
