import { expect, test } from "vitest";
import type { ModelRequest } from "../../../src/core/model/model.ts";
import type { Event } from "../../../src/index.ts";
import { type Script, scripted } from "../../../src/models/scripted/scripted.ts";
import { basePersona } from "../../../src/runtime/task/system-prompt.ts";
import { call, projectCrew } from "../../support/stage.ts";
import { withoutEnvironment } from "../../../src/core/task/environment.ts";
import { tempFolder } from "../../support/temp-folder.ts";

/** Runs an agent of a trusted project, and collects the requests of each model and the events. */
async function run(
  files: Readonly<Record<string, string>>,
  turns: Readonly<Record<string, readonly Script[]>>,
  input: Readonly<{ agent?: string; model?: string }>,
): Promise<{
  asked(model: string): ModelRequest;
  requests(model: string): readonly ModelRequest[];
  started: readonly string[];
  answers: readonly string[];
  data: unknown;
}> {
  const models = Object.fromEntries(Object.entries(turns).map(([name, says]) => [name, scripted(...says)]));
  const [first = ""] = Object.keys(models);
  const crew = projectCrew(tempFolder(files), { models, model: first, unattended: true });
  const running = crew.run({ mode: "single", task: "Go.", ...input });
  const events: Event[] = [];
  for await (const event of running) events.push(event);
  const result = await running;
  expect(result).toMatchObject({ status: "ok" });
  return {
    data: result.data,
    asked: (model) => models[model]!.requests[0]!,
    requests: (model) => models[model]!.requests,
    started: events.flatMap((event) => (event.type === "node.started" ? [event.agent ?? ""] : [])),
    answers: events.flatMap((event) =>
      event.type === "tool.ended" || event.type === "tool.denied" ? [event.text ?? ""] : [],
    ),
  };
}

const omp = (name: string, fields = "", body = "Work."): Record<string, string> => ({
  [`.omp/agents/${name}.md`]: `---\nname: ${name}\ndescription: ${name} d\n${fields}---\n${body}`,
});
const toolsOf = ({ tools }: ModelRequest): string[] => tools.map(({ name }) => name);

test("the tools, spawns, model, thinking level and output in an agent file apply to its run", async () => {
  const fields = [
    "tools: read, task",
    "spawns: helper",
    "model: own",
    "thinkingLevel: high",
    "output: { type: object, properties: { count: { type: number } } }\n",
  ].join("\n");
  const done = call("submit_result", { result: { data: { count: 1 } } });
  const { asked } = await run({ ...omp("full", fields), ...omp("helper") }, { m: [], own: [done] }, { agent: "full" });
  const request = asked("own");
  expect(toolsOf(request)).toEqual(expect.arrayContaining(["read_file", "task"]));
  expect(toolsOf(request)).not.toContain("write_file");
  expect(request.thinking).toBe("high");
  expect(request.tools.find(({ name }) => name === "task")?.description).toContain("helper d");
  expect(JSON.stringify(request.tools)).toContain('"count"');
});

test("an agent file with only a name and a description runs with all tools, the default model and no agents to start", async () => {
  const { asked } = await run({ ...omp("plain"), ...omp("helper") }, { m: ["done"] }, { agent: "plain" });
  const request = asked("m");
  expect(toolsOf(request)).toEqual(expect.arrayContaining(["read_file", "write_file", "bash"]));
  expect(toolsOf(request)).not.toContain("task");
  expect(request.thinking).toBeUndefined();
});

test.each([
  ['"*"', ["lead", "a", "b"]],
  ["a", ["lead", "a"]],
  ["a, b", ["lead", "a", "b"]],
  ["[b]", ["lead", "b"]],
  ['""', ["lead"]],
  [undefined, ["lead", "a", "b"]], // an agent that lists the task tool may start all agents without `spawns`
])("with spawns %s an agent starts %j", async (spawns, started) => {
  const files = {
    ...omp("lead", `tools: task\n${spawns === undefined ? "" : `spawns: ${spawns}\n`}`),
    ...omp("a", "model: other\n"),
    ...omp("b", "model: other\n"),
  };
  const ask = (agent: string): Script => call("task", { agent, tasks: [{ id: agent, assignment: "Go." }] });
  const turns = { m: [ask("a"), ask("b"), "done"], other: ["ok", "ok"] };
  const result = await run(files, turns, { agent: "lead" });
  expect(result.started).toEqual(started);
});

