import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Agent } from "../../src/core/agent/agent.ts";
import type { ModelRequest } from "../../src/core/model/model.ts";
import type { AgentCard, Catalog } from "../../src/core/delegation/catalog.ts";
import {
  allowedText,
  atMaxDepth,
  type Caller,
  delegationToolsOf,
  spawnRefusal,
} from "../../src/core/delegation/spawn.ts";
import type { Spawns } from "../../src/core/vocabulary/spawn-list.ts";
import { createBoxes } from "../../src/tui/boxes.ts";
import type { KeptEvent } from "../../src/core/run/event.ts";
import { emptyState, reduce } from "../../src/core/run/state.ts";
import { createLook } from "../../src/core/view/look.ts";
import type { Plan, TaskNode } from "../../src/core/plan/plan.ts";
import type { DelegationOutcome } from "../../src/core/task/engine.ts";
import type { Tool, ToolResult } from "../../src/core/task/tool.ts";
import { parseArguments } from "../../src/core/task/parse-arguments.ts";
import { INLINE_CHARS, MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES } from "../../src/core/text/cut.ts";
import { defined } from "../../src/core/text/defined.ts";
import { DEFAULT_MAX_DEPTH } from "../../src/core/vocabulary/limits.ts";
import { toolsNamed } from "../../src/core/vocabulary/tool-names.ts";
import { prompts } from "../../src/embedded.ts";
import { reservedInputOf } from "../../src/facades/agent-inputs.ts";
import { unionDescription, unionSchema } from "../../src/facades/delegate-to-agent.ts";
import { readBundledAgents } from "../../src/formats/bundled.ts";
import { ompDialect } from "../../src/formats/dialects/omp.ts";
import { invocationResult, invocationText } from "../../src/facades/invocation.ts";
import { TASK_MODELS } from "../../src/facades/subagent-task.ts";
import { delegationTools } from "../../src/facades/table.ts";
import { batchPrompt, idProblem, refusalText, TASK_ID_CHARS } from "../../src/facades/task.ts";
import type { ParallelToolDetails } from "../../src/facades/parallel/task-result.ts";
import type { TaskRecord } from "../../src/facades/task-records.ts";
import { backgroundStarted, taskListText, taskText } from "../../src/facades/task-texts.ts";
import { createCrew, defineAgent } from "../../src/index.ts";
import { type ScriptedTurn, scripted } from "../../src/models/scripted/scripted.ts";
import { call, projectCrew, stage } from "../support/stage.ts";
import { callTool, emptyContext } from "../support/call-tool.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { type Case, type CaseFile, cases } from "./harness.ts";

/** One test per case of an area. */
function area<Input, Want>(
  file: CaseFile,
  name: string,
  check: (one: Case<Input, Want>) => void | Promise<void>,
): void {
  describe(`${file} ${name}`, () => {
    test.each(cases<Input, Want>(file, name))("$name", check);
  });
}

const card = (name: string, more: Partial<AgentCard> = {}): AgentCard => ({
  name,
  description: `${name} d`,
  readOnly: false,
  ...more,
});
const catalogOf = (agents: readonly AgentCard[], disabled: readonly string[] = []): Catalog => ({ agents, disabled });
const callerOf = (more: Partial<Caller> = {}): Caller => ({
  agent: "lead",
  spawns: "*",
  depth: 0,
  maxDepth: 2,
  catalog: catalogOf([]),
  ...more,
});
const toolOf = (spelling: string, caller: Caller, at = 0): Tool =>
  delegationTools([spelling], caller, { clock: () => 0 })[at]!;

