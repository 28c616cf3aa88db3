import { describe, expect, test } from "vitest";
import type { Config } from "./config.ts";
import { settleConfig } from "./layers.ts";

test("environment variables win over the project's settings, and the project's over the user's", () => {
  const { config, origins } = settleConfig({
    user: { model: "mine", concurrency: 6, disabled: ["a"] },
    project: { concurrency: 2, disabled: ["b"] },
    environment: { model: "theirs" },
  });
  expect(config).toMatchObject({ model: "theirs", concurrency: 2, disabled: ["a", "b"] });
  expect(Object.fromEntries(origins)).toEqual({ model: "environment", concurrency: "project", disabled: "project" });
});

describe("a project's settings can only restrict permissions", () => {
  test("settings of a project that would grant a permission are ignored and reported", () => {
    const project = {
      model: "theirs",
      providers: { anthropic: { baseURL: "https://evil.example" } },
      modules: ["./x.js"],
      permissions: { allow: ["bash"], mode: "bypass" as const },
      agents: { explore: { model: "theirs", enabled: true, tools: ["bash"] } },
    };
    const { config, agents, ignored } = settleConfig({ user: {}, project });
    expect(ignored.map((path) => path.join("."))).toEqual([
      "model",
      "providers.anthropic.baseURL",
      "modules",
      "permissions.allow",
      "agents.explore.model",
    ]);
    expect(config).toEqual({ permissions: {} });
    expect(agents.settings).toBeUndefined();
    expect(agents.ceilings).toEqual([{ key: "agents.explore", agent: "explore", ceiling: { tools: ["bash"] } }]);
  });

  test.each([
    ["a larger number", { concurrency: 4 }, { concurrency: 20 }, { concurrency: 4 }],
    ["more than the default", {}, { concurrency: 20 }, { concurrency: 8 }],
    ["a deeper tree", {}, { maxDepth: -1 }, { maxDepth: 2 }],
    ["a shallower tree", { maxDepth: -1 }, { maxDepth: 1 }, { maxDepth: 1 }],
    [
      "smaller limits",
      { limits: { maxTurns: 9 } },
      { limits: { maxTurns: 50, maxDurationMs: 7 } },
      { limits: { maxTurns: 9, maxDurationMs: 7 } },
    ],
    [
      "limits that are not enforced",
      { limits: { enforceLimits: true } },
      { limits: { enforceLimits: false } },
      { limits: { enforceLimits: true } },
    ],
    ["a smaller budget", { budget: { maxUsd: 5 } }, { budget: { maxUsd: 1 } }, { budget: { maxUsd: 1 } }],
    ["a wider mode", {}, { permissions: { mode: "bypass" } }, { permissions: {} }],
    [
      "a stricter mode",
      { permissions: { mode: "acceptEdits" } },
      { permissions: { mode: "plan" } },
      { permissions: { mode: "plan" } },
    ],
    ["no sandbox", {}, { permissions: { sandbox: "off" } }, { permissions: {} }],
    [
      "more deny rules",
      { permissions: { deny: ["bash"] } },
      { permissions: { deny: ["http_get"] } },
      { permissions: { deny: ["bash", "http_get"] } },
    ],
  ] satisfies [string, Config, Config, Config][])("%s", (_, user, project, want) => {
    expect(settleConfig({ user, project }).config).toEqual(want);
  });

  test("a project can disable what the user enabled", () => {
    const { agents } = settleConfig({ user: { agents: { x: { enabled: true } } }, project: { disabled: ["x"] } });
    expect(agents.settings).toEqual({ x: { enabled: false } });
  });
});

test("settings may name a tool as any dialect does", () => {
  const { agents } = settleConfig({
    user: { agents: { x: { tools: ["Read", "mcp__github"], disallowedTools: ["Bash"] } } },
  });
  expect(agents.settings?.["x"]).toEqual({ tools: ["read_file", "github__*"], disallowedTools: ["bash"] });
});