test("a prompt that asks for another format than the schema is not an error of the file, and the schema is used", async () => {
  const files = omp("talker", "output: { type: object, required: [n] }\n", "Answer in three bullet points.");
  const crew = projectCrew(tempFolder(files), { models: { m: scripted() }, model: "m" });
  expect((await crew.agents()).problems).toEqual([]);
  const handIn = (data: object): Script => call("submit_result", { result: { data } });
  const { data } = await run(files, { m: [handIn({}), handIn({ n: 1 })] }, { agent: "talker" });
  expect(data).toEqual({ n: 1 });
});

const pi = (name: string, fields: string, body: string): Record<string, string> => ({
  [`.pi/agents/${name}.md`]: `---\nname: ${name}\ndescription: ${name} d\n${fields}---\n${body}`,
});

test("an agent that extends another runs with the tools of both, the model of its base and its own prompt", async () => {
  const files = {
    ...pi("base", "tools: read\nmodel: small\n", "The base works."),
    ...pi("kid", "extends: base\ntools: grep\n", "The kid works."),
    ...pi("own", "extends: base\nmodel: large\n", "Another one works."),
  };
  const { asked } = await run(files, { m: [], small: ["done"] }, { agent: "kid" });
  expect(toolsOf(asked("small")).toSorted()).toEqual(["grep_files", "read_file"]);
  expect(asked("small").system).toContain("The kid works.");
  expect(asked("small").system).not.toContain("The base works.");
  const own = await run(files, { m: [], small: [], large: ["done"] }, { agent: "own" });
  expect(toolsOf(own.asked("large"))).toEqual(["read_file"]);
});

test("agents that extend each other in a cycle are errors of their files, and the other agents run", async () => {
  const files = {
    ...pi("one", "extends: two\n", "1"),
    ...pi("two", "extends: one\n", "2"),
    ...pi("free", "", "3"),
  };
  const { agents, skipped } = await projectCrew(tempFolder(files), { models: { m: scripted() } }).agents();
  expect(agents.map(({ name }) => name)).toContain("free");
  expect(agents.map(({ name }) => name)).not.toEqual(expect.arrayContaining(["one"]));
  expect(skipped.flatMap(({ problems }) => problems.map(({ code }) => code))).toEqual([
    "inheritance-cycle",
    "inheritance-cycle",
  ]);
  await run(files, { m: ["done"] }, { agent: "free" });
});

const subagent = (
  name: string,
  description: string,
  body: string,
  fields = "tools: read_file\n",
): Record<string, string> => ({
  [`subagents/${name}/SUBAGENT.md`]: `---\nname: ${name}\ndescription: ${description}\n${fields}---\n${body}`,
});

test("an agent that may start others reads the purpose of each agent type, also of types from files", async () => {
  const files = {
    ...subagent("digger", "Digs through old logs.", "Dig."),
    ...omp("lead", "tools: spawn_subagent\nspawns: '*'\n"),
  };
  const { asked } = await run(files, { m: ["done"] }, { agent: "lead" });
  const { description = "" } = asked("m").tools.find(({ name }) => name === "spawn_subagent") ?? {};
  expect(description).toContain('spawn_subagent(type: "digger"): Digs through old logs.');
  expect(description).toContain('spawn_subagent(type: "explore"):');
});