describe("000-omp selection", () => {
  type Want = string | string[] | { callable: boolean; in_description: boolean };
  const all = cases<{ agent?: string; available?: string[]; disabledAgents?: string[]; others?: string[] }, Want>(
    "000-omp",
    "selection",
  );
  const named = (name: string) => all.find((one) => one.name === name)!;

  test.each(all.filter(({ want }) => typeof want === "string"))("$name", ({ input, want }) => {
    const { agent = "", available, others = [], disabledAgents } = input;
    const now = catalogOf(
      (available ?? others).map((name) => card(name)),
      disabledAgents,
    );
    expect(refusalText(agent, spawnRefusal(agent, callerOf(), now)!, callerOf(), now.agents)).toBe(want);
  });

  test("rediscovery at call time", async () => {
    const { want } = named("rediscovery at call time");
    const cwd = tempFolder();
    mkdirSync(join(cwd, ".omp/agents"), { recursive: true });
    const write = (): void =>
      writeFileSync(
        join(cwd, ".omp/agents/late.md"),
        "---\nname: late\ndescription: came later\nmodel: late\n---\nWork.",
      );
    const models = {
      lead: scripted(
        () => (
          write(), { calls: [{ name: "task", input: { agent: "late", tasks: [{ id: "A", assignment: "go" }] } }] }
        ),
        "done",
      ),
      late: scripted("here I am"),
    };
    const lead = defineAgent({
      name: "lead",
      description: "leads",
      instructions: "",
      model: "lead",
      tools: ["*", "task"],
    });
    const crew = projectCrew(cwd, {
      agents: [lead],
      models,
    });
    await crew.run({ mode: "single", agent: "lead", task: "Lead." });
    const offered = models.lead.requests[0]!.tools.find(({ name }) => name === "task")!.description;
    const answer = JSON.stringify(models.lead.requests[1]!.messages.at(-1));
    expect({ callable: answer.includes("here I am"), in_description: offered.includes("late") }, answer).toEqual(want);
    expect(answer).toContain("New agents that you can start now: late.");
  });

  test("check order", async () => {
    const now = catalogOf([card("a"), card("b")], ["off"]);
    const one = { id: "x", assignment: "go" };
    // Each call has the fault of its row and those of the rows after it.
    const deepest = { catalog: now, depth: 2 };
    const wrong = callerOf({ ...deepest, spawns: ["a"], blocked: "b" });
    const attempts: (readonly [Caller, object])[] = [
      [wrong, { agent: "ghost", tasks: [] }],
      [wrong, { agent: "off", tasks: [] }],
      [wrong, { agent: "b", tasks: [] }],
      [wrong, { agent: "b", tasks: [one, one] }],
      [wrong, { agent: "b", tasks: [one] }],
      [callerOf({ ...deepest, spawns: ["a"] }), { agent: "b", tasks: [one] }],
      [callerOf(deepest), { agent: "b", tasks: [one] }],
    ];
    const refused: string[] = [];
    for (const [caller, input] of attempts) {
      const text = await callTool(toolOf("task", caller), ".", input);
      refused.push(checks.find(([, words]) => words.test(text))?.[0] ?? text);
    }
    expect(refused).toEqual(named("check order").want);
  });
});

/** The checks of a call, and how the refusal of each begins. */
const checks: readonly (readonly [string, RegExp])[] = [
  ["unknown agent", /^Unknown agent/],
  ["(disabled agent, later upstream)", /^Agent "off" is disabled/],
  ["empty tasks", /^No tasks/],
  ["bad/duplicate ids", /^Invalid tasks/],
  ["blocked self-recursion", /^Cannot spawn b agent from within itself \(recursion prevention\)/],
  ["spawn policy", /^Cannot spawn 'b'\. Allowed: a$/],
  ["depth", /depth of 2/],
];

/** The agent of a file of this system. */
const ompAgent = (frontmatter: object): Agent =>
  ompDialect.read(`---\n${JSON.stringify({ name: "a", description: "d", ...frontmatter })}\n---\nBody`, {
    file: "/x/a.md",
    relative: "a.md",
  }).agents[0]!.agent;

/** The policy that an agent file of this system states. */
const spawnsOf = (spawns: unknown): Spawns => ompAgent({ spawns }).spawns ?? [];

type Resolved = { enabled: boolean; defaultAgent: string; allowedAgents: string[] | null; allowedErrorText: string };
area<{ parent_spawns: unknown; agent?: string }, Resolved | { allowed: boolean; error?: string }>(
  "000-omp",
  "spawn-policy",
  async ({ input, want }) => {
    const spawns = spawnsOf(input.parent_spawns);
    if (input.agent === undefined) {
      const allowedAgents = spawns === "*" ? null : spawns;
      const { agent: defaultAgent, enabled } = await startedByDefault(spawns);
      return expect({ enabled, defaultAgent, allowedAgents, allowedErrorText: allowedText(spawns) }).toEqual(want);
    }
    const caller = callerOf({ spawns });
    const why = spawnRefusal(input.agent, caller, catalogOf([card(input.agent)]));
    const got =
      why === undefined ? { allowed: true } : { allowed: false, error: refusalText(input.agent, why, caller, []) };
    return expect(got).toEqual(want);
  },
);

/** The agent of a call that names no agent, and whether it may be started. */
async function startedByDefault(spawns: Spawns): Promise<{ agent: string | undefined; enabled: boolean }> {
  const plans: Plan[] = [];
  const catalog = catalogOf(["task", "scout", "reviewer"].map((name) => card(name)));
  const tool = toolOf("task", callerOf({ spawns, catalog }));
  const input = parseArguments(tool, { tasks: [{ id: "A", assignment: "go" }] });
  const text = await callTool(tool, ".", "value" in input ? input.value : {}, {
    delegate: async (plan) => {
      plans.push(plan as Plan);
      return { status: "ok", output: "done" };
    },
  });
  const [node] = Object.values(plans[0]?.nodes ?? {}) as TaskNode[];
  return { agent: node?.task.agent ?? /^Cannot spawn '(.*)'/.exec(text)?.[1], enabled: node !== undefined };
}

