import { chmodSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDelegation } from "../../src/doors/delegation.ts";
import { never, type Script } from "../../src/models/scripted/scripted.ts";
import { deferred } from "../../src/runtime/async/deferred.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { agentOn, crewOf, eras, session } from "./session.ts";

const call = (name: string, input: object): Script => ({ calls: [{ name, input }] });

const forms = { client: { capabilities: { elicitation: { form: {} } } } };

test.for(eras)("a client of the %s protocol lists the tools and runs an agent with progress", async (era) => {
  const { client, lines, errors } = await session(crewOf({ scout: ["It is in main.ts."] }), era);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(
    "run parallel chain race team agents status result answer cancel".split(" "),
  );
  expect(JSON.stringify(tools).length).toBeLessThan(8_000);
  expect(tools.every(({ inputSchema }) => inputSchema.type === "object")).toBe(true);
  const told: string[] = [];
  const result = await client.callTool(
    { name: "run", arguments: { agent: "scout", task: "Where is it?" } },
    { onprogress: ({ message }) => told.push(message ?? "") },
  );
  expect(result.content).toEqual([{ type: "text", text: "It is in main.ts." }]);
  expect(result.structuredContent).toMatchObject({
    run: expect.stringMatching(/^run_/),
    status: "ok",
    output: "It is in main.ts.",
    tasks: [{ path: "scout", agent: "scout", status: "ok" }],
  });
  expect(told).toEqual([expect.stringMatching(/^run_\w+ started$/), "scout started", "scout: ok"]);
  expect(lines.every((line) => (JSON.parse(line) as { jsonrpc: string }).jsonrpc === "2.0")).toBe(true);
  expect(errors).toEqual([]);
  await client.close();
});

test.for(eras)(
  "a race names its winner in its answer, its status and its result, over the %s protocol",
  async (era) => {
    const { client } = await session(
      crewOf({ slow: [() => new Promise<string>(() => {})], quick: ["first", "second"] }),
      era,
    );
    const race = await client.callTool({
      name: "race",
      arguments: { race: { task: "Who?", agents: ["slow", "quick"] } },
    });
    expect(race.structuredContent).toMatchObject({ status: "ok", output: "first", winner: "quick" });
    const { run } = race.structuredContent as { run: string };
    const status = await client.callTool({ name: "status", arguments: { run } });
    expect(status.structuredContent).toMatchObject({ runs: [{ status: "ok", winner: "quick" }] });
    const result = await client.callTool({ name: "result", arguments: { run } });
    expect(result.structuredContent).toMatchObject({ status: "ok", winner: "quick" });
    const alone = await client.callTool({ name: "run", arguments: { agent: "quick", task: "Again?" } });
    expect(alone.structuredContent).not.toHaveProperty("winner");
    await client.close();
  },
);

test.for(eras)("a client runs each mode and lists the agents, over the %s protocol", async (era) => {
  const crew = crewOf({ a: ["one", "three"], b: ["two", "four"] });
  const { client } = await session(crew, era);
  const parallel = await client.callTool({
    name: "parallel",
    arguments: {
      tasks: [
        { agent: "a", task: "x" },
        { agent: "b", task: "y" },
      ],
    },
  });
  expect(parallel.structuredContent).toMatchObject({
    status: "ok",
    tasks: [
      { path: "a", output: "one" },
      { path: "b", output: "two" },
    ],
  });
  const chain = await client.callTool({
    name: "chain",
    arguments: {
      chain: [
        { agent: "a", task: "x" },
        { agent: "b", task: "go on: {previous}" },
      ],
    },
  });
  expect(chain.structuredContent).toMatchObject({ status: "ok", output: "four" });
  const { structuredContent } = await client.callTool({ name: "agents", arguments: { query: "AGENT A" } });
  expect(structuredContent).toEqual({
    agents: [{ name: "a", description: "the agent a", readOnly: false, source: "inline" }],
  });
  await client.close();
});

