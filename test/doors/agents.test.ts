import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  clearBundledAgentsCache,
  discoverAgents,
  discoverCommands,
  families,
  findAgent,
  formatAgentList,
  getAgent,
  getCommand,
  loadAgentModule,
  loadAgentsFromDir,
  loadBundledAgents,
  parseAgentFields,
  readInlineAgents,
} from "../../src/doors/agents.ts";
import { agentFromDefinition, type LocalAgentDefinition } from "../../src/doors/gemini.ts";
import { createCrew } from "../../src/index.ts";
import { type Script, scripted } from "../../src/models/scripted/scripted.ts";
import { tempFolder } from "../support/temp-folder.ts";

const agentFile = (name: string, more = ""): string =>
  `---\nname: ${name}\ndescription: ${name} of a file\n${more}---\nBody\n`;

test("discoverAgents takes a home directory, a scope or options", async () => {
  const root = tempFolder({
    "home/.omp/agent/agents/u.md": agentFile("u"),
    "project/.omp/agents/p.md": agentFile("p", "tools: read, task\nmodel: a, b\n"),
  });
  const cwd = join(root, "project");
  const home = join(root, "home");
  const byHome = await discoverAgents(cwd, home);
  expect(byHome.agents.slice(0, 2).map(({ name, source }) => [name, source])).toEqual([
    ["p", "project"],
    ["u", "user"],
  ]);
  expect(byHome.agents.at(-1)?.source).toBe("bundled");
  expect(findAgent(byHome.agents, "p")).toMatchObject({
    systemPrompt: "Body",
    tools: ["read", "task", "submit_result"],
    spawns: "*",
    model: ["a", "b"],
    filePath: join(cwd, ".omp/agents/p.md"),
  });
  const byScope = await discoverAgents(cwd, "project");
  expect(byScope.agents.filter(({ source }) => source !== "bundled").map(({ name }) => name)).toEqual(["p"]);
  const byOptions = await discoverAgents(cwd, { home, scope: "user", preset: "omp" });
  expect(getAgent(byOptions.agents, "p")).toBeUndefined();
  expect(getAgent(byOptions.agents, "user:u")?.name).toBe("u");
  expect([getAgent(byHome.agents, "P"), getAgent(byHome.agents, "p ")]).toEqual([undefined, undefined]);
  const untrusted = await discoverAgents(cwd, { home, trust: { project: () => false } });
  expect([getAgent(untrusted.agents, "p"), untrusted.untrusted.map(({ name }) => name)]).toEqual([undefined, ["p"]]);
});

test("loadAgentsFromDir reads a directory in the dialect of its path; a missing directory is empty", () => {
  const root = tempFolder({
    ".pi/agents/a.md": agentFile("a", "tools: read\n"),
    ".pi/agents/b.md": "no agent",
    ".gemini/agents/_c.md": agentFile("c"),
  });
  const agents = loadAgentsFromDir(join(root, ".pi/agents"), "project");
  expect(agents).toMatchObject([{ name: "a", source: "project", tools: ["read"], agent: { tools: ["read_file"] } }]);
  expect(loadAgentsFromDir(join(root, ".gemini/agents"), "user")).toEqual([]);
  expect(loadAgentsFromDir(join(root, "missing"), "user")).toEqual([]);
  expect(formatAgentList(agents)).toEqual({ text: "a (project): a of a file", count: 1, remaining: 0 });
});

test("bundled agents are read once, and again after the cache is cleared", () => {
  const first = loadBundledAgents();
  expect(loadBundledAgents()).toBe(first);
  clearBundledAgentsCache();
  expect(loadBundledAgents()).not.toBe(first);
  expect(loadBundledAgents()).toEqual(first);
});