type Gate = { maxRecursionDepth: number; taskDepth: number; agent_tools: string[] | null; agent_spawns: string | null };
type Gated = {
  at_max: boolean;
  child_depth: number;
  child_tools: string[] | null;
  task_tool_visible: boolean;
  child_spawns: string;
};
area<Partial<Gate>, Gated | number>("000-omp", "depth-gate", async ({ input, want }) => {
  if (typeof want === "number") return expect(DEFAULT_MAX_DEPTH).toBe(want);
  const { maxRecursionDepth, taskDepth, agent_tools, agent_spawns } = input as Gate;
  const agent = ompAgent({
    name: "child",
    ...defined({ tools: agent_tools ?? undefined, spawns: agent_spawns ?? undefined }),
  });
  const depth = taskDepth + 1;
  const deepest = atMaxDepth({ depth, maxDepth: maxRecursionDepth });
  expect(deepest).toBe(want.at_max);
  // A run of that depth shows what the model of the child gets to see.
  const { shown, path } = await chainOf(agent, depth, maxRecursionDepth);
  // With a maximum of 0 no child is started, so the depth of the child is not observed.
  expect(maxRecursionDepth === 0 ? depth : path.split("/").length - 1).toBe(want.child_depth);
  expect(shown.includes("task")).toBe(want.task_tool_visible);
  const policy = deepest || delegationToolsOf(agent).length === 0 ? [] : (agent.spawns ?? []);
  expect(typeof policy === "string" ? policy : policy.join(",")).toBe(want.child_spawns);
  if (want.child_tools)
    expect(shown.filter((name) => ["read_file", "task"].includes(name)).toSorted()).toEqual(
      want.child_tools.flatMap(canonical).toSorted(),
    );
});

/** The canonical names of a tool; an unknown name stays as it is. */
function canonical(tool: string): readonly string[] {
  const names = toolsNamed(tool);
  return names.length > 0 ? names : [tool];
}

/**
 * The tools that a child at some depth is shown. With max 0 the first level is used, because no other child can be
 * started.
 */
async function chainOf(child: Agent, depth: number, maxDepth: number): Promise<{ shown: string[]; path: string }> {
  const above = maxDepth >= 0 ? Math.min(depth, maxDepth) : depth;
  const levels = Array.from({ length: above }, (_, at) => `level${at}`);
  const names = [...levels, "child"];
  const models = Object.fromEntries(
    names.map((name, at) => {
      const next = names[at + 1];
      return [
        name,
        next === undefined
          ? scripted("bottom")
          : scripted(call("task", { agent: next, tasks: [{ id: "x", assignment: "go" }] }), "up"),
      ];
    }),
  );
  const agents = [
    ...levels.map((name) =>
      defineAgent({ name, description: "", instructions: "", tools: ["*", "task"], model: name }),
    ),
    defineAgent({ ...child, model: "child" }),
  ];
  const crew = createCrew({ cwd: tempFolder(), home: false, env: { PATH: "/bin" }, discover: false, agents, models });
  const run = crew.run({ mode: "single", agent: names[0]!, task: "Go." }, { maxDepth });
  let path = "";
  for await (const event of run) if (event.type === "node.started") path = event.path;
  await run;
  return { shown: models["child"]!.requests[0]!.tools.map(({ name }) => name), path };
}

area<
  { plan_mode: boolean; agent: { tools: string[]; spawns: string; systemPrompt: string } },
  { tools: string[]; spawns: string; prompt_prefix: string }
>("000-omp", "plan-mode", async ({ input, want }) => {
  const { tools, systemPrompt } = input.agent;
  const agent: Agent = {
    name: "worker",
    description: "",
    instructions: systemPrompt,
    tools: [...tools.flatMap((name) => toolsNamed(name)), "task"],
    spawns: "*",
  };
  const { models, shown } = await stage(
    {
      lead: {
        tools: ["*", "task"],
        says: [call("task", { agent: "worker", tasks: [{ id: "A", assignment: "go" }] }), "done"],
      },
      worker: { ...agent, says: ["planned"] },
    },
    input.plan_mode ? { permissions: { mode: "plan" } } : {},
  );
  const { system } = models["worker"]!.requests[0]!;
  expect({
    tools: shown("worker").filter((name) => name !== "task"),
    spawns: shown("worker").includes("task") ? "*" : "",
    prompt_prefix: system.includes(`${prompts.planMode.trim()}\n\n${systemPrompt}`)
      ? "plan-mode text + blank line + SP"
      : system,
  }).toEqual(want);
});

area<{ ids: string[] }, string | null>("000-omp", "batch-ids", ({ input, want }) => {
  expect(idProblem(input.ids) ?? null).toBe(want);
});

area<{ context: string; assignment: string }, string | { contains_in_order: string[] }>(
  "000-omp",
  "batch-prompt",
  ({ input, want }) => {
    const prompt = batchPrompt(input.context, input.assignment);
    if (typeof want === "string") return expect(prompt).toBe(want);
    expect(want.contains_in_order.map((part) => prompt.indexOf(part))).toEqual([0, expect.any(Number)]);
    expect(prompt.indexOf(want.contains_in_order[1]!)).toBeGreaterThan(0);
  },
);

