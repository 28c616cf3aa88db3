import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { assignmentOf, callOf, type WorldParts, worldOf } from "../../../test/support/task-world.ts";
import { permit } from "../../core/policy/permit.ts";
import type { Task } from "../../core/plan/task.ts";
import type { Fact } from "../../core/run/event.ts";
import type { Call } from "../../core/task/engine.ts";
import { defineTool, type Tool } from "../../core/task/tool.ts";
import { scripted } from "../../models/scripted/scripted.ts";
import { prompts } from "../../embedded.ts";
import { assign } from "./assign.ts";

const tool = (name: string, effect: Tool["effect"] = "read"): Tool =>
  defineTool({ name, description: name, input: z.object({}), effect, run: () => "" });

/** Why a task is refused: the code and the sentence. */
async function refusal(parts: WorldParts, task: Partial<Task> = {}, more: Partial<Call> = {}): Promise<string> {
  const assigned = await assign(callOf(task, more), worldOf(parts), () => {});
  return "status" in assigned ? `${assigned.fault.code}: ${assigned.fault.message}` : "it was not refused";
}

describe("agent", () => {
  const agent = {
    instructions: "Review ${file}.",
    inputs: { file: { type: "string", description: "a file", required: true } },
    limits: { maxTurns: 9, maxIdleMs: 70 },
  };

  test("the task fills in the inputs of the agent, and the narrower of two limits counts", async () => {
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
    expect(await refusal({}, { agent: "nobody" })).toBe('DENIED: There is no agent "nobody".');
    expect(await refusal({ agent })).toBe('BAD_INPUTS: "worker" cannot start: the input file is missing.');
  });
});

describe("tools", () => {
  const tools = [tool("look"), tool("change", "write")];
  const usable = async (...given: Parameters<typeof assignmentOf>): Promise<readonly string[]> => {
    const { tools: all, rights } = await assignmentOf(...given);
    return [...all.keys()].filter((name) => permit(rights, name).allowed);
  };

  test("the agent has the tools it lists, limited by its parent and the policy", async () => {
    expect(await usable({ tools })).toEqual(["look", "change"]);
    expect(await usable({ tools, agent: { tools: ["look"] } })).toEqual(["look"]);
    expect(await usable({ tools }, {}, { depth: 1, ceiling: ["change"] })).toEqual(["change"]);
    expect(await usable({ tools, permissions: { mode: "plan" } })).toEqual(["look"]);
  });

  test("a helper whose tools a bound of its parent reduces is reported with the lost tools; a person's task is not", async () => {
    const lostBy = async (agent: WorldParts["agent"], more: Partial<Call>): Promise<unknown[]> => {
      const facts: Fact[] = [];
      await assign(callOf({}, more), worldOf({ tools, agent: agent ?? {} }), (fact) => void facts.push(fact));
      return facts.flatMap((fact) => (fact.type === "rights.reduced" ? [fact.lost] : []));
    };
    const ceiling = ["look"];
    const both = { tools: ["look", "change"] };
    expect(await lostBy(both, { depth: 1, ceiling })).toEqual([["change"]]);
    expect(await lostBy({}, { depth: 1, ceiling })).toEqual([["change"]]);
    expect(await lostBy({ tools: ["look"] }, { depth: 1, ceiling })).toEqual([]);
    expect(await lostBy(both, { depth: 0, ceiling })).toEqual([]);
  });

  test("an agent is refused when none of its tools exists", async () => {
    expect(await refusal({ tools, agent: { tools: ["lok", "chnge"] } })).toBe(
      'DENIED: None of the tools of "worker" exists here: lok, chnge.',
    );
  });
});