test("a mistake in the arguments gets an error with a fix, and nothing has run", async () => {
  const cwd = tempFolder({ "file.txt": "x" });
  symlinkSync("/", join(cwd, "way"));
  const crew = crewOf({ scout: [] }, { cwd });
  const { client } = await session(crew, "auto");
  for (const [args, text] of [
    [{ agent: "scuot", task: "x" }, /UNKNOWN_AGENT.*scout/s],
    [{ task: "x", agnt: "scout" }, /BAD_INPUT.*agent/s],
    [{ task: "x", agent: "scout", cwd: "../.." }, /outside of the working folder/],
    [{ task: "x", agent: "scout", cwd: "way" }, /outside of the working folder/],
    [{ task: "x", agent: "scout", cwd: "way/tmp/./nothing" }, /outside of the working folder/],
    [{ task: "x", agent: "scout", cwd: "file.txt" }, /BAD_INPUT.*it is not a folder/],
    ...["file:///", "file:///etc", `file://${cwd}`, "http://x/", "file://host/a", "%2e%2e", "a\0b", "missing", "~"].map(
      (folder) =>
        [{ task: "x", agent: "scout", cwd: folder }, /BAD_INPUT.*does not exist.*a URI is not accepted/] as const,
    ),
  ] as const) {
    const { content, isError } = await client.callTool({ name: "run", arguments: args });
    expect(isError).toBe(true);
    expect((content as { text: string }[])[0]!.text).toMatch(text);
  }
  await expect(client.callTool({ name: "delete_everything", arguments: {} })).rejects.toThrow("Unknown tool");
  expect(await crew.runs()).toEqual([]);
  expect((await client.callTool({ name: "status", arguments: {} })).structuredContent).toEqual({ runs: [] });
  await client.close();
});

test("a client chooses no command that carries out a task and no folder outside, also where weaker limits are allowed", async () => {
  const folder = tempFolder({ agent: '#!/bin/sh\n: > "$0.started"\n' });
  const program = join(folder, "agent");
  chmodSync(program, 0o755);
  const crew = crewOf({ scout: [] }, { permissions: { mode: "bypass", sandbox: "off", allowWeaker: true } });
  const delegation = openDelegation(crew, { as: ["parallel"] });
  const { client } = await session(crew, "auto", { delegation });
  const strange = { task: "x", agent: "scout", runner: `acp:${program}` };
  for (const [name, args] of [
    ["run", strange],
    ["chain", { chain: [strange] }],
    ["subcrew_parallel", { tasks: [{ task: "x", agent: "scout" }, strange] }],
    ["subcrew_parallel", { tasks: [{ task: "x", agent: "scout" }], runner: strange.runner }],
    ["parallel", { tasks: [{ task: "x", agent: "scout" }, strange] }],
    ["parallel", { chain: [strange] }],
    ["parallel", { tasks: [{ task: "x", agent: "scout", cwd: folder }] }],
  ] as const) {
    const { content } = await client.callTool({ name, arguments: args });
    expect((content as { text: string }[])[0]!.text).toMatch(
      /cannot choose a command to run|outside of the working folder/,
    );
  }
  expect(existsSync(`${program}.started`)).toBe(false);
  expect(await crew.runs()).toEqual([]);
  await client.close();
});

test("the long list describes every argument and result, and both lists accept the same arguments", async () => {
  const args = { agent: "a", task: "x", resourceLimits: { maxTurns: 3 }, thinking: "off" };
  for (const full of [false, true]) {
    const { client } = await session(crewOf({ a: ["one"] }), "legacy", { full });
    const { tools } = await client.listTools();
    const run = tools.find(({ name }) => name === "run");
    expect([run?.inputSchema.properties?.["resourceLimits"], run?.outputSchema].map(Boolean)).toEqual([full, full]);
    const { structuredContent } = await client.callTool({ name: "run", arguments: args });
    expect(structuredContent).toMatchObject({ status: "ok", output: "one" });
    await client.close();
  }
});

test("the hints of MCP tools say which tools are read-only and which use a model", async () => {
  const hintsOf = async (more: Parameters<typeof session>[2], crew = crewOf({})): Promise<Record<string, unknown>> => {
    const { client } = await session(crew, "auto", more);
    const { tools } = await client.listTools();
    await client.close();
    return Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
  };
  const looks = { readOnlyHint: true, openWorldHint: false };
  const works = { readOnlyHint: false, destructiveHint: true, openWorldHint: true };
  const acts = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
  expect(await hintsOf({})).toEqual({
    ...Object.fromEntries(["run", "parallel", "chain", "race", "team"].map((name) => [name, works])),
    ...Object.fromEntries(["agents", "status", "result"].map((name) => [name, looks])),
    ...Object.fromEntries(["answer", "cancel"].map((name) => [name, acts])),
  });
  expect((await hintsOf({ readOnly: true }))["run"]).toEqual({ readOnlyHint: true, openWorldHint: true });
  const crew = crewOf({ writer: [] });
  const each = await hintsOf({ delegation: openDelegation(crew, { as: ["agents"] }) }, crew);
  expect(each).toMatchObject({ explore: { readOnlyHint: true }, writer: works });
});

