import { mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { type AgentConfig, resolveAgentInheritance } from "../../src/compat/omp/agent-config.ts";
import { type InlineSettings, resolveAgentSettings } from "../../src/compat/pi-parallel/agent-settings.ts";
import { discoverAgents, findNearestProjectAgentsDir } from "../../src/compat/omp/discover-agents.ts";
import type { SourceScope } from "../../src/core/agent/source-scope.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { cases } from "./harness.ts";

type Given = Pick<AgentConfig, "name"> & Partial<AgentConfig>;

test.each(cases<{ agents: Given[] }, unknown>("003-pi-parallel", "agent-inheritance"))(
  "agent-inheritance: $name",
  ({ input, want }) => {
    const faults: Record<string, string> = {};
    const agents = input.agents.map((agent) => ({ ...agent, systemPrompt: `p-${agent.name}` }));
    const resolved = resolveAgentInheritance(agents, ({ name, message }) => (faults[name] = message));
    const rows = resolved.map(
      ({ name, resolvedTools = null, resolvedModel = null, resolvedThinking = null, systemPrompt }) => [
        name,
        { resolvedTools, resolvedModel, resolvedThinking, systemPrompt },
      ],
    );
    expect({ ...Object.fromEntries(rows), ...faults }).toEqual(want);
  },
);

type Merge = {
  agent: string | null;
  agent_definition: { model: string; tools_after_inheritance: string[]; thinking: "low"; systemPrompt: string };
  overrides: InlineSettings;
};

test.each(cases<Merge, object>("003-pi-parallel", "settings-merge"))("settings-merge: $name", ({ input, want }) => {
  const { tools_after_inheritance: tools, ...definition } = input.agent_definition;
  const agents = [{ name: "scout", description: "d", source: "user" as const, tools, ...definition }];
  const { agent, ...settings } = resolveAgentSettings(agents, input.agent, input.overrides);
  expect({ ...settings, agent_found: agent !== undefined }).toEqual(want);
});

type Looked = { files: Record<string, string>; home: string; cwd: string; scope: SourceScope };
type Found = { agents: object[]; projectAgentsDir: string | null };

test.each(cases<Looked, Found>("003-pi-parallel", "agent-discovery"))(
  "agent-discovery: $name",
  async ({ input, want }) => {
    const root = tempFolder(input.files);
    const cwd = join(root, input.cwd);
    mkdirSync(cwd, { recursive: true });
    const found = await discoverAgents(cwd, {
      home: join(root, input.home),
      scope: input.scope,
      preset: "pi-parallel",
    });
    const agents = found.agents.map(({ name, description, source, systemPrompt, ...agent }) => {
      const { tools = null, model = null, thinking = null, extends: base = null } = agent;
      return { name, description, source, tools, model, thinking, systemPrompt, extends: base };
    });
    const dir = found.projectAgentsDir;
    expect({ agents, projectAgentsDir: dir === null ? null : relative(root, dir) }).toEqual(want);
    expect(findNearestProjectAgentsDir(cwd)).toBe(dir);
  },
);