describe("000-omp output-ids", () => {
  type Ids = { batch: string[]; then: string; child: string } | { ids: string[]; child: string };
  test.each(cases<object, Ids>("000-omp", "output-ids"))("$name", async ({ want }) => {
    const ask = (...ids: string[]) =>
      call("task", { agent: "worker", tasks: ids.map((id) => ({ id, assignment: `go ${id}` })) });
    const nested = "batch" in want;
    const { events } = await stage({
      lead: {
        tools: ["*", "task"],
        says: nested
          ? [ask("Auth", "Api"), ask("Auth"), "done"]
          : [ask("Anna"), ask("Anna"), ask("Anna", "Bob"), "done"],
      },
      worker: {
        tools: ["*", "task"],
        says: Array.from({ length: 9 }, () => (request: { messages: readonly unknown[] }) => {
          const text = JSON.stringify(request.messages);
          return request.messages.length === 1 && /go (Auth|Anna)/.test(text) && !text.includes("Sub")
            ? {
                calls: [
                  { name: "task", input: { agent: "leaf", tasks: [{ id: nested ? "Sub" : "Bob", assignment: "go" }] } },
                ],
              }
            : "ok";
        }),
      },
      leaf: { says: Array.from({ length: 9 }, () => "leaf") },
    });
    const paths = events.filter(({ type }) => type === "node.started").map(({ path }) => path);
    const wanted = "batch" in want ? [...want.batch, want.then, want.child] : [...want.ids, want.child];
    expect(paths).toEqual(expect.arrayContaining(wanted));
  });
});

area<{ agent: string | null; params: string | null; session: string | null }, string | null>(
  "000-omp",
  "schema-precedence",
  async ({ input, want }) => {
    const schemaOf = (title: string | null) => (title === null ? undefined : { type: "object", title });
    const [own, asked, session] = [schemaOf(input.agent), schemaOf(input.params), schemaOf(input.session)];
    const { models } = await stage({
      lead: {
        tools: ["*", "task"],
        ...(session && { output: session }),
        says: [
          call("task", { agent: "worker", ...(asked && { schema: asked }), tasks: [{ id: "A", assignment: "go" }] }),
          ...Array.from({ length: 3 }, () => call("complete_task", { result: {} })),
        ],
      },
      worker: {
        ...(own && { output: own }),
        says: Array.from({ length: 3 }, () =>
          (own ?? asked ?? session) ? call("complete_task", { result: {} }) : "text",
        ),
      },
    });
    const finish = models["worker"]!.requests[0]!.tools.find(({ name }) => name === "complete_task");
    const titles = ["A", "P", "S"].filter((title) => JSON.stringify(finish ?? null).includes(`"title":"${title}"`));
    expect(titles[0] ?? null).toBe(want);
  },
);

describe("000-omp limits", () => {
  type Limits = {
    MAX_OUTPUT_BYTES: number;
    MAX_OUTPUT_LINES: number;
    summary_inline_chars: number;
    task_id_max: number;
  };
  test.each(cases<{ budget?: number }, Limits & { steer_notices?: number }>("000-omp", "limits"))(
    "$name",
    async ({ input, want }) => {
      if (input.budget !== undefined) {
        const look = call("current_time", {});
        const { models } = await stage({
          lead: { limits: { maxTurns: input.budget }, says: [look, look, look, look, "done"] },
        });
        // the last request is that of the grace turn
        const read = JSON.stringify(models["lead"]!.requests.at(-2)!.messages);
        return expect({ steer_notices: read.match(/budget notice/gi)?.length ?? 0 }).toEqual(want);
      }
      expect({
        MAX_OUTPUT_BYTES,
        MAX_OUTPUT_LINES,
        summary_inline_chars: INLINE_CHARS,
        task_id_max: TASK_ID_CHARS,
      }).toEqual(want);
    },
  );
});

area<Record<string, unknown>, Record<string, unknown>>("001-pegasus", "spawn-tool", async ({ name, input, want }) => {
  if (name.startsWith("custom")) {
    const cwd = tempFolder();
    const { files, call: asked } = input as { files: Record<string, string>; call: object };
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(join(cwd, file, ".."), { recursive: true });
      writeFileSync(join(cwd, file), text);
    }
    const crew = projectCrew(cwd, {
      models: { m: scripted("researched") },
    });
    const [tool] = await crew.delegationTools(["spawn_subagent"]);
    expect(JSON.stringify(z.toJSONSchema(tool!.input as z.ZodType))).toContain("deepresearch");
    return expect({
      accepted:
        (await callTool(tool!, cwd, asked, { delegate: async () => ({ status: "ok", output: "ok" }) })) === "ok",
    }).toEqual(want);
  }
  const { models, read, events } = await stage({
    lead: {
      tools: ["*", "spawn_subagent"],
      delegation: ["spawn_subagent"],
      says: [call("spawn_subagent", input), "waiting", "done"],
    },
    explore: { says: ["found"] },
    plan: { says: ["planned"] },
    general: { says: ["worked"] },
  });
  const answer = JSON.parse(read("lead")[0]!) as Record<string, unknown>;
  const preview = events.find((event) => event.type === "tool.started" && event.tool === "spawn_subagent");
  expect(preview).toBeDefined();
  const type = String(answer["type"]);
  if ("action" in want) {
    const [first] = models[type]!.requests[0]!.messages;
    return expect({
      action: "spawn_subagent",
      type,
      description: answer["description"],
      input: first?.role === "user" && first.text,
    }).toEqual(want);
  }
  expect({ ...answer, taskId: "<id>" }).toEqual(want);
  expect(answer["taskId"]).toMatch(new RegExp(`^run_\\w+/lead/${type}$`));
});

