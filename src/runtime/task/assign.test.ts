import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  assignmentOf,
  callOf,
  forkOf,
  refusalOf,
  reportedIn,
  type WorldParts,
  worldOf,
} from "../../../test/support/task-world.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { Agent } from "../../core/agent/agent.ts";
import type { Task } from "../../core/plan/task.ts";
import { createRedactor } from "../../core/secrets/redact.ts";
import type { Call } from "../../core/task/engine.ts";
import { defineTool, type Tool } from "../../core/task/tool.ts";
import { scripted } from "../../models/scripted/scripted.ts";
import { prompts } from "../../embedded.ts";
import { version } from "../../core/text/version.ts";
import { effectiveAgent, inPlanMode } from "./assign-agent.ts";
import { assign } from "./assign.ts";
import type { TaskOutputs, TaskWorldSettings } from "./world.ts";

const tool = (name: string, effect: Tool["effect"] = "read"): Tool =>
  defineTool({ name, description: name, input: z.object({}), effect, run: () => "" });

/** The tools in the conversation that a fork starts from. */
const shown = ["look", "change", "complete_task"];

describe("agent", () => {
  const agent = {
    instructions: "Review ${file}.",
    inputs: { file: { type: "string", description: "a file", required: true } },
    limits: { maxTurns: 9, maxIdleMs: 70 },
  };

  test("the task fills in the inputs of the agent, and the lower of two limits counts", async () => {
    const {
      agent: assigned,
      instructions,
      limits,
    } = await assignmentOf({ agent }, { inputs: { file: "a.ts" }, resourceLimits: { maxTurns: 4, maxIdleMs: 90 } });
    expect(assigned.name).toBe("worker");
    expect(instructions).toBe("Review a.ts.");
    expect(limits).toMatchObject({ maxTurns: 4, maxIdleMs: 70 });
  });

  test("an agent that does not exist and an input that is missing are refused", async () => {
    expect(await refusalOf({}, { agent: "nobody" })).toBe('DENIED: Unknown agent "nobody".');
    expect(await refusalOf({ agent })).toBe('BAD_INPUTS: "worker" cannot start: the input file is missing.');
  });

  const plain: Agent = { name: "worker", description: "works", instructions: "Work." };
  const adapted = (of: Partial<Agent>, task: Partial<Task>, depth = 0, ...more: ["call"?]): Agent =>
    effectiveAgent({ ...plain, ...of }, { task: { prompt: "Go.", ...task }, depth }, ...more);

  test("a person's task replaces instructions, thinking and tools, in any spelling; the rest of the agent stays", () => {
    expect(effectiveAgent(plain, { task: { prompt: "Go." }, depth: 0 })).toBe(plain);
    expect(adapted({ tools: ["look"], model: "m" }, { systemPrompt: "Sing.", thinking: "high" })).toEqual({
      ...plain,
      tools: ["look"],
      model: "m",
      instructions: "Sing.",
      thinking: "high",
    });
    const { tools } = adapted({ tools: ["look"] }, { tools: ["Read", "*Edit*", "mine"] });
    expect(tools).toEqual(["read_file", "edit_file", "mine"]);
  });

  test("the task that an agent gives to another agent can only remove tools from that agent", () => {
    const wanted = { tools: ["Read", "bash"] };
    expect(adapted({ tools: ["read_file", "glob"] }, wanted).tools).toEqual(["read_file", "bash"]);
    expect(adapted({ tools: ["read_file", "glob"] }, wanted, 1).tools).toEqual(["read_file"]);
    expect(adapted({ tools: ["read_file"] }, { thinking: "low" }, 1).tools).toEqual(["read_file"]);
  });

  test("a delegation tool in the task's list is used under that name, and a list without one keeps the agent's name for it", () => {
    expect(adapted({ delegation: ["Task"] }, { tools: ["look", "parallel"] }).delegation).toEqual(["parallel"]);
    expect(adapted({ delegation: ["Task"] }, { tools: ["look"] }).delegation).toEqual(["Task"]);
  });

  test("the output schema is the agent's, then the task's, or the other way round if the settings say so", () => {
    const [own, given] = [{ type: "object" }, { type: "array" }];
    expect(adapted({ output: own }, { schema: given }).output).toBe(own);
    expect(adapted({ output: own }, { schema: given }, 0, "call").output).toBe(given);
    expect(adapted({ output: own }, { thinking: "low" }, 0, "call").output).toBe(own);
    for (const none of [{}, { output: "a list" }, { output: null }] as const) {
      expect(adapted(none, { schema: given }).output).toBe(given);
      expect(adapted(none, { thinking: "low" }).output).toBe("output" in none ? none.output : undefined);
    }
  });

  test("in plan mode an agent that was started by another agent has only its read-only tools and starts no agent", async () => {
    const tools = ["read_file", "write_file", "complete_task"].map((name) => tool(name, "write"));
    const of = async (agent: Partial<Agent>, depth: number): Promise<readonly unknown[]> => {
      const { agent: assigned } = await assignmentOf({ tools, agent, permissions: { mode: "plan" } }, {}, { depth });
      return [assigned.tools, assigned.spawns];
    };
    const writing = { tools: ["read_file", "write_file", "complete_task"], spawns: "*" } as const;
    expect(await of(writing, 1)).toEqual([["read_file", "complete_task"], []]);
    expect(await of(writing, 0)).toEqual([writing.tools, "*"]);
    for (const open of [{}, { tools: ["*"] }, { tools: ["write_file", "*"] }]) {
      const limited = inPlanMode({ ...plain, ...open });
      expect(limited.tools).toContain("read_file");
      expect(limited.tools).not.toContain("write_file");
      expect(limited.name).toBe("worker");
    }
    const { agent: free } = await assignmentOf({ tools, agent: writing, permissions: {} }, {}, { depth: 1 });
    expect([free.tools, free.spawns]).toEqual([writing.tools, "*"]);
  });

  test("the settings can limit every agent that is started to the tools of the agent that starts it", async () => {
    const rule = async (delegation?: "own" | "ceiling"): Promise<unknown> => {
      const settings = { cwd: tempFolder(), env: {}, ...(delegation && { delegation }) };
      const { agent: assigned } = await assignmentOf({ settings, agent: { delegationRule: "own" } });
      return [assigned.name, assigned.delegationRule];
    };
    expect(await rule()).toEqual(["worker", "own"]);
    expect(await rule("own")).toEqual(["worker", "own"]);
    expect(await rule("ceiling")).toEqual(["worker", "ceiling"]);
  });
});