test("when a delegation tool has the name of a server tool, it keeps the name, and the server tool becomes subcrew_parallel", async () => {
  const crew = crewOf({ a: ["one", "two"] });
  const { client } = await session(crew, "auto", { delegation: openDelegation(crew, { as: ["parallel"] }) });
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names).toEqual("run subcrew_parallel chain race team agents status result answer cancel parallel".split(" "));
  const tasks = [{ agent: "a", task: "x" }];
  const theirs = await client.callTool({ name: "parallel", arguments: { agent: "a", task: "x" } });
  expect(JSON.stringify(theirs.content)).toContain("one"); // only the tool of system 003 accepts a single task
  const ours = await client.callTool({ name: "subcrew_parallel", arguments: { tasks } });
  expect(ours.structuredContent).toMatchObject({ status: "ok", tasks: [{ path: "a" }] });
  await client.close();
});

test.for(eras)(
  "a delegation tool returns at once with the question that waits in the inbox, over the %s protocol",
  async (era) => {
    const crew = crewOf({ asker: [call("ask", { question: "Which one?" }), "the red one"] });
    const { client } = await session(crew, era, { delegation: openDelegation(crew, { as: ["Task"] }) });
    const { content } = await client.callTool({
      name: "Task",
      arguments: { subagent_type: "asker", description: "ask", prompt: "Ask." },
    });
    expect(JSON.stringify(content)).toMatch(/is waiting for an answer.*Which one\?/);
    const { structuredContent: status } = await client.callTool({ name: "status", arguments: {} });
    const [{ run }] = (status as { runs: [{ run: string }] }).runs;
    await client.callTool({ name: "answer", arguments: { run, text: "red" } });
    const ended = await client.callTool({ name: "result", arguments: { run, waitSeconds: 50 } });
    expect(ended.structuredContent).toMatchObject({ status: "ok", output: "the red one" });
    await client.close();
  },
);

test("a client of a 2025 protocol that cancels its call while a form is open cancels the run", async () => {
  const crew = crewOf({ asker: [call("ask", { question: "Which one?" })] });
  const { client } = await session(crew, "legacy", forms);
  const stop = new AbortController();
  client.setRequestHandler("elicitation/create", () => {
    stop.abort("enough");
    return new Promise(() => {});
  });
  const called = client.callTool({ name: "run", arguments: { agent: "asker", task: "x" } }, { signal: stop.signal });
  await expect(called).rejects.toThrow();
  const status = async (): Promise<unknown> =>
    (await client.callTool({ name: "status", arguments: {} })).structuredContent;
  await expect.poll(status, { timeout: 60_000 }).toMatchObject({ runs: [{ status: "cancelled" }] });
  await client.close();
});

test("a form at the client is withdrawn when its question is answered in the inbox", async () => {
  const crew = crewOf({ asker: [call("ask", { question: "Which one?" }), "the red one"] });
  const { client } = await session(crew, "legacy", forms);
  const open = deferred<AbortSignal>();
  client.setRequestHandler("elicitation/create", (_, { mcpReq: { signal } }) => {
    open.resolve(signal);
    return new Promise(() => {});
  });
  const called = client.callTool({ name: "run", arguments: { agent: "asker", task: "x" } });
  const signal = await open.promise;
  await expect.poll(() => crew.kept.questions()).toHaveLength(1);
  const [question] = await crew.kept.questions();
  const answer = {
    do: "answer",
    path: "asker",
    call: question!.call!,
    answer: { approve: true, text: "red" },
  } as const;
  await crew.kept.tell(question!.run, answer, { waitMs: 60_000, signal: new AbortController().signal });
  expect((await called).structuredContent).toMatchObject({ status: "ok", output: "the red one" });
  expect(signal.aborted).toBe(true);
  await client.close();
});