const mycode = ["Explore", "Plan", "Bash", "general-purpose"].map((name) => card(name));

area<object, { valid: boolean } | { allowed: string[] } | { refused: string }>(
  "002-mycode",
  "task-input",
  async ({ input, want }) => {
    if ("allowed" in want) return expect([...TASK_MODELS]).toEqual(want.allowed);
    const tool = toolOf("Task", callerOf({ catalog: catalogOf(mycode) }));
    if ("refused" in want) return expect(await callTool(tool, ".", input)).toBe(want.refused);
    expect({ valid: "value" in parseArguments(tool, input) }).toEqual(want);
  },
);

area<object, { valid: boolean }>("002-mycode", "taskoutput-input", ({ input, want }) => {
  const tool = toolOf("Task", callerOf(), 1);
  expect(tool.name).toBe("TaskOutput");
  expect({ valid: "value" in parseArguments(tool, input) }).toEqual(want);
});

type Asked = { action: string; taskId?: string; timeout?: number; state?: { error: string } | { result: string } };
area<Asked, { error?: string; output?: string }>("002-mycode", "taskoutput-run", async ({ input, want }) => {
  const { state, ...asked } = input;
  const [task, output] = delegationTools(["Task"], callerOf({ catalog: catalogOf(mycode) }), { clock: () => 0 });
  const started = { key: "k", run: "run_x", under: "", files: {} };
  const ends: DelegationOutcome | undefined =
    state &&
    ("result" in state
      ? { status: "ok", output: state.result }
      : { status: "failed", fault: { code: "CRASHED", message: state.error, retryable: false } });
  const background = {
    start: async () => started,
    ended: (_key: string, signal: AbortSignal) =>
      ends
        ? Promise.resolve(ends)
        : new Promise<undefined>((resolve) => signal.addEventListener("abort", () => resolve(undefined))),
    stop: async () => false,
  };
  await callTool(
    task!,
    ".",
    { description: "d", prompt: "p", subagent_type: "Explore", run_in_background: true },
    { background },
  );
  await Promise.resolve();
  const taskId = asked.taskId === "t" ? "run_x/Explore" : asked.taskId;
  const result = await output!.run(
    { ...asked, ...(taskId !== undefined && { taskId }) },
    { ...emptyContext, cwd: ".", background },
  );
  const { text, error } = whole(result);
  expect(error ? { error: text } : { output: text }).toEqual(want);
});

const whole = (result: ToolResult): { text: string; error?: boolean } =>
  typeof result === "string" ? { text: result } : result;

type History = { role: string; content: string | { type: string; text?: string }[] }[];
type Summary = {
  success: boolean;
  result_length: number;
  result: string;
  turns: number;
  tokenUsage: { input: number; output: number };
};
area<{ type: string; history: History }, Summary | { fault: string }>(
  "002-mycode",
  "summary",
  async ({ input, want }) => {
    const texts = input.history.flatMap(({ role, content }) =>
      role === "assistant"
        ? [typeof content === "string" ? grown(content) : (content.find(({ text }) => text !== undefined)?.text ?? "")]
        : [],
    );
    const usage = { input: 5, output: 7 };
    const says = texts.map((text, at) =>
      at < texts.length - 1 ? { text, usage, calls: [{ name: "current_time", input: {} }] } : { text, usage },
    );
    const { events } = await stage({
      lead: {
        tools: ["*", "Task"],
        delegation: ["Task"],
        says: [call("Task", { description: "d", prompt: "go", subagent_type: input.type }), "done"],
      },
      [input.type]: { ...summaryOf(input.type), says: says.length === 0 ? ["", ""] : says },
    });
    if ("fault" in want) {
      const ended = events.find((event) => event.type === "node.ended" && event.path.startsWith("lead/"));
      const outcome = ended?.type === "node.ended" ? ended.outcome : undefined;
      return expect({ fault: outcome?.status === "failed" && outcome.fault.code }).toEqual(want);
    }
    const ended = events.find((event) => event.type === "tool.ended" && event.tool === "Task");
    const { result, success, turns, tokenUsage } = (ended as { details: Summary }).details;
    expect({
      success,
      result_length: result.length,
      // The data shows only the beginning of a long text.
      result: result.length > 20 ? `${result.slice(0, 20)}…` : result,
      turns,
      tokenUsage,
    }).toEqual(want);
  },
);

/** How the bundled agent of this name reports its result. */
function summaryOf(type: string): Pick<Agent, "summary" | "summaryChars"> {
  const { summary, summaryChars } = readBundledAgents().find(({ agent }) => agent.name === type)!.agent;
  return defined({ summary, summaryChars });
}

/** `x×1500` in the data stands for this many repetitions. */
const grown = (text: string): string =>
  text.replace(/^(.)×(\d+)$/, (_, letter: string, count: string) => letter.repeat(Number(count)));

