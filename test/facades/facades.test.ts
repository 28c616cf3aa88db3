import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Catalog } from "../../src/core/delegation/catalog.ts";
import { inputSchemaOf } from "../../src/core/task/tool-specs.ts";
import { facadeNames } from "../../src/core/vocabulary/delegation-names.ts";
import { bytesOf, DESCRIPTION_BYTES } from "../../src/facades/agent-lines.ts";
import { delegationTools } from "../../src/facades/table.ts";
import { createCrew, defineTool } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { deferred } from "../../src/runtime/async/deferred.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { call, calls, projectCrew, stage } from "../support/stage.ts";

const as = (spelling: string) => ({ tools: ["*", spelling], delegation: [spelling] });

test("spawn_subagent starts a task at once, and its result arrives as a message", async () => {
  const waits = deferred<string>();
  const { result, read, models, events } = await stage({
    lead: {
      ...as("spawn_subagent"),
      says: [
        call("spawn_subagent", { type: "explore", description: "Find X", input: "Where is X?" }),
        () => (waits.resolve("X is in x.ts"), "waiting for it"),
        (request) => (JSON.stringify(request.messages.at(-1)).includes("X is in x.ts") ? "X is there" : "nothing came"),
      ],
    },
    explore: {
      tools: ["read_file"],
      says: [call("write_file", { path: "x", content: "" }), () => waits.promise],
    },
  });
  expect(result).toMatchObject({ status: "ok", output: "X is there" });
  expect(JSON.parse(read("lead")[0]!)).toMatchObject({ status: "spawned", type: "explore", description: "Find X" });
  expect(models["lead"]!.requests).toHaveLength(3);
  // From the start of an agent to its first call: who asked, what started, under which name, with which tools, and the
  // check before the call.
  const trail = events.flatMap((event) =>
    event.type === "tool.started" && event.tool === "spawn_subagent"
      ? [`spawn ${event.preview}`]
      : event.type === "node.started" && event.path !== "lead"
        ? [`start ${event.path} as ${event.agent}: ${event.prompt}`]
        : event.type === "agent.resolved" && event.path !== "lead"
          ? [`resolve ${event.agent} with ${event.rights?.join()}`]
          : event.type === "tool.denied"
            ? [`deny ${event.tool} of ${event.path}`]
            : [],
  );
  expect(trail).toEqual([
    "spawn explore: Find X",
    "start lead/explore as explore: Where is X?",
    "resolve explore with read_file",
    "deny write_file of lead/explore",
  ]);
});

test.each([
  ["spawn_subagent", { type: "scout", description: "Find X", input: "Where is X?" }],
  ["Task", { subagent_type: "scout", description: "Find X", prompt: "Where is X?", run_in_background: true }],
])("a background start by %s is recorded as data, with the task", async (tool, input) => {
  const { events, result } = await stage({
    lead: { ...as(tool), says: [call(tool, input), "go on", "done"] },
    scout: { says: ["X is in x.ts"] },
  });
  const ended = events.find((event) => event.type === "tool.ended" && event.tool === tool);
  expect(ended).toMatchObject({ details: { background: `${result.id}/lead/scout` } });
});

test("the end of a failed background helper brings its id, why it failed and what it had", async () => {
  const { result, models } = await stage({
    lead: {
      ...as("spawn_subagent"),
      says: [call("spawn_subagent", { type: "scout", description: "d", input: "i" }), "waiting", "done"],
    },
    scout: {
      says: [
        { text: "half of it", calls: [{ name: "current_time", input: {} }] },
        { error: { code: "MODEL_AUTH", message: "no key", retryable: false } },
      ],
    },
  });
  expect(result).toMatchObject({ status: "ok", output: "done" });
  const news = models["lead"]!.requests.at(-1)!.messages.at(-1);
  expect(news).toMatchObject({
    role: "user",
    text: expect.stringMatching(/run_\w+\/lead\/scout: failed\n\n[^]*no key[^]*\n\nhalf of it$/),
  });
});

