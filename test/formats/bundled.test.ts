import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { CliCommand } from "../../src/cli/base/command.ts";
import { commands } from "../../src/cli/commands.ts";
import { CrewError } from "../../src/core/schema/error.ts";
import { isRecord } from "../../src/core/text/json.ts";
import { READ_ONLY_TOOLS } from "../../src/core/vocabulary/tool-names.ts";
import { discoverAgents } from "../../src/compat/omp/discover-agents.ts";
import { agentFiles } from "../../src/embedded.ts";
import { readBundledAgents } from "../../src/formats/bundled.ts";
import { bundledAgents } from "../../src/formats/bundled-agents.ts";
import { dialects } from "../../src/formats/table.ts";
import { type Discovery, discover, findAgent } from "../../src/runtime/discovery/discover.ts";
import { type PresetName, presets } from "../../src/runtime/discovery/sources.ts";
import type { JsonSchema } from "../../src/core/text/json.ts";
import { createValidator } from "../../src/runtime/task/compile-schema.ts";
import { scan } from "../imports.ts";
import { tempFolder } from "../support/temp-folder.ts";

const found = (preset?: PresetName): Promise<Discovery> =>
  discover({ cwd: "/nowhere", home: "/nowhere", dialects, bundled: readBundledAgents(), ...(preset && { preset }) });

const crew = ["code", "explore", "general", "lead", "plan", "reviewer"];

/** The agents of other systems, and the name that selects each. */
const ofOthers = {
  gemini: ["cli-help", "codebase-investigator"],
  mycode: ["Bash", "Explore", "Plan", "general-purpose"],
  omp: ["designer", "omp:explore", "quick_task", "task"],
  pegasus: ["deepresearch", "pegasus:explore", "pegasus:general", "pegasus:plan"],
  subcrew: ["bash"],
} as const;

test("the program has the bundled agents as their files say (npm run build writes them)", () => {
  expect(bundledAgents).toEqual(readBundledAgents());
});

test("six bundled agents are offered; those of other systems are found by their exact or qualified name", async () => {
  const result = await found();
  expect(result.agents.map(({ name }) => name).sort()).toEqual(crew);
  expect(result.problems).toEqual([]);
  for (const name of crew) expect(findAgent(result, name)?.agent.source).toEqual({ kind: "bundled" });
  const others = Object.entries(ofOthers);
  for (const [family, selected] of others)
    for (const name of selected) {
      const { agent } = findAgent(result, name)!;
      expect({ name, source: agent.source, hidden: agent.hidden }).toEqual({
        name,
        source: { kind: "bundled", family },
        hidden: true,
      });
      expect(findAgent(result, `${family}:${agent.name}`)?.agent).toBe(agent);
    }
  expect(result.unlisted).toHaveLength(others.flatMap(([, selected]) => selected).length);
  for (const name of ["BASH", "TASK", "explorer", "mycode:explore"]) expect(findAgent(result, name)).toBeUndefined();
});

test("the name of a preset also selects those of the six agents that its system has", async () => {
  const result = await found();
  for (const name of ["omp:plan", "omp:reviewer", "pegasus:code"])
    expect(findAgent(result, name)).toBe(findAgent(result, name.split(":")[1]!));
  expect(findAgent(result, "omp:code")).toBeUndefined();
});

test("bundled agents are in the code: none of the modules that they come from can read a file", () => {
  const modules = new Map<string, readonly string[]>();
  const visit = (url: URL): void => {
    if (modules.has(url.href)) return;
    const used = scan(readFileSync(url, "utf8")).imports.filter(({ kind }) => kind !== "type");
    modules.set(
      url.href,
      used.map(({ specifier }) => specifier).filter((name) => !name.startsWith(".")),
    );
    for (const { specifier } of used) if (specifier.startsWith(".")) visit(new URL(specifier, url));
  };
  visit(new URL("../../src/formats/bundled.ts", import.meta.url));
  expect(modules.size).toBeGreaterThan(10);
  expect([...new Set([...modules.values()].flat())].toSorted()).toEqual(["js-yaml", "zod"]);
  const files = readdirSync(new URL("../../agents/", import.meta.url), { recursive: true, encoding: "utf8" });
  const names = files.filter((file) => /(?:^|\/)[^_/][^/]*\.md$/.test(file)).map((file) => file.slice(0, -3));
  expect(Object.keys(agentFiles).toSorted()).toEqual(names.toSorted());
});