area<object, { maxDepth: number } | { expected: string }>("002-mycode", "depth", async ({ want }) => {
  if ("maxDepth" in want) return expect(DEFAULT_MAX_DEPTH).toBe(want.maxDepth);
  const ask = (subagent_type: string) => call("Task", { description: "d", prompt: "go", subagent_type });
  const level = (next: string) => ({ tools: ["*", "Task"], delegation: ["Task"], says: [ask(next), "up"] });
  const { events } = await stage(
    { lead: level("b"), b: level("c"), c: level("d"), d: level("e"), e: { says: ["too deep"] } },
    {},
    { maxDepth: 3 },
  );
  const paths = events.filter(({ type }) => type === "node.started").map(({ path }) => path);
  expect(paths).toEqual(["lead", "lead/b", "lead/b/c", "lead/b/c/d"]);
  expect({ expected: `${paths.length}th level refused` }).toEqual(want);
  expect(events.find((event) => event.type === "tool.denied" && event.path === "lead/b/c/d")).toMatchObject({
    tool: "Task",
    rule: "the maximum delegation depth of 3 is reached",
  });
});

area<{ error: string } | { events: string[] }, object>("002-mycode", "lifecycle", async ({ input, want }) => {
  const message = "error" in input ? input.error : input.events[0]!.replace(/^error /, "");
  const { read, events } = await stage({
    lead: {
      tools: ["*", "Task"],
      delegation: ["Task"],
      says: [call("Task", { description: "d", prompt: "go", subagent_type: "child" }), "done"],
    },
    child: { says: [{ error: { code: "MODEL_AUTH", message, retryable: false } }] },
  });
  // The data has no id of the failed task.
  if (!("success" in want)) return expect({ error: read("lead")[0]!.split("\n\n[agentId: ")[0] }).toEqual(want);
  const ended = events.find((event) => event.type === "tool.ended" && event.tool === "Task");
  const details = (ended as { details: Record<string, unknown> }).details;
  expect({ success: details["success"], error: details["error"], status: "error" }).toEqual(want);
});

type Continued = { resume: string; agent: string } | { error_contains: string };
area<{ saved?: { session: string } }, Continued>("002-mycode", "continue-agent", async ({ input, want }) => {
  const tool = toolOf("Task", callerOf({ catalog: catalogOf(mycode) }));
  if ("error_contains" in want) {
    const parsed = parseArguments(tool, { ...input, description: "d" });
    return expect("problem" in parsed && parsed.problem).toContain(want.error_contains);
  }
  const ask = (subagent_type: string, more: object = {}) => ({
    calls: [{ name: "Task", input: { description: "d", prompt: "go", subagent_type, ...more } }],
  });
  const idIn = (request: object): string => /agentId: ([^\]]+)\]/.exec(JSON.stringify(request))![1]!;
  let resume = "";
  const { events } = await stage({
    lead: {
      tools: ["*", "Task"],
      delegation: ["Task"],
      says: [ask("Explore"), (request) => ask("Plan", { resume: (resume = idIn(request)) }), "done"],
    },
    Explore: { says: ["found", "and more"] },
    Plan: { says: [] },
  });
  const started = events.filter((event) => event.type === "node.started").at(-1) as {
    continues: string;
    agent: string;
  };
  const session = started.continues === resume ? input.saved?.session : started.continues;
  expect({ resume: session, agent: started.agent }).toEqual(want);
});

area<object, { max: number }>("002-mycode", "fork", async ({ want }) => {
  const again = call("Task", { description: "d", prompt: "go", subagent_type: "child" });
  const delegates = { tools: ["*", "Task"], delegation: ["Task"] };
  const { events } = await stage({
    lead: { ...delegates, says: [again, again, again, "done", "done", "done"] }, // a fork keeps the model of its parent
    child: { ...delegates, conversation: "fork", says: [] },
  });
  expect(events.filter(({ type }) => type === "conversation.forked")).toHaveLength(want.max);
});

const record = (more: Partial<TaskRecord> = {}): TaskRecord => ({
  id: "bg-explore-1-a",
  type: "Explore",
  description: "Find auth",
  status: "completed",
  startedAt: 0,
  ...(more.status !== "running" && { endedAt: 65_000 }),
  ...more,
});
type Shown = { tasks?: TaskRecord["status"][]; record?: Partial<TaskRecord>; records?: Partial<TaskRecord>[] };
area<Shown, string>("002-mycode", "task-status-text", ({ input, want }) => {
  const ids = ["bg-explore-1-a", "b", "c"];
  const known = (input.tasks?.map((status) => ({ status })) ?? input.records)?.map((one, at) => ({
    id: ids[at]!,
    ...one,
  }));
  const described = input.record ?? { tokens: { input: 100, output: 20 }, result: "R" };
  const text = known
    ? taskListText(
        known.map((one) => record(one)),
        65_000,
      )
    : taskText(record(described), 65_000);
  expect(text).toBe(want);
});