test("each part that oh-my-pi names exists: its agents, helpers, commands, prompts, settings, tool and executor", async () => {
  const home = tempFolder({
    ".omp/agent/agents/scout.md": agentFile("scout", "tools: read\n"),
    ".omp/agent/commands/tidy.md": "---\ndescription: d\n---\nTidy $ARGUMENTS.\n",
  });
  const cwd = tempFolder();
  // the parts "discovery" and "types" of oh-my-pi
  const scout = getAgent((await discoverAgents(cwd, { home, preset: "omp" })).agents, "scout");
  expect(scout).toMatchObject({ name: "scout", source: "user", systemPrompt: "Body" });
  // the part "helpers"
  expect(parseAgentFields({ name: "a", description: "d", tools: "read" })?.tools).toEqual(["read", "submit_result"]);
  // the part with the list of places to search
  expect(families.flat().map(({ family }) => family)).toContain("omp");
  expect(getCommand(await discoverCommands(cwd, home), "tidy")?.name).toBe("tidy");
  // the part with the agents, and the prompt of their tasks
  const task = loadBundledAgents().find(({ agent }) => agent.name === "task")?.agent;
  expect(task?.instructions).toMatch(/\w{3}/);
  const model = scripted(
    { calls: [{ name: "task", input: { agent: "task", tasks: [{ id: "A", assignment: "go" }] } }] },
    "done by task",
    "done",
  );
  const lead = { name: "lead", description: "d", instructions: "i", tools: ["task"] };
  const config = { preset: "omp", maxDepth: 1 } as const;
  const crew = createCrew({ cwd, env: { HOME: home, PATH: "" }, config, agents: [lead], models: { model } });
  // the part with the configuration
  expect(crew.settings.config).toMatchObject({ preset: "omp", maxDepth: 1, concurrency: 32 });
  expect(await crew.run({ mode: "single", agent: "lead", task: "x" })).toMatchObject({ status: "ok", output: "done" });
  const [first, second, third] = model.requests;
  // the part with the tool and its prompt
  expect(first?.tools[0]?.description).toMatch(/^Starts agents [^]*- scout: scout of a file/);
  expect(second?.system).toContain(task!.instructions.slice(0, 200)); // the part "executor"
  expect(JSON.stringify(third?.messages)).toContain("done by task");
});

test("agents given as JSON are read as Claude Code reads them, or with our own keys", () => {
  const { agents, problems } = readInlineAgents(
    '{"a":{"description":"d","prompt":"p","tools":["Read"],"model":"haiku"},"b":{"prompt":"p"}}',
  );
  expect(agents.map(({ agent }) => agent)).toEqual([
    { name: "a", description: "d", instructions: "p", tools: ["read_file"], model: "haiku" },
  ]);
  expect(problems).toMatchObject([{ code: "missing-description" }]);
  expect(
    readInlineAgents([{ name: "c", description: "d", instructions: "i", maxTurns: 3 }]).agents[0]?.agent,
  ).toMatchObject({ name: "c", instructions: "i", limits: { maxTurns: 3 } });
  expect(readInlineAgents("{").problems[0]?.code).toBe("bad-json");
});

test("the agents of a module are loaded when the module is named", async () => {
  const dir = tempFolder({
    "agents.mjs":
      'export const one = { name: "one", description: "d", instructions: "i" };\nexport default [one, { name: "two", description: "d", instructions: "i" }];\nexport const n = 1;\n',
    "none.mjs": "export const n = 1;\n",
    "broken.mjs": "export const = 1;\n",
    "hot.mjs": 'export default { name: "hot", description: "d", instructions: "i", temperature: -5 };\n',
  });
  const agents = await loadAgentModule(join(dir, "agents.mjs"));
  expect(agents.map(({ agent }) => agent.name).toSorted()).toEqual(["one", "two"]);
  await expect(loadAgentModule(join(dir, "none.mjs"))).rejects.toMatchObject({ code: "BAD_AGENT" });
  await expect(loadAgentModule(join(dir, "broken.mjs"))).rejects.toMatchObject({ code: "BAD_AGENT" });
  await expect(loadAgentModule(join(dir, "hot.mjs"))).rejects.toMatchObject({ code: "BAD_AGENT" });
});