test.for(eras)("a client that cancels its call cancels the run, over the %s protocol", async (era) => {
  const crew = crewOf({}, { agents: [agentOn("stuck")], models: { stuck: never } });
  const { client } = await session(crew, era);
  const stop = new AbortController();
  const begun = deferred<void>();
  const called = client.callTool(
    { name: "run", arguments: { agent: "stuck", task: "x" } },
    { signal: stop.signal, onprogress: () => begun.resolve() },
  );
  await begun.promise;
  stop.abort("enough");
  await expect(called).rejects.toThrow();
  const ended = async (): Promise<unknown> =>
    (await client.callTool({ name: "status", arguments: {} })).structuredContent;
  await expect.poll(ended, { timeout: 60_000 }).toMatchObject({ runs: [{ status: "cancelled" }] });
  await client.close();
});

test.for(eras)("a question of a run becomes a form if the client supports forms, over the %s protocol", async (era) => {
  const crew = crewOf({ writer: [call("write_file", { path: "a.txt", content: "x" }), "written"] });
  const asked: string[] = [];
  const { client } = await session(crew, era, forms);
  client.setRequestHandler("elicitation/create", ({ params }) => {
    asked.push(params.message);
    return { action: "accept", content: { approve: true } };
  });
  const result = await client.callTool({ name: "run", arguments: { agent: "writer", task: "Write." } });
  expect(result.structuredContent).toMatchObject({ status: "ok", output: "written" });
  expect(asked).toEqual([expect.stringContaining("a.txt")]);
  await client.close();
});

test.for([
  ["auto", "is cancelled"],
  ["legacy", "is cancelled"],
  ["legacy", "fails"],
] as const)("over the %s protocol, the question of a form that %s waits in the inbox", async ([era, how]) => {
  const crew = crewOf({ asker: [call("ask", { question: "Which one?" }), "the red one"] });
  const { client } = await session(crew, era, forms);
  let asked = 0;
  client.setRequestHandler("elicitation/create", () => {
    asked += 1;
    if (how === "fails") throw new Error("This host shows no forms.");
    return { action: "cancel" };
  });
  const called = await client.callTool({ name: "run", arguments: { agent: "asker", task: "Ask." } });
  expect(called.structuredContent).toMatchObject({
    status: "waiting",
    questions: [{ path: "asker", about: "question" }],
  });
  expect(JSON.stringify(called.content)).toContain("subcrew inbox");
  await expect
    .poll(() => crew.kept.questions())
    .toMatchObject([{ path: "asker", question: expect.stringContaining("Which one?") }]);
  const [question] = await crew.kept.questions();
  await crew.kept.tell(
    question!.run,
    { do: "answer", path: "asker", call: question!.call!, answer: { approve: true, text: "red" } },
    { waitMs: 60_000, signal: new AbortController().signal },
  );
  const { run } = called.structuredContent as { run: string };
  const ended = await client.callTool({ name: "result", arguments: { run, waitSeconds: 50 } });
  expect(ended.structuredContent).toMatchObject({ status: "ok", output: "the red one" });
  expect(asked).toBe(1);
  await client.close();
});

test("SRV-11: a client without forms gets the question as text; it answers gates, and only a person allows calls", async () => {
  const crew = crewOf({
    asker: [call("ask", { question: "Which one?" }), "the red one"],
    writer: [call("write_file", { path: "a.txt", content: "x" }), "written"],
  });
  const { client } = await session(crew, "auto");
  const { structuredContent: waiting } = await client.callTool({
    name: "run",
    arguments: { agent: "asker", task: "Ask." },
  });
  expect(waiting).toMatchObject({
    status: "waiting",
    questions: [{ path: "asker", question: expect.stringContaining("Which") }],
  });
  const { run } = waiting as { run: string };
  await client.callTool({ name: "answer", arguments: { run, text: "red" } });
  const { structuredContent: done } = await client.callTool({ name: "result", arguments: { run, waitSeconds: 50 } });
  expect(done).toMatchObject({ status: "ok", output: "the red one" });

  const { structuredContent: second } = await client.callTool({
    name: "run",
    arguments: { agent: "writer", task: "Write." },
  });
  const refused = await client.callTool({ name: "answer", arguments: { run: (second as { run: string }).run } });
  expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("only a person") }] });
  await client.close();
});