type Boxed = { taskId?: string; outputFile?: string; type?: string; task?: string; model?: string };
area<Boxed, string | { box_title: string; lines: string[] }>("002-mycode", "result-text", ({ input, want }) => {
  if (typeof want === "string")
    return expect(
      backgroundStarted({ id: input.taskId!, type: "Explore", description: "Find", file: input.outputFile! }),
    ).toBe(want);
  const boxes = createBoxes({
    look: createLook({ color: false, unicode: true }),
    columns: () => 60,
    delegates: (name) => name === "Task",
  });
  const state = emptyState("r");
  const plan = { nodes: { lead: { kind: "task", task: { prompt: "x", refs: {} } } }, output: "lead" };
  const path = "lead/a";
  const facts = [
    { type: "run.started", path: "", plan, cwd: "", version: "" },
    { type: "node.started", path, attempt: 1, kind: "task", agent: input.type, prompt: input.task },
    { type: "agent.resolved", path, agent: input.type, hash: "h", model: input.model },
  ];
  const shown = facts.flatMap((fact, at) => {
    const event = { seq: at + 1, run: "r", at: 0, ...fact } as unknown as KeptEvent;
    reduce(state, event);
    return boxes(event, state) ?? [];
  });
  const [top = "", ...rest] = shown.join("\n").split("\n");
  const lines = rest.slice(0, -1).map((line) => line.replace(/^│ | *│$/g, ""));
  expect({ box_title: /─ (.*?) ─/.exec(top)?.[1], lines }).toEqual(want);
});

type Registered = { name: string; description: string; kind?: string; inputs?: Record<string, string> };
const registered = ({ name, description, inputs, kind }: Registered): AgentCard => ({
  name,
  description,
  readOnly: false,
  ...(kind === "remote" && { remote: true }),
  ...(inputs && {
    inputs: Object.fromEntries(
      Object.entries(inputs).map(([input, words]) => [
        input,
        { type: words.split(" ")[1]!, description: input, required: words.startsWith("required") },
      ]),
    ),
  }),
});

type Delegating = { registered?: Registered[]; params?: object; counts?: number[]; agent?: Registered };
area<Delegating, unknown>("004-gemini", "delegate-tool", async ({ name, input, want }) => {
  const cards = (input.registered ?? []).map(registered);
  if (name === "tool description lists agents") return expect(unionDescription(cards)).toBe(want);
  if (input.agent) return expect({ throws_on_build: reservedInputOf(registered(input.agent)) }).toEqual(want);
  if (input.counts) {
    const shapes = input.counts.map((count) => {
      const cardsOf = Array.from({ length: count }, (_, at) => card(`a${at}`));
      return [count, shapeOf(unionSchema(cardsOf))];
    });
    return expect(Object.fromEntries(shapes)).toEqual(want);
  }
  if (cards.length === 0) {
    const { events } = await stage({
      lead: {
        tools: ["*", "delegate_to_agent"],
        delegation: ["delegate_to_agent"],
        says: [call("delegate_to_agent", input.params!), "done"],
      },
      test_agent: { inputs: { arg1: { type: "string", description: "", required: true } }, says: ["done"] },
    });
    expect(events.some((event) => event.type === "node.started" && event.agent === "test_agent")).toBe(true);
    // No person is available, so a question would have been refused.
    const confirmation = events.some(({ type }) => type === "gate.opened" || type === "tool.denied");
    return expect({ confirmation }).toEqual(want);
  }
  const plans: Plan[] = [];
  const tool = toolOf("delegate_to_agent", callerOf({ catalog: catalogOf(cards) }));
  const text = await callTool(tool, ".", input.params, {
    delegate: async (plan) => {
      plans.push(plan as Plan);
      return { status: "ok", output: "done" };
    },
  });
  const { throws, runs_remote_with } = want as {
    throws?: string;
    runs_remote_with?: object;
  };
  if (throws !== undefined) return expect(text).toBe(throws);
  const [node] = Object.values(plans[0]!.nodes) as TaskNode[];
  expect(node!.task).toMatchObject({ agent: "remote_agent", inputs: runs_remote_with });
});

/** The shape of a tool's schema, in the words of the case. */
function shapeOf(schema: object): string {
  const names = (one: object): { const?: string; type?: string; description?: string } =>
    (one as { properties: { agent_name: object } }).properties.agent_name;
  if ("anyOf" in schema) {
    const all = (schema.anyOf as object[]).map((one) => names(one).const);
    return new Set(all).size === all.length ? "anyOf/discriminated union" : "anyOf";
  }
  const { const: only, type, description = "" } = names(schema);
  if (only !== undefined) return String((schema as { type?: string }).type);
  return `agent_name ${type} described as ${/No agents are currently available/.test(description) ? "none available" : description}`;
}

area<{ agent: string; params?: unknown; output?: { result: string }; activities?: string[] }, unknown>(
  "004-gemini",
  "invocation",
  async ({ name, input, want }) => {
    if (name === "description")
      return expect(invocationText(input.agent, input.params as Record<string, unknown>)).toBe(want);
    if (name === "description cut at 200") {
      const many = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`input${at}`, `value${at}`]));
      return expect(invocationText(input.agent, many)).toHaveLength((want as { length: number }).length);
    }
    if (input.output)
      return expect(invocationResult(input.agent, { status: "ok", output: input.output.result })).toBe(want);
    const { createCrew: make } = await import("../../src/index.ts");
    const { localInvocation } = await import("../../src/compat/gemini/invocation.ts");
    const model = scripted(
      { thinking: "Analyzing...", calls: [{ name: "current_time", input: {} }] },
      { error: { code: "MODEL_AUTH", message: "no", retryable: false } },
    );
    const crew = make({
      cwd: tempFolder(),
      home: false,
      env: { PATH: "/bin" },
      discover: false,
      models: { m: model },
      agents: [defineAgent({ name: "MockAgent", description: "", instructions: "" })],
    });
    const updates: string[] = [];
    await localInvocation(crew, { name: "MockAgent", inputs: { query: "go" } }).execute(
      new AbortController().signal,
      (text) => updates.push(text),
    );
    expect(updates).toEqual((want as { updates: string[] }).updates);
  },
);