describe("prompt", () => {
  test("the model reads the context, the preface, the prompt and the attached results, in this order", async () => {
    const { prompt, sharedChars, system, completion } = await assignmentOf(
      {},
      { preface: "About you.", prompt: "Sum up." },
      { context: "About the run.", attachments: [{ title: "scout", path: "scout", text: "It rains." }] },
    );
    expect(prompt).toMatch(
      /^About the run\.\n\nAbout you\.\n\nSum up\.\n\n.+\n\n<result of="scout">\nIt rains\.\n<\/result>$/,
    );
    expect(sharedChars).toBe("About the run.".length);
    expect(system).toContain("Work.");
    expect(completion).toBe("text");
  });

  test("tasks of one agent that differ in model, day, inputs or project get their own texts", async () => {
    const agent = {
      instructions: "${activeModel} on ${today} for ${who}",
      inputs: { who: { type: "string", description: "a name", required: false } },
    };
    const models = { first: scripted(), second: scripted() };
    const { roster } = worldOf({ agent });
    const told = async (more: WorldParts, task: Partial<Task> = {}): Promise<string> =>
      (await assignmentOf({ models, roster, ...more }, task)).system;
    const instructions = (): { text: string; notes: string[] } => ({ text: "Use tabs.", notes: [] });
    const day = 24 * 60 * 60 * 1_000;
    /** The system prompt of a task that follows a task without differences. */
    const next = async (...given: Parameters<typeof told>): Promise<string> => {
      expect(await told({})).toMatch(/first on Thu Jan 01 1970 for \$\{who\}(?![\s\S]*Use tabs)/);
      return told(...given);
    };
    expect(await next({}, { model: "second" })).toContain("second on Thu Jan 01 1970");
    expect(await next({ clock: () => day })).toContain("first on Fri Jan 02 1970");
    expect(await next({}, { inputs: { who: "Ada" } })).toContain("1970 for Ada");
    expect(await next({ instructions })).toContain("Use tabs.");
    expect(await next({ permissions: { mode: "plan" } })).toContain(prompts.planMode.trim());
    expect(await next({ permissions: {} })).not.toContain(prompts.planMode.trim());
  });

  test("the prompts of an agent are built once for all of its tasks with the same prompts", async () => {
    const worker = { ...worldOf().roster.find("worker")! };
    let reads = 0;
    Object.defineProperty(worker, "instructions", { enumerable: true, get: () => ((reads += 1), "Work.") });
    const roster = { find: () => worker, names: () => ["worker"] };
    const same = { roster, settings: { cwd: tempFolder(), env: {} } };
    const { system } = await assignmentOf(same);
    const first = reads;
    expect((await assignmentOf(same)).system).toBe(system);
    expect([first > 0, reads]).toEqual([true, first]);
  });

  test("a task is told how to return its result, also after a fork of its agent that returned it in another way", async () => {
    const { roster } = worldOf({ agent: { completion: "tool" } });
    const settings = { cwd: tempFolder(), env: {} };
    await assignmentOf({ roster, settings }, {}, { depth: 1, fork: forkOf([]) });
    const { system } = await assignmentOf({ roster, settings });
    expect(system).toBe((await assignmentOf({ agent: { completion: "tool" }, settings })).system);
    expect(system).not.toBe((await assignmentOf()).system);
  });

  test("a reviewer is told to end with a verdict, unless its prompt already says so, or to use the fields of its schema", async () => {
    const told = async (task: Partial<Task>, agent: WorldParts["agent"] = {}): Promise<string> =>
      (await assignmentOf({ agent }, task, { review: true })).prompt;
    const marker = "exactly one word: APPROVED";
    expect(await told({ prompt: "Is it good?" })).toContain(marker);
    expect(await told({ prompt: "Say APPROVED or REVISION_NEEDED." })).toBe("Say APPROVED or REVISION_NEEDED.");
    const output = { type: "object", properties: { approved: { type: "boolean" } } };
    const fields = await told({ prompt: "Is it good?" }, { output });
    expect([fields.includes(marker), fields.includes("in the fields of your result")]).toEqual([false, true]);
    expect((await assignmentOf({}, { prompt: "Is it good?" })).prompt).toBe("Is it good?");
  });

  test("a helper that starts from a conversation is told its name, its own tools, instructions and schema, then its task", async () => {
    const fork = forkOf(shown);
    const tools = [tool("look"), tool("change", "write")];
    const output = { type: "object", properties: { n: { type: "number" } } };
    const started = { depth: 1, parentModel: "m", fork };
    const narrow = await assignmentOf({ tools, agent: { tools: ["look"], output } }, { prompt: "Count." }, started);
    expect(narrow.prompt.split("\n\n")).toEqual([
      expect.stringContaining('You are now the helper "worker"'),
      expect.stringContaining("only these: look."),
      expect.stringContaining("Work."),
      expect.stringContaining(JSON.stringify(output)),
      expect.stringContaining("Count."),
    ]);
    const wide = await assignmentOf(
      { tools },
      { prompt: "Count." },
      { ...started, fork: { ...fork, system: "Work." } },
    );
    expect(wide.prompt.split("\n\n")).toHaveLength(2);
  });

  test("an output schema is validated and used for the finish tool; an invalid JSON Schema is refused", async () => {
    const output = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const { completion, validate } = await assignmentOf({ agent: { output } });
    expect([completion, validate?.({ n: 1 }), validate?.({ n: "1" })]).toEqual(["tool", undefined, "n must be number"]);
    expect(await refusalOf({ agent: { output: { type: "nonsense" } } })).toMatch(
      /^INVALID_OUTPUT: The output schema of "worker" is not a valid JSON Schema: /,
    );
  });

  test("a schema that is not used is reported: the task's, or the agent's if the settings prefer the task's", async () => {
    const [own, given] = [{ type: "object" }, { type: "array" }];
    const told = async (parts: WorldParts, task: Partial<Task>): Promise<unknown> =>
      (await reportedIn(worldOf(parts), task)).facts.map((fact) => fact.type === "warning" && [fact.code, fact.text]);
    const agent = { output: own };
    expect(await told({ agent }, { schema: given })).toEqual([
      ["SCHEMA_UNUSED", "worker has its own output schema, so the schema of the task is not used."],
    ]);
    const settings = { cwd: tempFolder(), env: {}, schemaPrecedence: "call" } as const;
    expect(await told({ agent, settings }, { schema: given })).toEqual([
      ["SCHEMA_UNUSED", "The task has an output schema, so the schema of worker is not used."],
    ]);
    for (const [parts, task] of [
      [{ agent }, {}],
      [{}, { schema: given }],
      [{ agent: { output: "a list" } }, { schema: given }],
    ] as const)
      expect(await told(parts, task)).toEqual([]);
  });

  test("the agent's instructions name the model, the day and the version", async () => {
    const agent = { instructions: "${activeModel} ${today} ${cliVersion} ${other}" };
    const { instructions } = await assignmentOf({ agent });
    expect(instructions).toBe(`m ${new Date(0).toDateString()} ${version} \${other}`);
  });

  test("the project's instructions for the task's folder are in the system prompt, without secrets, but not in a fork", async () => {
    const cwd = tempFolder({ "part/a.txt": "" });
    const world: WorldParts = {
      settings: { cwd, env: {} },
      redactor: createRedactor(["tulip-tulip-tulip"]),
      instructions: (agent, folder) => ({
        text: `${agent.name} in ${folder}: tulip-tulip-tulip`,
        notes: ["It is long."],
      }),
    };
    const { assigned, facts } = await reportedIn(worldOf(world), { cwd: "part" });
    expect(assigned.projectInstructions).toMatch(`worker in ${join(cwd, "part")}: `);
    expect(assigned.projectInstructions).not.toContain("tulip");
    expect(assigned.system).toContain(assigned.projectInstructions);
    expect(facts).toEqual([{ type: "note", text: "It is long." }]);
    const others = [
      await reportedIn(worldOf(world), {}, { depth: 1, fork: forkOf(shown) }),
      await reportedIn(worldOf({})),
    ];
    for (const { assigned: other, facts: told } of others) {
      expect(Object.keys(other)).not.toContain("projectInstructions");
      expect(told).toEqual([]);
    }
    expect((await reportedIn(worldOf(world))).assigned.projectInstructions).toMatch(`worker in ${cwd}: `);
  });

  test("a fork has the system prompt of the conversation, and ends with its finish tool or with text", async () => {
    const tools = [tool("look"), tool("change", "write")];
    const of = async (fork: NonNullable<Call["fork"]>, agent: Partial<Agent> = {}): Promise<unknown> => {
      const { system, completion, prompt } = await assignmentOf({ tools, agent }, {}, { depth: 1, fork });
      return [system, completion, prompt.includes("only these: none.")];
    };
    expect(await of(forkOf(shown))).toEqual(["You lead.", "tool-or-text", false]);
    expect(await of(forkOf(["look"]))).toEqual(["You lead.", "text", false]);
    expect(await of(forkOf(shown), { tools: [] })).toEqual(["You lead.", "tool-or-text", true]);
    expect((await assignmentOf({ agent: { completion: "tool" } })).completion).toBe("tool");
  });

  test("the context of a run counts as the shared beginning of its prompts, except in a fork or a continued conversation", async () => {
    const context = "About the run.";
    const resumes = { path: "first", prompt: "Count.", output: "1" };
    const shared = async (more: Partial<Call>): Promise<boolean> =>
      Object.keys(await assignmentOf({}, {}, more)).includes("sharedChars");
    expect(await shared({ context })).toBe(true);
    for (const more of [{}, { context, resumes }, { resumes }, { context, depth: 1, fork: forkOf(shown) }])
      expect(await shared(more)).toBe(false);
    const started = { depth: 1, fork: forkOf(shown), context };
    const begins = async (more: Partial<Call>): Promise<boolean> =>
      (await assignmentOf({}, {}, more)).prompt.startsWith("You are now the helper");
    expect([await begins(started), await begins({ ...started, resumes })]).toEqual([true, false]);
  });

  test("an agent whose output is a text instead of a schema has no output schema", async () => {
    const assigned = await assignmentOf({ agent: { output: "a list" } });
    expect([assigned.completion, Object.keys(assigned).includes("schema")]).toEqual(["text", false]);
  });
});