test("start and poll: a run that is started without waiting can be read, waited for and cancelled", async () => {
  const crew = crewOf({ quick: ["done"] }, {});
  const { client } = await session(crew, "legacy");
  const { structuredContent: begun } = await client.callTool({
    name: "run",
    arguments: { agent: "quick", task: "x", name: "nightly", wait: false },
  });
  expect(begun).toMatchObject({ run: expect.stringMatching(/^run_/), name: "nightly" });
  const { structuredContent: ended } = await client.callTool({
    name: "result",
    arguments: { run: "nightly", waitSeconds: 50 },
  });
  expect(ended).toMatchObject({ status: "ok", output: "done" });
  expect(await crew.runs()).toEqual([(begun as { run: string }).run]);
  const { isError, content } = await client.callTool({ name: "cancel", arguments: { run: "run_elsewhere000" } });
  expect({ isError, content }).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("UNKNOWN_RUN") }],
  });
  await client.close();
});

test("SRV-11: runs of other processes are visible only where the owner shares them", async () => {
  const crew = crewOf({ a: ["mine", "yours"] });
  const { id } = await crew.run({ mode: "single", agent: "a", task: "x" });
  const closed = await session(crew, "auto");
  expect((await closed.client.callTool({ name: "status", arguments: {} })).structuredContent).toEqual({ runs: [] });
  expect(await closed.client.callTool({ name: "result", arguments: { run: id } })).toMatchObject({ isError: true });
  const shared = await session(crew, "auto", { allRuns: true });
  expect((await shared.client.callTool({ name: "result", arguments: { run: id } })).structuredContent).toMatchObject({
    status: "ok",
    output: "mine",
  });
  await Promise.all([closed.client.close(), shared.client.close()]);
});

test.for(eras)("the delegation tools of another system can be chosen, over the %s protocol", async (era) => {
  const crew = crewOf({ writer: [call("write_file", { path: "a.txt", content: "x" }), "written down"] });
  const { client } = await session(crew, era, { ...forms, delegation: openDelegation(crew, { as: ["Task"] }) });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).slice(10)).toEqual(["Task", "TaskOutput"]);
  expect(tools.find(({ name }) => name === "Task")?.description).toContain("the agent writer");
  const asked: string[] = [];
  client.setRequestHandler("elicitation/create", ({ params }) => {
    asked.push(params.message);
    return { action: "accept", content: { approve: true } };
  });
  const told: string[] = [];
  const result = await client.callTool(
    { name: "Task", arguments: { subagent_type: "writer", description: "write", prompt: "Write." } },
    { onprogress: ({ message }) => told.push(message ?? "") },
  );
  expect(JSON.stringify(result.content)).toContain("written down");
  expect(asked).toEqual([expect.stringContaining("a.txt")]);
  expect(told).toContainEqual(expect.stringMatching(/writer.*: ok$/));
  const { structuredContent } = await client.callTool({ name: "status", arguments: {} });
  expect(structuredContent).toMatchObject({ runs: [{ status: "ok" }] });
  await client.close();
});

test("fifty concurrent runs each return their own result", async () => {
  const names = Array.from({ length: 50 }, (_, at) => `a${at}`);
  const crew = crewOf(Object.fromEntries(names.map((name) => [name, [`result of ${name}`]])));
  const { client } = await session(crew, "auto");
  const results = await Promise.all(
    names.map((agent) => client.callTool({ name: "run", arguments: { agent, task: "x" } })),
  );
  expect(results.map(({ structuredContent }) => (structuredContent as { output: string }).output)).toEqual(
    names.map((name) => `result of ${name}`),
  );
  expect(await crew.runs()).toHaveLength(50);
  await client.close();
});

test.for(eras)(
  "when the client disconnects, the server ends and its runs can be resumed, over the %s protocol",
  async (era) => {
    const home = tempFolder();
    const stuck = crewOf({}, { home, agents: [agentOn("worker")], models: { worker: never } });
    const { client, served, hangUp } = await session(stuck, era);
    const { structuredContent } = await client.callTool({
      name: "run",
      arguments: { agent: "worker", task: "x", wait: false },
    });
    hangUp();
    await served;
    const { run } = structuredContent as { run: string };
    const again = crewOf({ worker: ["finished after all"] }, { home });
    expect(await again.resume(run)).toMatchObject({ id: run, status: "ok", output: "finished after all" });
  },
);

test("the result of a run that fell back to the offline model has a warning; a run that chose it has none", async () => {
  const { client } = await session(crewOf({}), "auto");
  const found = await client.callTool({ name: "run", arguments: { agent: "explore", task: "Where?" } });
  expect(found.structuredContent).toMatchObject({ status: "ok", offline: true });
  expect(JSON.stringify(found.content)).toContain("No key of a model provider was found");
  const told = await client.callTool({
    name: "run",
    arguments: { agent: "explore", task: "Where?", model: "offline" },
  });
  expect(told.structuredContent).not.toHaveProperty("offline");
  await client.close();
});