test("the files of bundled agents have different names where upper and lower case are the same", () => {
  const files = Object.keys(agentFiles).map((name) => name.toLowerCase());
  expect(new Set(files).size).toBe(files.length);
});

test("task and quick_task share their instructions and differ in their fields", () => {
  const [task, quick] = ["task", "quick_task"].map(
    (name) => readBundledAgents().find(({ agent }) => agent.name === name)!.agent,
  );
  expect(task!.instructions).toBe(quick!.instructions);
  expect(task!.instructions).toBe(readFileSync(new URL("../../agents/_worker.md", import.meta.url), "utf8").trim());
  expect(quick).toMatchObject({ model: "fast", thinking: "minimal" });
  expect(task!.description).not.toBe(quick!.description);
});

test("explore, plan, designer and reviewer have their own prompts", () => {
  const prompts = ["explore", "plan", "designer", "reviewer", "task"].map(
    (name) => readBundledAgents().find(({ agent }) => agent.name === name)!.agent.instructions,
  );
  expect(new Set(prompts).size).toBe(5);
  for (const prompt of prompts) expect(prompt.length).toBeGreaterThan(300);
});

test("explore and plan can change nothing, and those of system 001 nothing except memory", async () => {
  const result = await found();
  const toolsOf = (name: string): readonly string[] => findAgent(result, name)!.agent.tools!;
  const outside = (name: string): string[] =>
    toolsOf(name).filter((tool) => !READ_ONLY_TOOLS.includes(tool) && tool !== "get_env");
  for (const name of ["explore", "plan", "pegasus:explore"]) expect(outside(name)).toEqual([]);
  expect(outside("pegasus:plan")).toEqual(["memory_write", "memory_append"]);
  for (const name of ["explore", "plan", "pegasus:explore", "pegasus:plan"])
    expect(toolsOf(name)).not.toContain("http_request");
  expect(new Set(toolsOf("pegasus:plan"))).toEqual(
    new Set([...toolsOf("pegasus:explore"), "memory_write", "memory_append"]),
  );
});

test("each of the six agents has the tools that its description implies, and none that needs no tool", async () => {
  const result = await found();
  const search = ["read_file", "glob", "grep_files"];
  const change = ["write_file", "edit_file", "bash"];
  const web = ["list_files", "http_get", "web_search"];
  const implied = {
    explore: [...search, ...web],
    plan: [...search, ...web],
    code: [...search, ...web, ...change, "delete_file", "move_file"],
    general: [...search, ...web, ...change, "delete_file", "move_file", "http_request", "memory_read", "memory_write"],
    reviewer: [...search, "bash"],
    lead: [...search, ...change, "ask", "Task"],
  };
  for (const [name, tools] of Object.entries(implied)) {
    const own = findAgent(result, name)!.agent.tools!;
    expect({ name, missing: tools.filter((tool) => !own.includes(tool) && tool !== "Task") }).toEqual({
      name,
      missing: [],
    });
    expect(own.filter((tool) => /^(base64|json)_|_env$|^sleep$|^\*$/.test(tool))).toEqual([]);
  }
});

test.each([
  ["pegasus:general", ["background", "nothing else", "2000", "few calls", "fails", "notify"]],
  [
    "pegasus:explore",
    ["Only read", "Stay with the question", "2000", "Stop as soon as", "fails", "notify", "never speak with the user"],
  ],
  [
    "pegasus:plan",
    ["Understand before", "numbered steps", "Change no file", "memory_write", "2000", "few calls", "fails", "notify"],
  ],
])("the prompt of %s contains the specified demands", async (name, demands) => {
  const { instructions } = findAgent(await found(), name)!.agent;
  for (const demand of demands) expect(instructions).toContain(demand);
});

