import { expect, test } from "vitest";
import { convertInputConfigToJsonSchema } from "../../src/core/agent/inputs.ts";
import { AgentRegistry, type GeminiRegistryConfig } from "../../src/compat/gemini/registry.ts";
import { agentFromDefinition, type LocalAgentDefinition } from "../../src/formats/dialects/gemini-definition.ts";
import { tempFolder } from "../support/temp-folder.ts";

const local = (name: string, more: Partial<LocalAgentDefinition> = {}): LocalAgentDefinition => ({
  kind: "local",
  name,
  description: "d",
  inputConfig: { inputs: {} },
  promptConfig: { systemPrompt: "Work." },
  modelConfig: { model: "inherit", temp: 0.2 },
  runConfig: {},
  ...more,
});
const remote = (name: string) => ({
  kind: "remote" as const,
  name,
  description: "",
  agentCardUrl: `https://example.com/${name}.json`,
  inputConfig: { inputs: {} },
});

/** A registry without files, and its warnings. */
async function registryOf(config: Partial<GeminiRegistryConfig>): Promise<[AgentRegistry, string[]]> {
  const warnings: string[] = [];
  const onWarning = (text: string): void => void warnings.push(text);
  const registry = new AgentRegistry({ cwd: tempFolder(), home: tempFolder(), builtIn: [], onWarning, ...config });
  await registry.initialize();
  return [registry, warnings];
}

test("model settings are registered under their alias, with overrides, and `inherit` uses the main model", async () => {
  let main = "gemini-a";
  const [registry] = await registryOf({
    builtIn: [local("one"), local("two", { modelConfig: { model: "gemini-x" } })],
    overrides: { two: { modelConfig: { temp: 0.9 } } },
    mainModel: () => main,
  });
  expect(registry.getModelConfig("one-config")).toEqual({ model: "gemini-a", temp: 0.2 });
  main = "gemini-b";
  expect(registry.getModelConfig("one-config")).toMatchObject({ model: "gemini-b" });
  expect(registry.getModelConfig("two-config")).toEqual({ model: "gemini-x", temp: 0.9 });
  expect(registry.getModelConfig("three-config")).toBe(undefined);
});

test("overrides reach bundled agents by the names of Gemini CLI, and an override of an unknown agent is reported", async () => {
  const [registry, warnings] = await registryOf({
    builtIn: [local("codebase-investigator"), local("cli-help"), local("a_b"), local("a-b")],
    overrides: {
      codebase_investigator: { enabled: false },
      cli_help: { modelConfig: { model: "gemini-x" } },
      generalist: { enabled: false },
      a_b: { enabled: false },
    },
  });
  expect(registry.getAllAgentNames()).toEqual(["cli-help", "a-b"]);
  expect(registry.getModelConfig("cli-help-config")).toMatchObject({ model: "gemini-x" });
  expect(warnings).toEqual(['[AgentRegistry] The overrides name the agent "generalist", which does not exist.']);
});

test("a remote agent is described by the skills of its card, and is inactive with a warning when there is no card", async () => {
  const [registry, warnings] = await registryOf({
    builtIn: [remote("far"), remote("gone")],
    remotes: {
      loadAgent: async (name) => {
        if (name === "gone") throw new Error("404");
        return { description: "Helps.", skills: [{ name: "water", description: "waters plants" }] };
      },
    },
  });
  expect(registry.getDefinition("far")?.description).toBe("Helps.\nSkills:\nwater: waters plants");
  expect([registry.getDefinition("gone"), registry.getDiscoveredDefinition("gone")?.name]).toEqual([undefined, "gone"]);
  expect(warnings).toEqual(['[AgentRegistry] Error loading A2A agent "gone": 404']);
});

test("agents of an untrusted project are not registered, and a warning says so", async () => {
  const cwd = tempFolder({ ".gemini/agents/a.md": "---\nname: a\ndescription: d\n---\nWork.\n", ".git/HEAD": "" });
  const [registry, warnings] = await registryOf({ cwd });
  expect(registry.getAllAgentNames()).toEqual([]);
  expect(warnings.join()).toContain("Skipping project agents due to untrusted folder");
});

test("a definition without a system prompt is refused; its initial messages are part of the prompt", () => {
  expect(() => agentFromDefinition(local("bare", { promptConfig: {} }))).toThrow(
    'The agent "bare" has no system prompt.',
  );
  const initialMessages = [
    { role: "user", parts: [{ text: "Water ${plant}." }] },
    { role: "model", parts: [{ text: "Yes." }] },
  ];
  expect(agentFromDefinition(local("talks", { promptConfig: { initialMessages } })).instructions).toBe(
    "The conversation so far:\n\nUser: Water ${plant}.\n\nYou: Yes.",
  );
});

test("an input with an unknown type throws", () => {
  const inputs = { when: { type: "date", description: "d" } };
  expect(() => convertInputConfigToJsonSchema({ inputs })).toThrow("Unsupported input type 'date' for parameter");
});

test("a registry without settings has the built-in agents, and describes them for a tool and for the prompt of a parent", async () => {
  const registry = new AgentRegistry({ cwd: tempFolder(), home: tempFolder() });
  await registry.initialize();
  expect(registry.getAllAgentNames()).toEqual(expect.arrayContaining(["codebase-investigator", "cli-help"]));
  const one = registry.getDefinition("cli-help")!;
  expect(registry.getToolDescription()).toContain(`- **cli-help**: ${one.description}`);
  expect(registry.getDirectoryContext()).toMatch(/^## Available Sub-Agents\n/);
  expect(registry.getDirectoryContext()).toContain(`- cli-help: ${one.description}`);
  const [empty] = await registryOf({});
  expect(empty.getDirectoryContext()).toBe("No sub-agents are currently available.");
});
