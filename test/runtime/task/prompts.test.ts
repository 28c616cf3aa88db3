import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { createCrew, defineAgent, defineTool, type Event, type Model, type RunInput } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/scripted.ts";
import { basePersona, buildSystemPrompt } from "../../../src/runtime/task/system-prompt.ts";
import { deferred } from "../../../src/runtime/async/deferred.ts";
import { repository } from "../../support/repository.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const agent = (name: string, more: object = {}) =>
  defineAgent({ name, description: name, instructions: `You are ${name}.`, tools: [], model: name, ...more });
const tool = (name: string) =>
  defineTool({
    name,
    description: name,
    input: z.object({}),
    effect: "read",
    run: (_, { report }) => (report("half"), "whole"),
  });
const bare = { home: false, discover: false } as const;
const callOf = (name: string, input: unknown = {}) => ({ calls: [{ name, input }] });

test("the instructions of an agent follow the persona that all agents share", () => {
  const prompt = buildSystemPrompt(basePersona, { instructions: "Look at files." });
  expect(prompt.startsWith(basePersona.trim())).toBe(true);
  expect(prompt.indexOf("Look at files.")).toBeGreaterThan(basePersona.trim().length);
});

test("a task without an agent has the prompt of `general`: the persona, and how to return the result", () => {
  const plain = buildSystemPrompt(basePersona);
  expect(plain.startsWith(basePersona.trim())).toBe(true);
  expect(buildSystemPrompt(basePersona, { instructions: "" })).toBe(plain);
  expect(buildSystemPrompt(basePersona, { completion: "tool" })).not.toBe(plain);
});

test("every turn of a task is requested with the task's own tools and prompt", async () => {
  const one = scripted(callOf("look"), callOf("look"), "done");
  const other = scripted(callOf("touch"), "done");
  const crew = createCrew({
    ...bare,
    agents: [agent("one", { tools: ["look"] }), agent("other", { tools: ["touch"] })],
    tools: [tool("look"), tool("touch")],
    models: { one, other },
  });
  await crew.run({
    mode: "parallel",
    tasks: [
      { agent: "one", task: "a" },
      { agent: "other", task: "b" },
    ],
  });
  for (const [model, name, tools] of [
    [one, "one", ["look"]],
    [other, "other", ["touch"]],
  ] as const)
    for (const request of model.requests) {
      expect(request.system).toContain(`You are ${name}.`);
      expect(request.tools.map((each) => each.name)).toEqual(tools);
    }
  expect([one.requests.length, other.requests.length]).toEqual([3, 2]);
  const [first, ...later] = one.requests;
  // the tool definition is created once for all turns
  for (const { tools } of later) expect(tools[0]).toBe(first?.tools[0]);
});

test("one model serves tasks of several agents at the same time, each turn with the tools and prompt of its task", async () => {
  const turns: string[] = [];
  let both = deferred<void>();
  const model: Model = async function* ({ system, tools, messages }) {
    const [, name = ""] = /You are (\w+)\./.exec(system) ?? [];
    turns.push(`${name} with ${tools.map((each) => each.name).join()}`);
    const turn = both;
    if (turns.length % 2 === 0) {
      both = deferred<void>();
      turn.resolve();
    }
    await turn.promise; // the two tasks take turns in this test
    const own = name === "one" ? "look" : "touch";
    if (messages.length < 4) yield { type: "call", call: { id: "1", name: own, input: {} } };
    else yield { type: "text", text: `${name} used ${JSON.stringify(messages).split('"whole"').length - 1}` };
    yield { type: "end", usage: { input: 1, output: 1 }, cost: 0 };
  };
  const crew = createCrew({
    ...bare,
    agents: [agent("one", { tools: ["look"], model: "m" }), agent("other", { tools: ["touch"], model: "m" })],
    tools: [tool("look"), tool("touch")],
    models: { m: model },
  });
  const tasks = ["one", "other"].map((name) => ({ agent: name, task: "go", name }));
  const { nodes } = await crew.run({ mode: "parallel", tasks });
  expect(turns).toHaveLength(6);
  for (const at of [0, 2, 4]) expect(turns.slice(at, at + 2).toSorted()).toEqual(["one with look", "other with touch"]);
  expect(nodes).toMatchObject({ one: { output: "one used 2" }, other: { output: "other used 2" } });
});

test("a helper does not see its parent's conversation, nor the parent the helper's", async () => {
  const lead = scripted(
    callOf("task", { agent: "helper", tasks: [{ id: "A", assignment: "Count the birds." }] }),
    "done",
  );
  const helper = scripted(callOf("look"), "Seven birds.");
  const crew = createCrew({
    ...bare,
    agents: [agent("lead", { tools: ["task"], spawns: ["helper"] }), agent("helper", { tools: ["look"] })],
    tools: [tool("look")],
    models: { lead, helper },
  });
  await crew.run({ mode: "single", agent: "lead", task: "The password is tulip." });
  expect(JSON.stringify(helper.requests)).toContain("Count the birds.");
  expect(JSON.stringify(helper.requests)).not.toContain("tulip");
  expect(JSON.stringify(lead.requests)).toContain("Seven birds.");
  expect(JSON.stringify(lead.requests.map(({ messages }) => messages))).not.toContain('"whole"');
});