test.for(eras)(
  "no tool returns more than 10,000 characters over the %s protocol, and the rest has a place",
  async (era) => {
    const long = Array.from({ length: 8_000 }, (_, at) => `line ${at} of the report`).join("\n");
    const crew = crewOf({ scout: Array.from({ length: 30 }, () => long) });
    const { client } = await session(crew, era);
    const size = ({ content, structuredContent = {} }: { content: unknown; structuredContent?: unknown }) =>
      Math.max((content as { text: string }[])[0]!.text.length, JSON.stringify(structuredContent).length);

    const one = await client.callTool({ name: "run", arguments: { agent: "scout", task: "x" } });
    expect(size(one)).toBeLessThanOrEqual(10_000);
    const { text } = (one.content as { text: string }[])[0]!;
    expect(text.startsWith("line 0 of the report\nline 1 of")).toBe(true);
    expect(text).toMatch(/of the report\n\n\.\.\. \[\d+ characters omitted\] \.\.\.\n\nline \d+ of the report\n/);
    const [, chars, file, uri] =
      /line 7999 of the report\n\n\[The whole result has (\d+) characters: (\S+), (\S+)\]$/.exec(text)!;
    expect(Number(chars)).toBe(long.length);
    expect(readFileSync(file!, "utf8").trimEnd()).toBe(long);
    const read = await client.readResource({ uri: uri! });
    expect((read.contents[0] as { text: string }).text).toBe(long);

    const tasks = Array.from({ length: 20 }, (_, at) => ({ agent: "scout", task: `${at}` }));
    const many = await client.callTool({ name: "parallel", arguments: { tasks } });
    expect(size(many)).toBeLessThanOrEqual(10_000);
    const { run, tasks: rows } = many.structuredContent as { run: string; tasks: { path: string; output: string }[] };
    expect(rows).toHaveLength(20);
    expect(rows[3]!.output).toContain(`subcrew://runs/${run}/tasks/${rows[3]!.path}`);
    for (const [name, args] of [
      ["status", {}],
      ["result", { run }],
      ["cancel", { run }],
    ] as const)
      expect(size(await client.callTool({ name, arguments: args })), name).toBeLessThanOrEqual(10_000);
    await client.close();
  },
);

test("an agent's own summaryChars bounds its result over MCP, and a JSON value that does not fit is left out", async () => {
  const rows = Array.from({ length: 2_000 }, (_, n) => ({ n }));
  const finish: Script = { calls: [{ name: "complete_task", input: { result: rows } }] };
  const crew = crewOf(
    { brief: ["word ".repeat(1_000)], wide: ["word ".repeat(4_000)], rows: [finish] },
    {
      agents: [
        { ...agentOn("brief"), summaryChars: 500 },
        { ...agentOn("wide"), summaryChars: 15_000 },
        agentOn("rows"),
      ],
    },
  );
  const { client } = await session(crew, "auto");
  const textOf = async (agent: string): Promise<string> => {
    const { content } = await client.callTool({ name: "run", arguments: { agent, task: "x" } });
    return (content as { text: string }[])[0]!.text;
  };
  expect((await textOf("brief")).length).toBeLessThanOrEqual(500);
  const wide = (await textOf("wide")).length;
  expect(wide).toBeGreaterThan(14_000);
  expect(wide).toBeLessThanOrEqual(15_000);
  const schema = { type: "array", items: { type: "object" } };
  const { structuredContent } = await client.callTool({ name: "run", arguments: { agent: "rows", task: "x", schema } });
  expect(structuredContent).not.toHaveProperty("data");
  expect(JSON.stringify(structuredContent).length).toBeLessThanOrEqual(10_000);
  await client.close();
});

test("a delegation tool of a client returns at most 10,000 characters, and names the whole results", async () => {
  const crew = crewOf({ scout: ["a long word ".repeat(2_000)] });
  const as = openDelegation(crew, { as: ["agents"] });
  const { client } = await session(crew, "auto", { delegation: as });
  const { content } = await client.callTool({ name: "scout", arguments: { query: "x" } });
  const { text } = (content as { text: string }[])[0]!;
  expect(text.length).toBeLessThanOrEqual(10_000);
  await client.close();
});