describe("other settings of the assignment", () => {
  const withSettings = (more: Partial<TaskWorldSettings>): WorldParts => ({
    settings: { cwd: tempFolder(), env: {}, ...more },
  });

  test("the settings limit what a model reads of a tool's result, and choose the names of tools", async () => {
    const cut = async (output?: TaskWorldSettings["output"]): Promise<unknown> =>
      (await assignmentOf(withSettings({ ...(output && { output }) }))).cut;
    expect(await cut()).toBeUndefined();
    expect(await cut({ summaryChars: 9 })).toBeUndefined();
    expect(await cut({ maxBytes: 9 })).toEqual({ bytes: 9 });
    expect(await cut({ maxLines: 7 })).toEqual({ lines: 7 });
    expect(await cut({ maxBytes: 9, maxLines: 7 })).toEqual({ bytes: 9, lines: 7 });
    expect((await assignmentOf(withSettings({ toolNames: "claude" }))).toolNames).toBe("claude");
  });

  test("the project's checker is for the agents that the settings name", async () => {
    const checked = async (diagnostics?: TaskWorldSettings["diagnostics"]): Promise<unknown> =>
      (await assignmentOf(withSettings({ ...(diagnostics && { diagnostics }) }))).diagnostics;
    expect(await checked()).toBeUndefined();
    expect(await checked({ command: "make" })).toBeUndefined();
    expect(await checked({ command: "make", timeoutMs: 9, agents: ["worker"] })).toEqual({
      command: "make",
      timeoutMs: 9,
    });
    const code = { ...worldOf().roster.find("worker")!, name: "code" };
    const roster = { find: () => code, names: () => ["code"] };
    const { diagnostics } = await assignmentOf({ ...withSettings({ diagnostics: { command: "make" } }), roster });
    expect(diagnostics).toEqual({ command: "make" });
    expect((await assignmentOf({ roster })).diagnostics).toBeUndefined();
  });

  test("a fork has the sampling settings of the conversation instead of those of its agent", async () => {
    const agent = { thinking: "low", temperature: 1, topP: 1, summaryChars: 9 } as const;
    const fork = forkOf(shown, { thinking: "high", temperature: 0.5 });
    const { agent: assigned } = await assignmentOf({ agent }, {}, { depth: 1, fork });
    expect(assigned).toMatchObject({ name: "worker", thinking: "high", temperature: 0.5, summaryChars: 9 });
    expect(Object.keys(assigned)).not.toContain("topP");
    expect((await assignmentOf({ agent })).agent).toMatchObject(agent);
  });

  test("long results are kept in numbered files, up to 64 million characters per task, and a full disk fails nothing", async () => {
    const kept: string[] = [];
    const keep: TaskOutputs["keep"] = async (run, path) => {
      if (kept.length === 2) throw new Error("no space left on device");
      kept.push(`${run} ${path}`);
      return path;
    };
    const outputs = { ...worldOf().outputs, keep };
    const { keepLong } = await assignmentOf({ outputs });
    expect(await keepLong?.("look", "a".repeat(2 ** 26 - 2))).toBe("worker.look-1");
    expect(await keepLong?.("look", "abc")).toBeUndefined();
    expect(await keepLong?.("mcp/a.b", "ab")).toBe("worker.mcp_a_b-2");
    expect(kept).toEqual(["run_test worker.look-1", "run_test worker.mcp_a_b-2"]);
    expect(await keepLong?.("look", "a")).toBeUndefined();
    const other = await assignmentOf({ outputs });
    for (const text of ["a", "a".repeat(2 ** 26 + 1)]) expect(await other.keepLong?.("look", text)).toBeUndefined();
  });
});

test("the first step that refuses ends the assignment: no model is chosen for an agent without tools", async () => {
  const asked: unknown[] = [];
  const world = worldOf({ agent: { tools: ["nothing"] } });
  const choose: typeof world.models.choose = (wishes) => {
    asked.push(wishes);
    return world.models.choose(wishes);
  };
  const assigned = await assign(callOf(), { ...world, models: { choose } }, () => {});
  expect(assigned).toMatchObject({ status: "failed", fault: { code: "DENIED" } });
  expect(asked).toEqual([]);
});