test("a star means every tool except those that start agents", async () => {
  const all = scripted("done");
  const crew = createCrew({
    ...bare,
    agents: [agent("all", { tools: ["*"] })],
    tools: [tool("look")],
    models: { all },
  });
  await crew.run({ mode: "single", agent: "all", task: "go" });
  const names = all.requests[0]!.tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["look", "read_file", "grep_files"]));
  expect(names).not.toContain("task");
  expect(JSON.stringify(all.requests[0]!.tools)).not.toMatch(/"minLength"|9007199254740991|"\$schema"/);
});

test("text, thinking and reports of tools are published while they happen", async () => {
  const model: Model = async function* ({ messages }) {
    if (messages.length === 1) {
      yield { type: "thinking", text: "hm, " };
      yield { type: "text", text: "first " };
      yield { type: "call", call: { id: "1", name: "look", input: {} } };
    } else yield { type: "text", text: "last " };
    yield { type: "end", usage: { input: 1, output: 1 }, cost: 0 };
  };
  const crew = createCrew({
    ...bare,
    agents: [agent("m", { tools: ["look"] })],
    tools: [tool("look")],
    models: { m: model },
  });
  const seen: Event[] = [];
  for await (const event of crew.run({ mode: "single", agent: "m", task: "go" })) seen.push(event);
  const order = seen.map(({ type }) => type).filter((type) => /^(?:text|thinking|turn|tool)\./.test(type));
  const at = (type: string): number => order.indexOf(type as (typeof order)[number]);
  expect(at("thinking.delta")).toBeLessThan(at("turn.ended"));
  expect(at("text.delta")).toBeLessThan(at("turn.ended"));
  expect(at("tool.delta")).toBeGreaterThan(at("tool.started"));
  expect(at("tool.delta")).toBeLessThan(at("tool.ended"));
  const told = seen.flatMap((event) => (event.type === "text.delta" ? [[event.path, event.text]] : []));
  expect(told).toEqual([
    ["m", "first "],
    ["m", "last "],
  ]);
});

test("context is built before anything runs: a step that changes a file does not change it for the next one", async () => {
  const cwd = tempFolder({ "notes.md": "Birds sing at dawn." });
  const m = scripted(() => (writeFileSync(join(cwd, "notes.md"), "Birds sleep."), "x"), "y");
  const crew = createCrew({ ...bare, cwd, agents: [agent("m")], models: { m } });
  await crew.run({ mode: "chain", chain: [{ task: "a" }, { task: "b" }], agent: "m", contextFiles: ["notes.md"] });
  const [, second] = m.requests;
  expect(JSON.stringify(second?.messages)).toContain("Birds sing at dawn.");
  expect(JSON.stringify(second?.messages)).not.toContain("Birds sleep.");
});

test("an agent reads the text, the files and the state of the repository that a task names", async () => {
  const cwd = repository("echo 'Birds sing.' > notes.md", "git add . && git commit -qm first", "echo x > new.txt");
  const m = scripted("x");
  const crew = createCrew({
    cwd,
    home: tempFolder(),
    discover: false,
    trusted: true,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    agents: [agent("m")],
    models: { m },
  });
  const context = {
    context: "Be kind.",
    contextFiles: ["notes.md"],
    gitContext: { branch: true, status: true, log: 1 },
  };
  await crew.run({ mode: "single", task: "a", agent: "m", ...context });
  const [first] = m.requests[0]!.messages;
  expect(first?.role === "user" && first.text).toMatch(
    /Be kind\.[^]*Birds sing\.[^]*\*\*Branch:\*\* main[^]*\?\? new\.txt[^]*first/,
  );
});

test("in every mode, the first message of each task contains the shared context", async () => {
  const cwd = tempFolder({ "notes.md": "Birds sing at dawn." });
  const tasks = [{ task: "a" }, { task: "b" }];
  const context = { context: "Be kind.", contextFiles: ["notes.md"] };
  for (const input of [
    { mode: "single", task: "a" },
    { mode: "parallel", tasks },
    { mode: "chain", chain: tasks },
  ]) {
    const m = scripted("x", "x");
    const crew = createCrew({ ...bare, cwd, agents: [agent("m")], models: { m } });
    await crew.run({ ...input, agent: "m", ...context } as RunInput);
    for (const { messages } of m.requests) {
      const [first] = messages;
      expect(first?.role === "user" && first.text).toMatch(/Be kind\.[^]*Birds sing at dawn\./);
    }
    expect(m.requests.length).toBe(input.mode === "single" ? 1 : 2);
  }
});