test("a task without an agent uses `general`, whose prompt is the persona and its body", async () => {
  const named = await run({}, { m: ["done"] }, { agent: "general" });
  const plain = await run({}, { m: ["done"] }, {});
  expect(withoutEnvironment(plain.asked("m").system)).toBe(withoutEnvironment(named.asked("m").system));
  expect(plain.asked("m").system.startsWith(basePersona.trim())).toBe(true);
  const explore = await run({}, { m: ["done"] }, { agent: "explore" });
  expect(explore.asked("m").system.startsWith(basePersona.trim())).toBe(true);
  expect(explore.asked("m").system).not.toBe(plain.asked("m").system);
});

test("a star in a SUBAGENT.md means all tools, and a list means exactly these tools", async () => {
  const files = {
    ...subagent("digger", "Digs.", "Dig.", 'tools: "*"\n'),
    ...subagent("reader", "Reads.", "Read.", "tools: read_file, list_files\n"),
  };
  const digger = await run(files, { m: ["done"] }, { agent: "digger" });
  expect(toolsOf(digger.asked("m"))).toEqual(expect.arrayContaining(["read_file", "write_file", "bash"]));
  const reader = await run(files, { m: ["done"] }, { agent: "reader" });
  expect(toolsOf(reader.asked("m")).toSorted()).toEqual(["list_files", "read_file"]);
});

test("the body of a SUBAGENT.md follows the persona in the prompt of its run", async () => {
  const files = subagent("digger", "Digs.", "Dig deep, then stop.");
  const { asked } = await run(files, { m: ["done"] }, { agent: "digger" });
  expect(asked("m").system.startsWith(`${basePersona.trim()}\n\nDig deep, then stop.`)).toBe(true);
});

const sizes = { haiku: ["small"], sonnet: ["middle"], opus: ["large"] };

test.each([
  ["Explore", "haiku"],
  ["Bash", "haiku"],
  ["Plan", "sonnet"],
  ["general-purpose", "sonnet"],
])("%s runs on %s where that model is available", async (agent, model) => {
  const { asked } = await run({}, { m: [], ...sizes }, { agent });
  expect(asked(model).messages).toHaveLength(1);
});

test.each([
  ["fast", "small"],
  ["powerful", "large"],
  ["balanced", "m"], // no model is set for this tier
])("a file with the tier %s runs on %s", async (tier, model) => {
  const files = subagent("digger", "Digs.", "Dig.", `tools: read_file\nmodel: ${tier}\n`);
  const models = { m: scripted("done"), small: scripted("done"), large: scripted("done") };
  const crew = projectCrew(tempFolder(files), {
    models,
    model: "m",
    unattended: true,
    config: { tiers: { fast: ["small"], powerful: ["large"] } },
  });
  expect(await crew.run({ mode: "single", agent: "digger", task: "Go." })).toMatchObject({ status: "ok" });
  expect(models[model as keyof typeof models].requests).toHaveLength(1);
});

test("a call can name another model for an agent that prefers one", async () => {
  const { asked } = await run({}, { m: [], ...sizes }, { agent: "Explore", model: "opus" });
  expect(asked("opus").messages).toHaveLength(1);
  expect(asked("haiku")).toBeUndefined();
});

test("the prompt of the main agent explains when to give work to which kind of agent", async () => {
  const { asked } = await run({}, { m: ["Hello."] }, { agent: "lead" });
  const { system, tools } = asked("m");
  for (const kind of ["an explorer", "a planner", "a coder", "a reviewer", "a general agent"])
    expect(system).toContain(kind);
  const { description = "" } = tools.find(({ name }) => name === "Task") ?? {};
  expect([...description.matchAll(/^- (\w+): /gm)].map(([, name]) => name)).toEqual([
    "code",
    "explore",
    "general",
    "plan",
    "reviewer",
  ]);
  expect(tools.length).toBeLessThanOrEqual(12);
});

test("the main agent starts an agent of another system that its model names, although it is not offered", async () => {
  const ask = call("Task", { description: "d", prompt: "p", subagent_type: "general-purpose" });
  const { started } = await run({}, { m: [ask, "found", "done"] }, { agent: "lead" });
  expect(started).toEqual(["lead", "general-purpose"]);
});

