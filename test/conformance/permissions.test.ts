import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { judge } from "../../src/core/policy/judge.ts";
import { createPolicy, type PolicyMode } from "../../src/core/policy/policy.ts";
import { classOf } from "../../src/core/vocabulary/tool-class.ts";
import { toolsNamed } from "../../src/core/vocabulary/tool-names.ts";
import { readBundledAgents } from "../../src/formats/bundled.ts";
import { type CrewOptions, createCrew, defineTool, type Event } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { builtinTools } from "../../src/tools/table.ts";
import { call, play } from "../support/play.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { cases, faults } from "./harness.ts";

const bundled = (name: string) => readBundledAgents().find(({ agent }) => agent.name === name)!.agent;

type Tried = Readonly<{ visible_to_model: boolean; executes: boolean; error_result?: string; exception?: boolean }>;

const sample: Readonly<Record<string, object>> = {
  sleep: { seconds: 0.001 },
  memory_patch: { key: "a", old: "x", new: "y" },
  memory_write: { key: "a", text: "x" },
  read_file: { path: "a.txt" },
  edit_file: { path: "a.txt", oldText: "a", newText: "b" },
  http_request: { url: "http://127.0.0.1:9/", method: "GET" },
  http_post: { url: "http://127.0.0.1:9/", body: "x" },
  write_file: { path: "b.txt", content: "x" },
  notify: { message: "x" },
  get_file_info: { path: "a.txt" },
  grep_files: { pattern: "a" },
  json_parse: { text: "{}" },
  json_stringify: { value: 1 },
  base64_decode: { data: "YQ==" },
  base64_encode: { text: "a" },
  memory_read: { key: "a" },
  memory_append: { key: "a", text: "x" },
  set_env: { name: "A", value: "b" },
  get_env: { name: "PATH" },
  list_files: { path: "." },
  delete_file: { path: "a.txt" },
  move_file: { from: "a.txt", to: "b.txt" },
  current_time: {},
  memory_list: {},
  task_list: {},
  task_replay: { id: "run_nothere00000" },
  http_get: { url: "http://127.0.0.1:9/" },
  web_search: { query: "x" },
};

test.each(cases<{ type: string; tool: string }, Tried>("001-pegasus", "tool-permission"))(
  "tool-permission: $name",
  async ({ input, want }) => {
    const model = scripted(call(input.tool, sample[input.tool] ?? {}), "done");
    const crew = createCrew({
      cwd: tempFolder({ "a.txt": "a" }),
      home: tempFolder(),
      env: { PATH: "/bin" },
      discover: false,
      models: { m: model },
      model: "m",
      config: { preset: "pegasus" },
      permissions: { mode: "bypass" },
      network: { allowHosts: ["127.0.0.1:9"] },
      unattended: true,
    });
    const run = crew.run({ mode: "single", agent: input.type, task: "Go.", model: "m" });
    const events: Event[] = [];
    for await (const event of run) events.push(event);
    expect(await run).toMatchObject({ status: "ok" });
    expect(model.requests[0]!.tools.some(({ name }) => name === input.tool)).toBe(want.visible_to_model);
    expect(events.some(({ type }) => type === "tool.started")).toBe(want.executes);
    expect(events.some((event) => event.type === "node.ended" && event.outcome.status !== "ok")).toBe(
      want.exception ?? false,
    );
    const denial = events.find((event) => event.type === "tool.denied");
    if (want.error_result === undefined) expect(denial).toBeUndefined();
    else expect(denial?.text).toContain(want.error_result);
  },
);

/** The decision about a call whose arguments match no rule. */
async function decide(mode: PolicyMode, name: string): Promise<"permit" | "reject" | "prompt"> {
  const tool = builtinTools().get(toolsNamed(name)[0]!)!;
  const subjects = tool.name === "bash" ? [{ kind: "command", command: "npm test" } as const] : [];
  const shell = { sandboxed: true, waived: false, roots: ["/ws"] };
  const { decision } = judge(createPolicy(mode), {
    tool: tool.name,
    does: classOf(tool),
    effect: tool.effect,
    subjects,
    shell,
  });
  return ({ allow: "permit", deny: "reject", ask: "prompt" } as const)[decision];
}

test.each(cases<{ mode: string; tool: string }, string>("002-mycode", "permission-check"))(
  "permission-check: $name",
  async ({ input, want }) => {
    expect(await decide(input.mode === "bypassPermissions" ? "bypass" : (input.mode as PolicyMode), input.tool)).toBe(
      want,
    );
  },
);

/** A call of each tool that the types of system 002 have for reading and for running commands. */
const ordinary: Readonly<Record<string, object>> = {
  read_file: { path: "a.txt" },
  glob: { pattern: "*.txt" },
  grep_files: { pattern: "a" },
  bash: { command: "npm test" },
};

