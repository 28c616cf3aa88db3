import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AgentLoadError, loadAgentsFromDirectory, parseAgentMarkdown } from "../../src/compat/gemini/load-agents.ts";
import { AgentRegistry, type GeminiRegistryConfig, getModelConfigAlias } from "../../src/compat/gemini/registry.ts";
import {
  type AgentDefinition,
  type AgentDto,
  type LocalAgentDefinition,
  markdownToAgentDefinition,
} from "../../src/formats/dialects/gemini-definition.ts";
import { isValidToolName } from "../../src/formats/dialects/gemini-schema.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { cases } from "./harness.ts";

type Loaded = { ok: true; dto: object[] } | { ok: false; error_class: string; error: string };

test.each(cases<{ content: string | null }, Loaded>("004-gemini", "agent-file"))(
  "agent-file: $name",
  ({ input, want }) => {
    const file = join(tempFolder(input.content === null ? {} : { "agent.md": input.content }), "agent.md");
    let got: Loaded;
    try {
      got = { ok: true, dto: parseAgentMarkdown(file) };
    } catch (error) {
      if (!(error instanceof AgentLoadError)) throw error;
      got = { ok: false, error_class: error.name, error: error.message.replaceAll(file, "<file>") };
    }
    expect(got).toEqual(want);
  },
);

test.each(cases<{ dto: AgentDto }, object>("004-gemini", "agent-definition"))(
  "agent-definition: $name",
  ({ input, want }) => {
    expect(markdownToAgentDefinition(input.dto)).toEqual(want);
  },
);

type Directory = { files?: Record<string, string>; dir?: string };

test.each(cases<Directory, { agents: string[]; errors: number }>("004-gemini", "agent-directory"))(
  "agent-directory: $name",
  ({ input, want }) => {
    const { agents, errors } = loadAgentsFromDirectory(join(tempFolder(input.files ?? {}), input.dir ?? ""));
    expect({ agents: agents.map(({ name }) => name), errors: errors.length }).toEqual(want);
  },
);

test.each(cases<{ name: string; allowWildcards: boolean }, boolean>("004-gemini", "tool-name-valid"))(
  "tool-name-valid: $name",
  ({ input, want }) => expect(isValidToolName(input.name, input)).toBe(want),
);