test("discoverAgents shows the tools and the model that an agent inherits", async () => {
  const root = tempFolder({
    "p/.pi/agents/base.md": "---\nname: base\ndescription: d\ntools: read\nmodel: small\n---\nBase.\n",
    "p/.pi/agents/kid.md": "---\nname: kid\ndescription: d\nextends: base\ntools: grep\n---\nKid.\n",
  });
  const { agents } = await discoverAgents(join(root, "p"), { home: root, scope: "project" });
  expect(agents.find(({ name }) => name === "kid")).toMatchObject({
    resolvedTools: ["read", "grep"],
    resolvedModel: "small",
  });
});

test("a rule that only zod can express is checked for an outputConfig, too", async () => {
  const schema = z.object({ from: z.int(), to: z.int() }).refine(({ from, to }) => from < to, "from is before to");
  const definition: LocalAgentDefinition<typeof schema> = {
    kind: "local",
    name: "ranges",
    description: "d",
    inputConfig: { inputs: {} },
    outputConfig: { outputName: "range", description: "A range", schema },
    promptConfig: { systemPrompt: "Find a range.", query: "Go." },
    modelConfig: { model: "m", temp: 0.1, top_p: 0.95 },
    runConfig: { max_time_minutes: 10, max_turns: 5 },
  };
  const finish = (range: object): Script => ({ calls: [{ name: "complete_task", input: { range } }] });
  const models = { m: scripted(finish({ from: 2, to: 1 }), finish({ from: 1, to: 2 })) };
  const agents = [agentFromDefinition(definition)];
  const crew = createCrew({ cwd: tempFolder(), home: false, env: {}, discover: false, agents, models });
  expect(await crew.run({ mode: "single", agent: "ranges", task: "Go." })).toMatchObject({ data: { from: 1, to: 2 } });
});

test("a TypeScript definition of system 004 runs with all its settings", async () => {
  const schema = z.object({ result: z.string(), confidence: z.number() });
  const definition: LocalAgentDefinition<typeof schema> = {
    kind: "local",
    name: "my_agent",
    description: "d",
    inputConfig: { inputs: { target: { type: "string", description: "Target to analyze", required: true } } },
    outputConfig: { outputName: "analysis", description: "Analysis result", schema },
    promptConfig: { systemPrompt: "You look at ${target}.", query: "Analyze ${target}" },
    modelConfig: { model: "gemini-2.0-flash", temp: 0.1, top_p: 0.95 },
    runConfig: { max_time_minutes: 10, max_turns: 2 },
    toolConfig: { tools: ["ls", "read_file"] },
  };
  expect(agentFromDefinition(definition).limits).toEqual({ maxTurns: 2, maxDurationMs: 600_000 });
  const analysis = { result: "fine", confidence: 0.5 };
  const look = { calls: [{ name: "list_files", input: { path: "." } }] };
  const finish = (value: object): Script => ({ calls: [{ name: "complete_task", input: { analysis: value } }] });
  const model = scripted(look, finish({ result: "fine" }), finish(analysis));
  const crew = createCrew({
    cwd: tempFolder(),
    home: false,
    env: {},
    discover: false,
    agents: [agentFromDefinition(definition)],
    models: { "gemini-2.0-flash": model },
  });
  const run = crew.run({ mode: "single", agent: "my_agent", task: "Go.", inputs: { target: "the parser" } });
  const limits: string[] = [];
  for await (const event of run) if (event.type === "limit.reached") limits.push(event.limit);

  expect(await run).toMatchObject({ status: "ok", data: analysis }); // a result that did not match the schema was requested again
  expect(limits).toEqual(["MAX_TURNS"]);
  const [first] = model.requests;
  expect(first).toMatchObject({ temperature: 0.1, topP: 0.95 });
  expect(first!.system).toContain("You look at the parser.\n\nAnalyze the parser");
  expect(first!.tools.map(({ name }) => name).toSorted()).toEqual(["complete_task", "list_files", "read_file"]);
  expect(first!.tools.find(({ name }) => name === "complete_task")!.input["required"]).toEqual(["analysis"]);
});