/** Runs a bundled agent as a helper of an agent that may do everything, and collects the questions to the person. */
async function questionsOf(
  type: string,
  calls: readonly ReturnType<typeof call>[],
  permissions: CrewOptions["permissions"] = {},
): Promise<string[]> {
  const crew = createCrew({
    cwd: tempFolder({ "a.txt": "a" }),
    home: tempFolder(),
    env: { PATH: "/usr/bin:/bin" },
    discover: false,
    permissions,
    // The model of both agents: first the turns of the lead, then of the helper, and of the lead again.
    models: {
      m: scripted(call("Task", { description: "d", prompt: "go", subagent_type: type }), ...calls, "ok", "done"),
    },
    model: "m",
    agents: [{ name: "lead", description: "", instructions: "", tools: ["*", "Task"], delegation: ["Task"] }],
  });
  const run = crew.run({ mode: "single", agent: "lead", task: "Go." });
  const questions: string[] = [];
  for await (const event of run) {
    if (event.type !== "gate.opened") continue;
    questions.push(event.question);
    await run.answer(event.path, { approve: false }, event.call);
  }
  await run;
  return questions;
}

test.each(cases<{ type: string }, string>("002-mycode", "permission-mode"))(
  "permission-mode: $name",
  async ({ input, want }) => {
    const local = (bundled(input.type).tools ?? []).filter((tool) => tool in ordinary);
    expect(local.length).toBeGreaterThan(0);
    const questions = await questionsOf(
      input.type,
      local.map((tool) => call(tool, ordinary[tool]!)),
    );
    expect(questions.length === 0 ? "auto-approve (permissive)" : "ask for confirmation (isolated)").toBe(want);
  },
);

test("general-purpose asks where its parent's rules ask, but not where they allow", async () => {
  const run = call("bash", { command: "npm test" });
  expect(await questionsOf("general-purpose", [run])).toHaveLength(1);
  expect(await questionsOf("general-purpose", [run], { allow: ["bash(npm test)"] })).toEqual([]);
  expect(await questionsOf("Plan", [call("read_file", { path: "a.txt" })])).toEqual([]);
});

test("a type that reads without approval still asks before it fetches a page", async () => {
  const [question = ""] = await questionsOf("Explore", [call("web_fetch", { url: "https://example.com/" })]);
  expect(question).toContain("example.com");
});

test("TOOL-01: an agent that may only read files can do nothing else, also when it calls a tool that it is not shown", async () => {
  const others = [...builtinTools().keys()].filter((name) => name !== "read_file");
  const { denied, ended, outcome } = await play([{ calls: others.map((name) => ({ name, input: {} })) }], {
    agent: { tools: ["read_file"] },
    permissions: { mode: "bypass" },
  });
  expect([denied.length, ended.length, outcome?.status]).toEqual([others.length, 0, "ok"]);
});

test("TOOL-02: a star means every tool except delegation, and calls that change, run or send something are still judged", async () => {
  const { denied, events } = await play(
    [
      call("write_file", { path: "a", content: "a" }),
      call("bash", { command: "touch a" }),
      call("http_post", { url: "https://example.com/", body: "x" }),
      call("task", {}),
    ],
    { agent: { tools: ["*"] } },
  );
  expect(denied.map(({ tool, rule }) => [tool, rule])).toEqual([
    ["write_file", "mode default"],
    ["bash", "mode default"],
    ["http_post", "mode default"],
    ["task", expect.stringMatching(/no such tool|tools of worker/)],
  ]);
  expect(events.some(({ type }) => type === "tool.started")).toBe(false);
});

test("TOOL-04, TOOL-05: a tool name that is spelled differently, looks similar, or is a property of every object is unknown", async () => {
  const names = [
    "READ_FILE",
    "read_file ",
    " read_file",
    "rеad_file",
    "read_fil",
    "read_file2",
    "constructor",
    "toString",
    "__proto__",
    "hasOwnProperty",
  ];
  const { denied, outcome } = await play([{ calls: names.map((name) => ({ name, input: { path: "a" } })) }], {
    permissions: { mode: "bypass" },
  });
  expect(denied.map(({ rule }) => rule)).toEqual(names.map(() => "no such tool"));
  expect(outcome).toMatchObject({ status: "ok" });
});