describe("access", () => {
  test("the task works in its folder and sees only the variables that are passed on", async () => {
    const cwd = tempFolder({ "part/a.txt": "" });
    const settings = { cwd, env: { PATH: "/bin", MY_KEY: "k", EXTRA: "x" }, passEnv: ["EXTRA"] };
    const { toolContext, access } = await assignmentOf({ settings, permissions: {} }, { cwd: "part" });
    expect(toolContext).toMatchObject({ cwd: join(cwd, "part"), run: "run_test", path: "worker", agent: "worker" });
    expect(toolContext.env).toEqual({ PATH: "/bin", EXTRA: "x", SUBCREW_PARENT: "0/-1 run_test/worker" });
    const located = await access?.locate({ kind: "path", path: "a.txt", change: true });
    expect(located).toMatchObject({ kind: "path", places: ["part/a.txt"], change: true });
  });

  test("a helper with a folder outside of the workspace is refused, unless the folder is allowed", async () => {
    const outside = tempFolder();
    const cwd = tempFolder();
    mkdirSync(join(cwd, "inside"));
    const settings = { cwd, env: {} };
    const helper = { depth: 1 };
    expect(await refusal({ settings, permissions: {} }, { cwd: outside }, helper)).toBe(
      `DENIED: "worker" may not work in ${outside}: it is outside of the folders this run may use.`,
    );
    const opened = { settings, permissions: { writableRoots: [outside] } };
    expect(await refusal(opened, { cwd: outside }, helper)).toBe("it was not refused");
    expect(await refusal({ settings, permissions: {} }, { cwd: "inside" }, helper)).toBe("it was not refused");
  });

  test("a task in a worktree works in the folder of the worktree that stands for its own, also behind a link", async () => {
    const [cwd, top] = [tempFolder({ "part/a.txt": "" }), tempFolder({ "part/a.txt": "" })];
    symlinkSync("part", join(cwd, "link"));
    const worktree = { top, of: cwd, gitDir: join(cwd, ".git") };
    const settings = { cwd, env: {} };
    const { toolContext } = await assignmentOf({ settings }, { cwd: "link" }, { worktree });
    expect(toolContext.cwd).toBe(join(top, "part"));
  });
});

describe("model", () => {
  const models = { first: scripted(), second: scripted(), third: scripted() };

  test("the model of the call wins over the agent's, that over the parent's, and that over the default", async () => {
    const chosen = async (...given: Parameters<typeof assignmentOf>): Promise<string> =>
      (await assignmentOf(...given)).model.name;
    const started = { depth: 1, parentModel: "second" };
    const agent = { model: "third" };
    expect(await chosen({ models })).toBe("first");
    expect(await chosen({ models }, {}, started)).toBe("second");
    expect(await chosen({ models, agent }, {}, started)).toBe("third");
    expect(await chosen({ models, agent }, { model: "first" }, started)).toBe("first");
  });

  test("an unknown model is refused when the user names it, and replaced with a warning when the agent names it", async () => {
    expect(await refusal({ models }, { model: "fourth" })).toMatch(
      /^MODEL_UNKNOWN: No model is available for "worker": fourth: /,
    );
    const facts: Fact[] = [];
    const assigned = await assign(callOf(), worldOf({ models, agent: { model: "fourth" } }), (fact) =>
      facts.push(fact),
    );
    expect("status" in assigned ? assigned : assigned.model.name).toBe("first");
    expect(facts).toMatchObject([{ type: "warning", code: "MODEL_FALLBACK" }]);
  });

  test("a person's task for another program keeps the model it names, and otherwise leaves the choice to the program", async () => {
    const named = await assignmentOf({ models }, { runner: "codex", model: "gpt-5.2" });
    expect(named.model).toMatchObject({ name: "gpt-5.2", id: "gpt-5.2" });
    expect((await assignmentOf({ models }, { runner: "codex" })).model).toMatchObject({ name: "codex", id: "" });
  });

  test("an agent cannot hand the task of a helper to another program", async () => {
    expect(await refusal({}, { runner: "codex" }, { depth: 1 })).toBe(
      'DENIED: "worker" cannot run in codex: no agent may start another agent program on its own.',
    );
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

  test("tasks of one agent that differ in model, day, inputs or project get texts of their own", async () => {
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

  test("a reviewer is told to end with a verdict, unless its prompt says so, or to use the fields of its schema", async () => {
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
    const spec = (name: string) => ({ name, description: name, input: { type: "object" } });
    const fork: NonNullable<Call["fork"]> = {
      task: "run_test/lead",
      turn: 1,
      agent: "lead",
      model: "m",
      system: "You lead.",
      tools: [spec("look"), spec("change"), spec("complete_task")],
      messages: [{ role: "user", text: "Begin." }],
      prefix: { key: "k", chars: 0 },
    };
    const tools = [tool("look"), tool("change", "write")];
    const output = { type: "object", properties: { n: { type: "number" } } };
    const started = { depth: 1, parentModel: "m", fork };
    const narrow = await assignmentOf({ tools, agent: { tools: ["look"], output } }, { prompt: "Count." }, started);
    expect(narrow.prompt.split("\n\n")).toEqual([
      expect.stringContaining('You are now the helper "worker"'),
      expect.stringMatching(/refused: look\.$/),
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
    expect(await refusal({ agent: { output: { type: "nonsense" } } })).toMatch(
      /^INVALID_OUTPUT: The output schema of "worker" is not a valid JSON Schema: /,
    );
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