test("deepresearch has more turns, more time and a longer answer than other agents", async () => {
  const { limits, instructions } = findAgent(await found(), "deepresearch")!.agent;
  expect(limits!.maxTurns).toBeGreaterThan(100);
  expect(limits!.maxDurationMs).toBeGreaterThan(30 * 60_000);
  expect(instructions).toContain("8000");
  expect(instructions).toContain("several independent places");
});

test.each(["reviewer", "omp:explore", "codebase-investigator", "cli-help"])(
  "%s returns data, and its schema is valid",
  async (name) => {
    const { output } = findAgent(await found(), name)!.agent;
    const check = await createValidator()(output as JsonSchema);
    expect(check).not.toHaveProperty("broken");
  },
);

const KEYWORDS = new Set(
  "type properties items required enum description minimum maximum additionalProperties".split(" "),
);

/** Keys that are not keywords of JSON Schema: an unquoted comma in a flow mapping creates some. */
function strayKeys(schema: unknown): string[] {
  if (!isRecord(schema)) return [];
  const inner = [schema["items"], ...(isRecord(schema["properties"]) ? Object.values(schema["properties"]) : [])];
  return [...Object.keys(schema).filter((key) => !KEYWORDS.has(key)), ...inner.flatMap(strayKeys)];
}

test("the schemas of bundled agents contain only keywords of JSON Schema", () => {
  for (const { agent } of readBundledAgents())
    expect({ name: agent.name, stray: strayKeys(agent.output) }).toEqual({ name: agent.name, stray: [] });
});

test("the explorer of system 000 is a separate agent, and its preset uses it", async () => {
  expect(findAgent(await found(), "explore")?.agent.output).toBeUndefined();
  expect(findAgent(await found("omp"), "explore")?.agent.output).toBeDefined();
  expect(findAgent(await found(), "mycode:Explore")?.agent.limits?.maxTurns).toBe(10);
});

test.each(Object.keys(presets) as PresetName[])("the preset %s has the agents of its system", async (preset) => {
  const wanted: readonly string[] = ("bundled" in presets[preset] ? presets[preset].bundled : undefined) ?? crew;
  expect((await found(preset)).agents.map(({ name }) => name).sort()).toEqual([...wanted].sort());
});

test("the help agent knows every command and every flag", async () => {
  const text = agentFiles["gemini/cli-help"]!;
  const cell = (words: string): string => words.replaceAll("|", "\\|").replaceAll("<", "&lt;");
  const missing: string[] = [];
  const look = (name: string, { options, commands: inner = {} }: CliCommand): void => {
    if (!text.includes(`\n### subcrew ${name}\n`)) missing.push(name);
    for (const { hidden, flags, description } of options)
      if (!hidden && !text.includes(`| \`${flags.replaceAll("|", "\\|")}\` | ${cell(description)}`))
        missing.push(`${name} ${flags}`);
    for (const [each, command] of Object.entries(inner)) look(`${name} ${each}`, command);
  };
  for (const [name, row] of Object.entries(commands)) if (row.hidden !== true) look(name, await row.load());
  expect(missing).toEqual([]);
  for (const flag of ["--permission-mode", "--allow <", "--sandbox"]) expect(text).toContain(flag);
});

test("reading an invalid bundled agent throws an error", () => {
  expect(() => readBundledAgents({ x: "---\nname: x\n---\nB" })).toThrow(CrewError);
});

test("a file of the user replaces any bundled agent", async () => {
  const bundled = readBundledAgents()
    .map(({ agent }) => agent)
    .filter(({ source }) => source?.kind !== "bundled" || source.family === undefined)
    .map(({ name }) => name);
  const files = bundled.map((name) => [`.agents/agents/${name}.md`, `---\nname: ${name}\ndescription: mine\n---\nB`]);
  const home = tempFolder(Object.fromEntries(files));
  const found = await discoverAgents(tempFolder(), { home });
  expect(bundled.length).toBeGreaterThan(5);
  expect(found.agents.filter(({ name }) => bundled.includes(name)).map(({ description }) => description)).toEqual(
    bundled.map(() => "mine"),
  );
});