test("spawn_subagent uses the agent `general` when no type is given", async () => {
  const { models } = await stage({
    lead: {
      ...as("spawn_subagent"),
      says: [call("spawn_subagent", { description: "d", input: "do it" }), "w", "done"],
    },
    general: { says: ["did it"] },
  });
  expect(models["general"]!.requests).toHaveLength(1);
});

test("parallel reports its state in the details of its result", async () => {
  const { read, events } = await stage({
    lead: {
      ...as("parallel"),
      says: [
        call("parallel", {
          tasks: [
            { agent: "scout", task: "a", name: "A" },
            { agent: "sage", task: "b: {task:A}", name: "B" },
          ],
          gitContext: false,
        }),
        "done",
      ],
    },
    scout: { says: ["from a"] },
    sage: { says: [(request) => `sage read ${(request.messages[0] as { text: string }).text}`] },
  });
  expect(read("lead")[0]).toMatch(
    /^## Parallel: 2\/2 succeeded\n\n### ✓ A \(1 turn\)\n\nfrom a\n\n---\n\n### ✓ B \(1 turn\)\n\nsage read b: from a$/,
  );
  const ended = events.find((event) => event.type === "tool.ended" && event.tool === "parallel");
  expect(ended).toMatchObject({
    details: {
      mode: "parallel",
      results: [
        { id: "0-A", exitCode: 0, output: "from a" },
        { id: "1-B", exitCode: 0 },
      ],
      usage: { turns: 2 },
    },
  });
});

test("details of a call that cannot be recorded are left out, and the run continues", async () => {
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  const odd = defineTool({
    name: "odd",
    description: "odd",
    input: z.object({ long: z.boolean() }),
    effect: "read",
    run: ({ long }) => ({ text: "fine", details: long ? "x".repeat(300_000) : circle }),
  });
  const { events, result } = await stage(
    { lead: { tools: ["odd"], says: [calls(["odd", { long: true }], ["odd", { long: false }]), "done"] } },
    { tools: [odd] },
  );
  expect(result.status).toBe("ok");
  const ended = events.filter(({ type }) => type === "tool.ended");
  expect(ended.map((event) => "details" in event)).toEqual([false, false]);
});