describe("registry", () => {
  const all = cases<Record<string, never>, Record<string, never>>("004-gemini", "registry");
  const wanted = (name: string): Record<string, never> => all.find((one) => one.name === name)!.want;
  const checked = new Set<string>();
  const check = (name: string, run: (want: Record<string, unknown>) => void | Promise<void>): void => {
    checked.add(name);
    test(`registry: ${name}`, () => run(wanted(name)));
  };

  check("reload clears and reloads, clears A2A cache, emits refresh", async (want) => {
    const home = tempFolder({ ".gemini/agents/a.md": agentFile("initial-agent") });
    const seen: Record<string, unknown> = { cache_cleared: false };
    const registry = registryOf({
      home,
      clearRemoteCache: () => (seen["cache_cleared"] = true),
      onRefresh: (event) => (seen["event"] = event),
    });
    await registry.initialize();
    expect(registry.getAllAgentNames()).toEqual(["initial-agent"]);
    registry.registerAgent(local("Gone"));
    writeFileSync(join(home, ".gemini/agents/a.md"), agentFile("new-agent"));
    await registry.reload();
    expect({ ...seen, agents: registry.getAllAgentNames() }).toEqual(want);
  });

  check("discovered names include disabled ones, active names do not", (want) => {
    const registry = registryOf({ overrides: { DisabledAgent: { enabled: false } } });
    for (const name of want["discovered"] as string[]) registry.registerAgent(local(name));
    expect({ discovered: registry.getAllDiscoveredAgentNames(), active: registry.getAllAgentNames() }).toEqual(want);
  });

  check("active extension agents loaded, inactive not", async (want) => {
    const extensions = [
      { active: true, agents: [local("extension-agent")] },
      { active: false, agents: [local("x")] },
    ];
    const registry = registryOf({ extensions });
    await registry.initialize();
    expect({ registered: registry.getAllAgentNames() }).toEqual(want);
  });

  check("missing name or description rejected with a warning", (want) => {
    const warnings: string[] = [];
    const registry = registryOf({ onWarning: (message) => warnings.push(message) });
    registry.registerAgent(local(""));
    registry.registerAgent({ ...local("x"), description: "" });
    expect({ registered: registry.getAllAgentNames().length, warning: warnings[1] }).toEqual(want);
  });

  check("override merges run config", (want) => {
    const registry = registryOf({ overrides: { a: { runConfig: { maxTurns: 50 } } } });
    registry.registerAgent({ ...local("a"), runConfig: { maxTimeMinutes: 1 } });
    expect(definitionOf(registry).runConfig).toEqual(want);
  });

  check('model "inherit" resolves to the current main model and follows changes', (want) => {
    let main = "initial-model";
    const registry = registryOf({ mainModel: () => main });
    registry.registerAgent(local("a"));
    const first = registry.getModel("a");
    main = "new-model";
    expect({ resolved: [first, registry.getModel("a")] }).toEqual(want);
  });

  check("overrides must not evaluate lazy getters", (want) => {
    let called = false;
    const lazy: LocalAgentDefinition = {
      ...local("a"),
      get toolConfig() {
        called = true;
        return { tools: ["read_file"] };
      },
    };
    const registry = registryOf({ overrides: { a: { runConfig: { maxTurns: 100 } } } });
    registry.registerAgent(lazy);
    expect({ getter_called_on_register: called }).toEqual(want);
    expect(definitionOf(registry).toolConfig).toEqual({ tools: ["read_file"] });
  });

  check("experimental agent on by override", (want) => {
    const registry = registryOf({ overrides: { generalist: { enabled: true } } });
    registry.registerAgent({ ...local("generalist"), experimental: true });
    registry.registerAgent({ ...local("other"), experimental: true });
    expect({ registered: registry.getDefinition("generalist") !== undefined }).toEqual(want);
    expect(registry.getDefinition("other")).toBeUndefined();
  });

  check("override deep-merges thinking config", (want) => {
    const over = { generateContentConfig: { thinkingConfig: { thinkingBudget: 16384 } } };
    const registry = registryOf({ overrides: { a: { modelConfig: over } } });
    const thinkingConfig = { includeThoughts: true, thinkingBudget: -1 };
    registry.registerAgent({ ...local("a"), modelConfig: { model: "m", generateContentConfig: { thinkingConfig } } });
    expect(definitionOf(registry).modelConfig.generateContentConfig?.thinkingConfig).toEqual(want);
  });

  check("normal agent off by override", (want) => {
    const registry = registryOf({ overrides: { cli_help: { enabled: false } } });
    registry.registerAgent(local("cli_help"));
    expect({ registered: registry.getDefinition("cli_help") !== undefined }).toEqual(want);
  });

  check("model alias naming", (want) => expect({ alias: getModelConfigAlias({ name: "my-agent" }) }).toEqual(want));

  check("agents disabled globally: no files read", async (want) => {
    const home = tempFolder({ ".gemini/agents/a.md": agentFile("a"), ".gemini/agents/bad.md": "no agent" });
    const warnings: string[] = [];
    const registry = registryOf({ home, enableAgents: false, onWarning: (message) => warnings.push(message) });
    await registry.initialize();
    expect({ files_read: registry.getAllDiscoveredAgentNames().length + warnings.length }).toEqual(want);
  });

  check("override keeps untouched sampling values", (want) => {
    const over = { model: "overridden-model", generateContentConfig: { temperature: 0.5 } };
    const registry = registryOf({ overrides: { a: { modelConfig: over } } });
    registry.registerAgent({
      ...local("a"),
      modelConfig: { model: "test", generateContentConfig: { temperature: 0, topP: 1 } },
    });
    const { model, generateContentConfig } = definitionOf(registry).modelConfig;
    expect({ model, ...generateContentConfig }).toEqual(want);
  });

  test("every case of the area is checked above", () => {
    expect([...checked].toSorted()).toEqual(all.map(({ name }) => name).toSorted());
  });

  test("project agents come before the user's, and only where the project is trusted", async () => {
    const home = tempFolder({ ".gemini/agents/a.md": agentFile("a", "user") });
    const cwd = tempFolder({ ".gemini/agents/a.md": agentFile("a", "project") });
    for (const trusted of [true, false]) {
      const registry = registryOf({ home, cwd, trusted });
      await registry.initialize();
      expect(registry.getDefinition("a")?.description).toBe(trusted ? "project" : "user");
    }
  });
});

const agentFile = (name: string, description = "d"): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\nBody`;

const local = (name: string): LocalAgentDefinition => ({
  ...(markdownToAgentDefinition({ kind: "local", name, description: "d", system_prompt: "p" }) as LocalAgentDefinition),
});

const registryOf = (config: Partial<GeminiRegistryConfig>): AgentRegistry =>
  new AgentRegistry({ cwd: "/nowhere/project", home: "/nowhere/home", builtIn: [], ...config });

function definitionOf(registry: AgentRegistry): LocalAgentDefinition {
  const definition: AgentDefinition | undefined = registry.getDefinition("a");
  if (definition?.kind !== "local") throw new Error("not there");
  return definition;
}