test("TOOL-11: any result of a tool becomes text of a limited size", async () => {
  const odd = (name: string, result: unknown) =>
    defineTool({ name, description: name, input: z.object({}), effect: "read", run: () => result as string });
  const results: Readonly<Record<string, unknown>> = {
    number: 7,
    nothing: undefined,
    nothing2: null,
    list: [1, 2],
    object: { a: 1 },
    wrong: { text: 5 },
    huge: "x".repeat(5_000_000),
    binary: "\u0000\u0001\u0002",
  };
  const { ended, outcome } = await play(
    Object.keys(results).map((name) => call(name, {})),
    { tools: Object.entries(results).map(([name, result]) => odd(name, result)) },
  );
  expect(ended.map(({ text, error }) => [text.slice(0, 20), error])).toEqual([
    ["7", false],
    ["", false],
    ["null", false],
    ["[1,2]", false],
    ['{"a":1}', false],
    ['{"text":5}', false],
    [expect.stringContaining("["), false],
    ["\u0000\u0001\u0002", false],
  ]);
  expect(Math.max(...ended.map(({ text }) => text.length))).toBeLessThan(60_000);
  expect(outcome).toMatchObject({ status: "ok" });
});

test("SBX-09: no tool has an argument with which a model could leave the sandbox", async () => {
  for (const tool of builtinTools().values()) {
    const properties = Object.keys(
      (z.toJSONSchema(tool.input as z.ZodType) as { properties?: object }).properties ?? {},
    );
    expect([
      tool.name,
      properties.filter((name) => /sandbox|privilege|escalat|unsafe|dangerous|cwd|workdir|env/i.test(name)),
    ]).toEqual([tool.name, []]);
  }
});

/** The test of each fault, or the part of the product that will have it. */
const proven: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "tools-permissions": {
    "TOOL-01": "test/conformance/permissions.test.ts",
    "TOOL-02": "test/conformance/permissions.test.ts",
    "TOOL-03": "test/processes/tools/mcp/client.test.ts",
    "TOOL-04": "test/conformance/permissions.test.ts",
    "TOOL-05": "test/conformance/permissions.test.ts",
    "TOOL-06": "test/tools/tools.test.ts",
    "TOOL-07": "test/runtime/access/calls.test.ts",
    "TOOL-08": "test/runtime/access/calls.test.ts",
    "TOOL-09": "test/processes/tools/mcp/client.test.ts",
    "TOOL-10": "test/runtime/access/calls.test.ts",
    "TOOL-11": "test/conformance/permissions.test.ts",
    "TOOL-12": "test/tools/tools.test.ts",
    "TOOL-13": "test/processes/runtime/commands/shell.test.ts",
  },
  sandbox: {
    "SBX-01": "src/runtime/commands/probe-sandbox.test.ts",
    "SBX-02": "test/processes/runtime/commands/shell.test.ts",
    "SBX-03": "test/processes/runtime/commands/shell.test.ts",
    "SBX-04": "src/runtime/commands/probe-sandbox.test.ts",
    "SBX-05": "src/runtime/commands/sandbox.test.ts",
    "SBX-06": "src/runtime/commands/sandbox.test.ts",
    "SBX-07": "src/runtime/commands/sandbox.test.ts",
    "SBX-08": "src/runtime/commands/sandbox.test.ts",
    "SBX-09": "test/conformance/permissions.test.ts",
    "SBX-10": "src/runtime/commands/commands.test.ts",
    "SBX-11": "later: other systems than Linux with bubblewrap",
    "SBX-12": "test/runtime/access/calls.test.ts",
    "SBX-13": "test/processes/runtime/commands/shell.test.ts",
  },
  "process-hygiene": {
    "PROC-01": "src/runtime/commands/child.test.ts",
    "PROC-02": "src/runtime/commands/child.test.ts",
    "PROC-03": "src/runtime/commands/child.test.ts",
    "PROC-04": "src/runtime/commands/child.test.ts",
    "PROC-05": "test/processes/cli/terminal/signals.test.ts",
    "PROC-06": "test/processes/cli/terminal/signals.test.ts",
    "PROC-07": "test/processes/cli/terminal/signals.test.ts",
    "PROC-08": "src/runtime/commands/child.test.ts",
    "PROC-09": "test/processes/cli/mcp/command.test.ts",
    "PROC-10": "src/runtime/commands/child.test.ts",
    "PROC-11": "test/processes/runners/process.test.ts",
    "PROC-12": "later: daemon",
    "PROC-13": "later: full screen",
    "PROC-14": "later: containers",
  },
};

describe.each(Object.entries(proven))("%s", (area, where) => {
  test("every listed case has a test, and every test belongs to a listed case", () => {
    expect(Object.keys(where)).toEqual(
      faults(area)
        .map(({ id }) => id)
        .toSorted(),
    );
  });

  test.each(Object.entries(where).filter(([, place]) => !place.startsWith("later: ")))(
    "%s is tested in %s",
    (id, file) => {
      const path = new URL(`../../${file}`, import.meta.url);
      expect(existsSync(path)).toBe(true);
      expect(readFileSync(path, "utf8")).toContain(id);
    },
  );
});