test("parallel also runs a chain, a race and a team", async () => {
  const { read } = await stage({
    lead: {
      ...as("parallel"),
      says: [
        call("parallel", {
          chain: [
            { agent: "scout", task: "one" },
            { agent: "scout", task: "two after {previous}" },
          ],
        }),
        call("parallel", { race: { task: "who", agents: ["scout", "stuck"] } }),
        call("parallel", {
          team: {
            objective: "win",
            members: [{ role: "dev", agent: "scout" }],
            tasks: [{ id: "t", task: "do", assignee: "dev" }],
          },
          gitContext: false,
        }),
        "done",
      ],
    },
    scout: {
      says: [
        "first",
        (request) => `second of ${JSON.stringify(request.messages).includes("two after first")}`,
        "me",
        "teamed",
      ],
    },
    stuck: { says: [{ text: "late", delayMs: 600_000 }] },
  });
  expect(read("lead")).toEqual([
    "second of true",
    "me",
    expect.stringMatching(/^## Team: 1\/1 tasks succeeded\n\n\*\*Objective:\*\* win\n\n### ✓ \[dev\] dev:t/),
  ]);
});

test("parallel reports a task that was skipped because of a failed one", async () => {
  const { read, events } = await stage({
    lead: {
      ...as("parallel"),
      says: [
        call("parallel", {
          tasks: [
            { agent: "scout", task: "one", name: "first" },
            { agent: "scout", task: "two after {task:first}", name: "second" },
            { agent: "sage", task: "three", name: "third" },
          ],
          gitContext: false,
        }),
        "done",
      ],
    },
    scout: { says: [{ error: { code: "MODEL_AUTH", message: "no key", retryable: false } }] },
    sage: { says: ["third result"] },
  });
  expect(read("lead")[0]).toMatch(/^## Parallel: 1\/3 succeeded/);
  expect(read("lead")[0]).toMatch(/### ✗ second\n\nskipped because \S+ did not succeed/);
  const ended = events.find((event) => event.type === "tool.ended" && event.tool === "parallel");
  expect(ended).toMatchObject({
    details: {
      results: [{ exitCode: 1 }, { exitCode: 1, error: /skipped/ }, { exitCode: 0 }].map(({ error, ...one }) =>
        error ? { ...one, error: expect.stringMatching(error) } : one,
      ),
    },
  });
});

test("parallel says which tools each agent used, and how often", async () => {
  const use = (...names: string[]) => calls(...names.map((name): [string, object] => [name, {}]));
  const { read } = await stage({
    lead: {
      ...as("parallel"),
      says: [
        call("parallel", { tasks: ["a", "b"].map((agent) => ({ agent, task: "x", name: agent })), gitContext: false }),
        "done",
      ],
    },
    a: { tools: ["*"], says: [use("list_files", "current_time", "list_files"), "A"] },
    b: { tools: ["*"], says: [use("current_time"), use("current_time"), use("current_time"), "B"] },
  });
  const parts = read("lead")[0]!
    .split("\n")
    .filter((line) => /^(?:### |\*\*Tools used)/.test(line));
  expect(parts).toEqual([
    expect.stringMatching(/^### ✓ a/),
    "**Tools used:** list_files×2, current_time",
    expect.stringMatching(/^### ✓ b/),
    "**Tools used:** current_time×3",
  ]);
});

test("parallel ignores empty modes, and names tasks as pi-parallel-agents does", async () => {
  const none = "Invalid parameters. Provide exactly one mode: task (single), tasks (parallel), chain, race, or team.";
  const { read } = await stage({
    lead: {
      ...as("parallel"),
      says: [
        call("parallel", { tasks: [], chain: [], task: " " }),
        call("parallel", { task: null, race: null, team: null }),
        call("parallel", { task: "x", agent: "scout", tasks: [], chain: null, race: null, model: null }),
        call("parallel", { team: { objective: "o", members: [{ role: "dev" }], tasks: [] } }),
        call("parallel", {
          tasks: [{ task: "a", agent: "scout" }, { task: "b", agent: "scout" }, { task: "c" }],
          gitContext: false,
        }),
        call("parallel", { task: "x", nonsense: 1 }),
        "done",
      ],
    },
    scout: { says: ["single", "  first\n", "second"] },
    general: { says: ["third"] },
  });
  const [empty, nulls, single, idle, named, unknown] = read("lead");
  expect([empty, nulls]).toEqual([expect.stringContaining(none), expect.stringContaining(none)]);
  expect(single).toBe("single");
  expect(idle).toBe("Team mode requires either a `tasks` array or each member must have a `task` field.");
  expect(named!.replaceAll(" (1 turn)", "")).toBe(
    "## Parallel: 3/3 succeeded\n\n### ✓ scout\n\nfirst\n\n---\n\n### ✓ scout\n\nsecond\n\n---\n\n### ✓ 2-task_2\n\nthird",
  );
  expect(unknown).toBe('Invalid parameters. Unrecognized key: "nonsense"');
});

test("parallel starts only agents that its caller may start, also for tasks without an agent", async () => {
  const { read } = await stage({
    lead: {
      ...as("parallel"),
      spawns: ["scout"],
      says: [call("parallel", { task: "x" }), call("parallel", { task: "x", agent: "sage" }), "done"],
    },
    scout: { says: [] },
    sage: { says: [] },
  });
  expect(read("lead")).toEqual(["Cannot spawn 'general'. Allowed: scout", "Cannot spawn 'sage'. Allowed: scout"]);
});

test("parallel checks its parameters by a schema, and starts nothing if one parameter is wrong", async () => {
  const wrong = [
    { task: 5 },
    { tasks: "first" },
    { tasks: [{ name: "a" }] },
    { chain: "first" },
    { race: { agents: ["scout"] } },
    { team: { tasks: [{ id: "a" }] } },
    { task: "x", thinking: "very" },
    { task: "x", retry: { maxAttempts: 0, backoffMs: 1 } },
    { task: "x", agentScope: "mine" },
    { task: "x", tsak: "y" },
  ];
  const { read, events } = await stage({
    lead: { ...as("parallel"), says: [...wrong.map((input) => call("parallel", input)), "done"] },
    scout: { says: [] },
  });
  const fields = read("lead").map(
    (text) => /^Invalid parameters\. (?:Unrecognized key: ")?([\w.]+)[":]/.exec(text)?.[1],
  );
  expect(fields).toEqual([
    "task",
    "tasks",
    "tasks.0.task",
    "chain",
    "race.task",
    "team.tasks.0.task",
    "thinking",
    "retry.maxAttempts",
    "agentScope",
    "tsak",
  ]);
  expect(events.filter(({ type }) => type === "node.started")).toHaveLength(1);
});

test.each([
  ["task", { agent: "scout", tasks: [{ id: "A", assignment: "go" }] }],
  ["Task", { subagent_type: "scout", description: "look", prompt: "go" }],
  ["spawn_subagent", { type: "scout", description: "look", input: "go" }],
  ["delegate_to_agent", { agent_name: "scout", query: "go" }],
  ["invoke_agent", { agent_name: "scout", prompt: "go" }],
])("%s starts nothing if a parameter is unknown, missing or of another type", async (tool, right) => {
  const keys = Object.keys(right) as (keyof typeof right)[];
  const wrong = [
    { ...right, tyop: "x" },
    ...keys.flatMap((key) => [
      { ...right, [key]: 5 },
      { ...right, [key]: "" },
    ]),
    Object.fromEntries(Object.entries(right).slice(0, -1)),
  ];
  const { read, events } = await stage({
    lead: { ...as(tool), says: [...wrong.map((input) => call(tool, input)), "done"] },
    scout: { says: [] },
  });
  expect(read("lead")).toHaveLength(wrong.length);
  expect(read("lead")[0]).toContain("tyop");
  expect(events.filter(({ type }) => type === "node.started")).toHaveLength(1);
});

test("delegate_to_agent checks inputs, fills them in, and reports how the agent ended", async () => {
  const inputs = {
    target: { type: "string", description: "what", required: true },
    depth: { type: "number", description: "how deep" },
  };
  const { read, models } = await stage({
    lead: {
      ...as("delegate_to_agent"),
      says: [
        calls(
          ["delegate_to_agent", { agent_name: "analyst", depth: 2 }],
          ["delegate_to_agent", { agent_name: "analyst", target: "auth", depth: 2 }],
        ),
        "done",
      ],
    },
    analyst: { inputs, instructions: "Analyse ${target}.", says: ["it is fine"] },
  });
  expect(read("lead")[0]).toBe(
    "target: Required. Expected inputs: 'target' (required string), 'depth' (optional number).",
  );
  expect(read("lead")[1]).toBe("Subagent 'analyst' finished.\nTermination Reason: GOAL\nResult:\nit is fine");
  expect(models["analyst"]!.requests[0]!.system).toContain("Analyse auth.");
});

test("parallel answers a call for an unknown agent with ten existing agents, and the number of the other agents", async () => {
  const others = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`agent${at}`, { says: [] }]));
  const { read } = await stage({
    lead: { ...as("parallel"), says: [call("parallel", { agent: "ghost", task: "x" }), "done"] },
    ...others,
  });
  expect(read("lead")[0]).toMatch(/^Unknown agent: ghost\n[^]*; \.\.\. \+\d+ more$/);
  expect(read("lead")[0]!.match(/ \((?:user|bundled)\): /g)).toHaveLength(10);
});

test("invoke_agent passes its prompt to the only input of an agent", async () => {
  const inputs = { objective: { type: "string", description: "what", required: true } };
  const { models } = await stage({
    lead: { ...as("invoke_agent"), says: [call("invoke_agent", { agent_name: "analyst", prompt: "auth" }), "done"] },
    analyst: { inputs, instructions: "Analyse ${objective}.", says: ["fine"] },
  });
  expect(models["analyst"]!.requests[0]!.system).toContain("Analyse auth.");
});

test("an agent file that lists the tool `Agent` gets the delegation tool of that name, and no other", async () => {
  const cwd = tempFolder();
  mkdirSync(join(cwd, ".claude/agents"), { recursive: true });
  writeFileSync(
    join(cwd, ".claude/agents/lead.md"),
    "---\nname: lead\ndescription: leads\ntools: Read, Agent(helper)\n---\nLead.",
  );
  writeFileSync(
    join(cwd, ".claude/agents/helper.md"),
    "---\nname: helper\ndescription: helps\ntools: Read\n---\nHelp.",
  );
  const model = scripted(call("Agent", { description: "d", prompt: "go", subagent_type: "helper" }), "helped", "done");
  const crew = projectCrew(cwd, {
    models: { m: model },
  });
  const { status } = await crew.run({ mode: "single", agent: "lead", task: "Lead." });
  expect(status).toBe("ok");
  expect(model.requests[0]!.tools.map(({ name }) => name).toSorted()).toEqual(["Agent", "TaskOutput", "read_file"]);
  expect(model.requests[0]!.tools.find(({ name }) => name === "Agent")!.description).toContain(
    "- helper: helps [read-only]",
  );
});

test("tool descriptions state the purpose of an agent, whether it is read-only, and when not to delegate", async () => {
  const crew = createCrew({ cwd: tempFolder(), home: false, env: { PATH: "/bin" }, discover: false });
  const [own, subagent, spawn] = await crew
    .delegationTools(["task", "Task", "spawn_subagent"])
    .then((tools) => tools.filter(({ name }) => name !== "TaskOutput"));
  for (const tool of [own!, subagent!, spawn!]) {
    expect(tool.description).toMatch(/explore.*Finds things out.*\[read-only\]/);
    expect(tool.description).toMatch(/what\s+a\s+single\s+tool\s+call\s+can\s+do/);
  }
  expect(own!.description).toMatch(/fixed structure keeps it: do not ask for another format/);
  expect(subagent!.description).not.toContain("Explore to search"); // an agent of another system
  expect(subagent!.description).toMatch(/run in parallel[^]*Include everything the agent has to know/);
  const inputs = JSON.stringify(inputSchemaOf(subagent!));
  for (const text of ["3 to 5 words", "haiku for simple tasks, sonnet for most"]) expect(inputs).toContain(text);
  expect(spawn!.description).toContain('spawn_subagent(type: "plan"):');
});

describe("the text about agents for a model stays within its limit", () => {
  const many = (count: number): Catalog => ({
    disabled: [],
    agents: Array.from({ length: count }, (_, at) => ({
      name: `agent-${at}`,
      description: "Does many things. ".repeat(30),
      readOnly: at % 2 === 0,
    })),
  });
  const caller = { agent: "lead", spawns: "*" as const, depth: 0, maxDepth: 2 };

  test.each(facadeNames.filter((name) => name !== "agents"))("%s", (name) => {
    for (const count of [1, 20, 100, 1_000]) {
      const [tool] = delegationTools([name], { ...caller, catalog: many(count) }, { clock: () => 0 });
      expect(bytesOf(tool!.description)).toBeLessThanOrEqual(DESCRIPTION_BYTES);
      if (count <= 100) expect(tool!.description).toContain("agent-0");
      if (count === 20) expect(tool!.description).toContain("[read-only]");
      expect(bytesOf(JSON.stringify(inputSchemaOf(tool!)))).toBeLessThanOrEqual(count <= 20 ? 6_000 : 20_000);
    }
  });
});