test("an agent that names an unlisted agent in its spawns is offered it", async () => {
  const { asked } = await run({}, { m: ["done"] }, { agent: "omp:task" });
  const { description = "" } = asked("m").tools.find(({ name }) => name === "task") ?? {};
  expect([...description.matchAll(/^- (\w+): /gm)].map(([, name]) => name)).toEqual(["explore", "quick_task"]);
});

test.each([
  ["pegasus:general", 28],
  ["pegasus:explore", 15],
  ["pegasus:plan", 17],
])("the model of %s is shown %d tools", async (agent, count) => {
  const { asked } = await run({}, { m: ["done"] }, { agent });
  expect(toolsOf(asked("m"))).toHaveLength(count);
});

const location = { FilePath: "src/a.ts", Reasoning: "It begins here.", KeySymbols: ["begin"] };
test.each([
  [
    "codebase-investigator",
    { SummaryOfFindings: "It works.", ExplorationTrace: ["Searched."], RelevantLocations: [location] },
  ],
  [
    "cli-help",
    { answer: "Use ps.", commands: [{ line: "subcrew ps", does: "lists runs" }], see: ["subcrew ps --help"] },
  ],
])("%s can only return data that matches its schema", async (agent, report) => {
  const handIn = (data: object): Script => call("complete_task", { report: data });
  const { data, asked } = await run({}, { m: [handIn({}), handIn(report)] }, { agent });
  expect(data).toEqual(report);
  const finish = asked("m").tools.find(({ name }) => name === "complete_task");
  for (const key of Object.keys(report)) expect(JSON.stringify(finish?.input)).toContain(`"${key}"`);
});

test("the caller of deepresearch reads an answer of 8,000 characters completely", async () => {
  const lead = omp("lead", "tools: Task\nspawns: deepresearch\n");
  const ask = call("Task", { description: "find out", prompt: "Why?", subagent_type: "deepresearch" });
  const report = "x".repeat(8_000);
  const { answers } = await run(lead, { m: [ask, report, "done"] }, { agent: "lead" });
  expect(answers[0]).toContain(report);
});

const gemini = (name: string, fields: readonly string[]): Record<string, string> => ({
  [`.gemini/agents/${name}.md`]: `---\nname: ${name}\ndescription: ${name} d\n${fields.join("\n")}\n---\nNotes for people.`,
});

test("a Gemini file runs with the prompt, model, temperature, tools and turns of its frontmatter; its body is documentation", async () => {
  const fields = [
    "display_name: The Reader",
    "kind: local",
    "tools: [read_file]",
    "system_prompt: You read.",
    "model: own",
    "temperature: 0.25",
    "max_turns: 1",
    "timeout_mins: 2",
  ];
  const look = call("read_file", { path: "a.txt" });
  const finish = call("complete_task", { result: "read" });
  const { asked, requests } = await run(gemini("reader", fields), { m: [], own: [look, finish] }, { agent: "reader" });
  const { system, temperature } = asked("own");
  expect(system).toContain("You read.");
  expect(system).not.toContain("Notes for people.");
  expect(temperature).toBe(0.25);
  expect(toolsOf(asked("own")).toSorted()).toEqual(["complete_task", "read_file"]);
  // after one turn the agent can only return its result
  expect(requests("own")[1]?.toolChoice).toEqual({ tool: "complete_task" });
});

test("a Gemini file that lists the delegation tool is refused, and the other files are found", async () => {
  const files = { ...gemini("boss", ["tools: [read_file, delegate_to_agent]"]), ...gemini("worker", []) };
  const { agents, skipped } = await projectCrew(tempFolder(files), { models: { m: scripted() } }).agents();
  expect(agents.map(({ name }) => name)).toContain("worker");
  expect(agents.map(({ name }) => name)).not.toContain("boss");
  expect(skipped.flatMap(({ problems }) => problems.map(({ message }) => message))).toEqual([
    "Validation failed: tools list cannot include 'delegate_to_agent'. Sub-agents cannot delegate to other agents.",
  ]);
});