type ToolMode = {
  text: string;
  isError: boolean;
  mode: string;
  winner: string | null;
  results: { id: string; exitCode: number }[];
  prompts_sent: { id: string; task: string; model: string | null; tools: string[] | null }[];
};

/** The turns of the agents of a case, by their prompts. A value that is no turn makes the agent fail. */
const scripts: Readonly<Record<string, Readonly<Record<string, readonly ScriptedTurn[]>>>> = {
  // Eight turns, one of which is empty and is requested again.
  "parallel: mixed success": {
    a: [
      ...Array.from({ length: 3 }, () => calling("read_file", { path: "a.txt" })),
      ...Array.from({ length: 2 }, () => calling("bash", { command: "true" })),
      calling("grep_files", { pattern: "a" }),
      "",
      { text: "fine", cost: 0.0034 },
    ],
  },
  "single with agent and inline model": { x: ["ok"] },
  "chain: dollar patterns in previous output must stay literal": {
    a: ["price $& and $$5"],
    "got: price $& and $$5": ["final"],
  },
  "team simple mode: members run default tasks": { "check sec": ["done sec"], "check perf": ["done perf"] },
  "parallel: output over 2000 chars goes to a file": { big: ["z".repeat(2_500)] },
  "chain passes {previous}": { first: ["P1"], "use P1 and P1": ["final"] },
};

function calling(name: string, input: object): ScriptedTurn {
  return { calls: [{ name, input }] };
}

const nope: ScriptedTurn = { error: { code: "MODEL_AUTH", message: "nope", retryable: false } };

area<{ params: object; files: Record<string, string> }, ToolMode>(
  "003-pi-parallel",
  "tool-mode",
  async ({ name, input, want }) => {
    const userHome = tempFolder();
    for (const [file, text] of Object.entries(input.files)) {
      const path = join(userHome, file.replace(/^home\//, ""));
      mkdirSync(join(path, ".."), { recursive: true });
      writeFileSync(path, text);
    }
    const sent: Omit<ToolMode["prompts_sent"][number], "id">[] = [];
    const answers = (model: string) =>
      scripted(
        ...Array.from({ length: 12 }, () => ({ messages, tools }: ModelRequest): ScriptedTurn => {
          const task = (messages[0] as { text: string }).text.split("\n\n").at(-1)!;
          const shown = tools.map((tool) => tool.name).toSorted();
          // An agent that names no tools has all of them.
          const all = shown.includes("write_file") && shown.includes("bash");
          if (messages.length === 1)
            sent.push({ task, model: model === "main" ? null : model, tools: all ? null : shown });
          const turn = messages.filter(({ role }) => role === "assistant").length;
          return scripts[name]?.[task]?.[turn] ?? nope;
        }),
      );
    const models = Object.fromEntries(
      ["main", "m1", "m2", "claude-sonnet-4-5"].map((model) => [model, answers(model)]),
    );
    const crew = createCrew({
      cwd: tempFolder({ "a.txt": "a" }),
      home: tempFolder(),
      userHome,
      env: { PATH: "/usr/bin:/bin" },
      models,
      permissions: { mode: "bypass", sandbox: "off" },
      concurrency: 1, // one slot: the tasks run one after the other, in their order
      output: { summaryChars: 2_000, summaryCut: "simple" }, // as the preset pi-parallel
    });
    const found = (await crew.catalog()).agents.filter(({ source }) => source !== "bundled");
    const caller = { catalog: catalogOf(found) };
    const [tool] = await crew.delegationTools(["parallel"], caller);
    const { openDelegation } = await import("../../src/doors/delegation.ts");
    const {
      text,
      error = false,
      details,
    } = await openDelegation(
      { ...crew, catalog: async () => caller.catalog, delegationTools: async () => [tool!] },
      { as: ["parallel"] },
    ).call("parallel", input.params, { signal: new AbortController().signal });
    const { mode, winner = null, results } = details as ParallelToolDetails;
    const file = results[0]?.fullOutputPath;
    expect({
      // A task of the data has no number of turns unless the case tests it.
      text: text
        .replace(/ \(1 turn\)/g, "")
        .replace(/\n\n\[task: \S+\]/g, "") // the data has no ids of failed tasks
        .replace(file ?? "<none>", "<tmpfile>"),
      isError: error,
      mode,
      winner,
      results: results.map(({ id, exitCode }) => ({ id, exitCode })),
      prompts_sent: sent.map((one, at) => ({ id: results[at]?.id, ...one })),
    }).toEqual({
      ...want,
      prompts_sent: want.prompts_sent.map((one) => ({
        ...one,
        tools: one.tools?.flatMap(canonical).toSorted() ?? null,
      })),
    });
  },
);
