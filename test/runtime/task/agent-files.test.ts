import { expect, test } from "vitest";
import type { ModelRequest } from "../../../src/core/model/model.ts";
import type { Event } from "../../../src/index.ts";
import { type Script, scripted } from "../../../src/models/scripted/scripted.ts";
import { basePersona } from "../../../src/runtime/task/system-prompt.ts";
import { call, projectCrew } from "../../support/stage.ts";
import { tempFolder } from "../../support/temp-folder.ts";

/** Runs an agent of a trusted project, and collects what each model was asked and what happened. */
async function run(
  files: Readonly<Record<string, string>>,
  turns: Readonly<Record<string, readonly Script[]>>,
  input: Readonly<{ agent?: string; model?: string }>,
): Promise<{ asked(model: string): ModelRequest; started: readonly string[]; answers: readonly string[] }> {
  const models = Object.fromEntries(Object.entries(turns).map(([name, says]) => [name, scripted(...says)]));
  const [first = ""] = Object.keys(models);
  const crew = projectCrew(tempFolder(files), { models, model: first, unattended: true });
  const running = crew.run({ mode: "single", task: "Go.", ...input });
  const events: Event[] = [];
  for await (const event of running) events.push(event);
  expect(await running).toMatchObject({ status: "ok" });
  return {
    asked: (model) => models[model]!.requests[0]!,
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

test("tools, spawns, model, thinking level and output of a file hold in its run", async () => {
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

test("a file without any of them runs with all tools, the default model and no agents to start", async () => {
  const { asked } = await run({ ...omp("plain"), ...omp("helper") }, { m: ["done"] }, { agent: "plain" });
  const request = asked("m");
  expect(toolsOf(request)).toEqual(expect.arrayContaining(["read_file", "write_file", "bash"]));
  expect(toolsOf(request)).not.toContain("task");
  expect(request.thinking).toBeUndefined();
});

test.each([
  ['"*"', ["lead", "a", "b"]],
  ["a", ["lead", "a"]],
  ['""', ["lead"]],
])("with spawns %s an agent starts %j", async (spawns, started) => {
  const files = {
    ...omp("lead", `tools: task\nspawns: ${spawns}\n`),
    ...omp("a", "model: other\n"),
    ...omp("b", "model: other\n"),
  };
  const ask = (agent: string): Script => call("task", { agent, tasks: [{ id: agent, assignment: "Go." }] });
  const turns = { m: [ask("a"), ask("b"), "done"], other: ["ok", "ok"] };
  const result = await run(files, turns, { agent: "lead" });
  expect(result.started).toEqual(started);
});

const subagent = (
  name: string,
  description: string,
  body: string,
  fields = "tools: read_file\n",
): Record<string, string> => ({
  [`subagents/${name}/SUBAGENT.md`]: `---\nname: ${name}\ndescription: ${description}\n${fields}---\n${body}`,
});

test("an agent that may start others reads what each type is for, those of files among them", async () => {
  const files = {
    ...subagent("digger", "Digs through old logs.", "Dig."),
    ...omp("lead", "tools: spawn_subagent\nspawns: '*'\n"),
  };
  const { asked } = await run(files, { m: ["done"] }, { agent: "lead" });
  const { description = "" } = asked("m").tools.find(({ name }) => name === "spawn_subagent") ?? {};
  expect(description).toContain('spawn_subagent(type: "digger"): Digs through old logs.');
  expect(description).toContain('spawn_subagent(type: "explore"):');
});

test("a task without an agent is one for general, whose prompt is the persona and its body", async () => {
  const named = await run({}, { m: ["done"] }, { agent: "general" });
  const plain = await run({}, { m: ["done"] }, {});
  expect(plain.asked("m").system).toBe(named.asked("m").system);
  expect(plain.asked("m").system.startsWith(basePersona.trim())).toBe(true);
  const explore = await run({}, { m: ["done"] }, { agent: "explore" });
  expect(explore.asked("m").system.startsWith(basePersona.trim())).toBe(true);
  expect(explore.asked("m").system).not.toBe(plain.asked("m").system);
});

test("a star in a SUBAGENT.md means all tools, and a list means these", async () => {
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
])("%s runs on %s where that is there", async (agent, model) => {
  const { asked } = await run({}, { m: [], ...sizes }, { agent });
  expect(asked(model).messages).toHaveLength(1);
});

test("a call names another model for an agent that prefers one", async () => {
  const { asked } = await run({}, { m: [], ...sizes }, { agent: "Explore", model: "opus" });
  expect(asked("opus").messages).toHaveLength(1);
  expect(asked("haiku")).toBeUndefined();
});

test("the prompt of the main agent says when to hand work to which kind of agent", async () => {
  const { asked } = await run({}, { m: ["Hello."] }, { agent: "lead" });
  const { system, tools } = asked("m");
  for (const kind of ["an explorer", "a planner", "a shell agent", "a general agent"]) expect(system).toContain(kind);
  expect(tools.find(({ name }) => name === "Task")?.description).toMatch(
    /Explore to search.*Plan to design.*Bash to run.*general-purpose/,
  );
});
