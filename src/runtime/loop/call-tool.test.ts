import { describe, expect, test } from "vitest";
import { z } from "zod";
import { assignmentOf, contextOf } from "../../../test/support/task-world.ts";
import type { Agent } from "../../core/agent/agent.ts";
import type { ToolAnswer } from "../../core/model/model.ts";
import type { Task } from "../../core/plan/task.ts";
import { createRedactor } from "../../core/secrets/redact.ts";
import type { Call, Parent, PerformContext } from "../../core/task/engine.ts";
import { defineTool, type Tool } from "../../core/task/tool.ts";
import { stopped } from "../async/cancel.ts";
import { callTool } from "./call-tool.ts";

type Look = Omit<Parameters<typeof defineTool>[0], "name" | "description" | "input">;

/** A tool that takes a text; it only reads unless the test says otherwise. */
const look = (more: Partial<Look> = {}): Tool =>
  defineTool({
    name: "look",
    description: "looks",
    input: z.object({ at: z.string() }),
    effect: "read",
    run: ({ at }) => `saw ${at}`,
    ...more,
  });

const call = (input: unknown = { at: "x" }, name = "look") => ({ id: "c1", name, input });
const never = (): Promise<string> => new Promise(() => {});

describe("a call that is allowed", () => {
  test("is carried out, recorded from its start to its end, and answered under its own id", async () => {
    const { context, facts } = contextOf();
    const answer = await callTool(call(), await assignmentOf({ tools: [look()] }), context);
    expect(answer).toEqual({ id: "c1", name: "look", text: "saw x", error: false });
    expect(facts).toMatchObject([
      { type: "tool.started", call: "c1", tool: "look", effect: "read" },
      { type: "tool.ended", call: "c1", tool: "look", error: false, status: "ok", text: "saw x" },
    ]);
  });

  test("and changes something starts only after its start is recorded", async () => {
    const order: string[] = [];
    const change = look({
      effect: "write",
      run: () => {
        order.push("carried out");
        return "";
      },
    });
    const { context } = contextOf({
      durable: async () => {
        await new Promise(setImmediate);
        order.push("kept");
      },
    });
    await callTool(call(), await assignmentOf({ tools: [change], permissions: { mode: "bypass" } }), context);
    expect(order).toEqual(["kept", "carried out"]);
  });

  test("and delegates always passes on its denials, and its tools where the run or the agent restricts them", async () => {
    const helping = look({
      run: async (_, { delegate }) => {
        const done = await delegate({ mode: "single", task: "help" });
        return "output" in done ? (done.output ?? "") : "";
      },
    });
    const other = { ...look(), name: "other" };
    const passedOn = async (agent: Partial<Agent>, ...more: readonly [task?: Partial<Task>, call?: Partial<Call>]) => {
      const parents: Parent[] = [];
      const { context } = contextOf({
        delegate: async (_, parent) => {
          parents.push(parent);
          return { status: "ok", output: "helped" };
        },
      });
      const assignment = await assignmentOf({ tools: [helping, other], agent, permissions: {} }, ...more);
      expect(await callTool(call(), assignment, context)).toMatchObject({ text: "helped", error: false });
      const { spawns, ceiling, model, policy } = parents[0]!;
      return { spawns, ceiling, model, denied: policy?.deny.map(({ tool }) => tool) };
    };
    const free = { spawns: ["scout"], ceiling: undefined, model: "m", denied: [] };
    const agent = { tools: ["look"], spawns: ["scout"] };
    expect(await passedOn(agent)).toEqual(free);
    expect(await passedOn({ ...agent, disallowedTools: ["other"] })).toEqual({ ...free, denied: ["other"] });
    expect(await passedOn({ ...agent, delegationRule: "ceiling" })).toEqual({ ...free, ceiling: ["look"] });
    expect(await passedOn({ ...agent, tools: ["look", "other"] }, { tools: ["look"] })).toEqual({
      ...free,
      ceiling: ["look"],
    });
    expect(await passedOn(agent, {}, { depth: 1, ceiling: ["look", "grep_files"] })).toEqual({
      ...free,
      ceiling: ["look", "grep_files"],
    });
  });
});

describe("a call that is not allowed never reaches its tool", () => {
  /** Answers a call of a tool that must not be run. */
  async function refused(
    asked: ReturnType<typeof call>,
    { agent = {}, tool = {} }: { agent?: object; tool?: Partial<Look> } = {},
    more: Partial<PerformContext> = {},
  ): Promise<{ answer: ToolAnswer; types: readonly string[] }> {
    let runs = 0;
    const run = (): string => `run ${(runs += 1)}`;
    const tools = [look({ ...tool, run }), { ...look({ run }), name: "other" }];
    const { context, facts } = contextOf(more);
    const answer = await callTool(asked, await assignmentOf({ tools, agent }), context);
    expect(runs).toBe(0);
    return { answer, types: facts.map(({ type }) => type) };
  }

  test("when no tool has that name: the nearest one that the agent may use is named", async () => {
    expect(await refused(call({}, "lok"))).toEqual({
      answer: {
        id: "c1",
        name: "lok",
        text: 'There is no tool "lok". Did you mean "look"?',
        error: true,
        denied: true,
      },
      types: ["tool.denied"],
    });
    const hidden = await refused(call({}, "lok"), { agent: { tools: ["other"] } });
    expect(hidden.answer.text).toBe('There is no tool "lok".');
  });

  test("when the agent may not use the tool", async () => {
    const { answer, types } = await refused(call(), { agent: { tools: ["other"] } });
    expect(answer).toMatchObject({ error: true, denied: true });
    expect(answer.text).toBe(
      'DENIED: Tool "look" is not available for task type "worker" (tools of worker). Continue without it.',
    );
    expect(types).toEqual(["tool.denied"]);
  });

  test("when its arguments are not valid: the model is told what to correct", async () => {
    const { answer, types } = await refused(call({ at: 7 }));
    expect(answer.text).toMatch(/^The arguments of look are not valid: at: .+\. Correct them and call again\.$/);
    expect(answer).not.toHaveProperty("denied");
    expect(types).toEqual(["tool.rejected"]);
  });

  test("when it needs approval, and nobody is available or the person rejects it", async () => {
    const tool = { effect: "write" } as const;
    const alone = await refused(call(), { tool });
    expect(alone.answer.text).toMatch(/^DENIED: look was not carried out: .+, and nobody is available to ask/);
    const no = await refused(
      call(),
      { tool },
      { attended: true, ask: async () => ({ approve: false, text: "not now" }) },
    );
    expect(no.answer).toMatchObject({
      denied: true,
      text: "DENIED: the person said no: not now. Do not try it in another way.",
    });
  });
});

test.each([
  ["failed", new Error("boom")],
  ["failed", Object.assign(new Error("boom"), { code: "ENOENT" })],
  ["not-started", Object.assign(new Error("boom"), { code: "NOT_STARTED" })],
])("a tool that throws is recorded as %s: %o", async (status, thrown) => {
  const { context, facts } = contextOf();
  const broken = look({
    run: () => {
      throw thrown;
    },
  });
  const answer = await callTool(call(), await assignmentOf({ tools: [broken] }), context);
  expect(answer).toMatchObject({ text: "look failed: boom", error: true });
  expect(facts.at(-1)).toMatchObject({ type: "tool.ended", error: true, status });
});

test.each([
  [undefined, ""],
  [null, "null"],
  [7, "7"],
])("a tool that returns %o is answered with %j", async (result, text) => {
  const odd = look({ run: () => result as never });
  const answer = await callTool(call(), await assignmentOf({ tools: [odd] }), contextOf().context);
  expect(answer).toMatchObject({ text, error: false });
});

test("an approval for one call asks again, a permanent one does not", async () => {
  const tools = [look({ effect: "write" })];
  const answers = [{ approve: true }, { approve: true, always: true }];
  const asked: string[] = [];
  const { context } = contextOf({
    attended: true,
    ask: async (question) => {
      asked.push(question);
      return answers.shift();
    },
  });
  const assignment = await assignmentOf({ tools, permissions: {} });
  for (let n = 0; n < 3; n += 1) expect((await callTool(call(), assignment, context)).text).toBe("saw x");
  expect(asked).toHaveLength(2);
});

describe("a tool that fails gives an error result", () => {
  const ended = async (tool: Tool, more: Partial<PerformContext> = {}, secrets: readonly string[] = []) => {
    const { context, facts } = contextOf(more);
    const parts = { tools: [tool], redactor: createRedactor(secrets) };
    const { text, error } = await callTool(call(), await assignmentOf(parts), context);
    const last = facts.at(-1);
    return { text, error, status: last?.type === "tool.ended" ? last.status : undefined };
  };

  test("when it throws: the model reads the reason without the secrets in it", async () => {
    const throwing = look({
      run: () => {
        throw new Error("no answer from tok_1234567890abc");
      },
    });
    expect(await ended(throwing, {}, ["tok_1234567890abc"])).toEqual({
      text: "look failed: no answer from [redacted]",
      error: true,
      status: "failed",
    });
  });

  test("when it times out or the task is cancelled: the task does not wait for it", async () => {
    expect(await ended(look({ timeoutMs: 1, run: never }))).toEqual({
      text: "look failed: look took longer than 1 ms",
      error: true,
      status: "timeout",
    });
    const controller = new AbortController();
    const run = (): Promise<string> => {
      controller.abort(stopped("enough"));
      return never();
    };
    expect(await ended(look({ run }), { signal: controller.signal })).toEqual({
      text: "look failed: enough",
      error: true,
      status: "cancelled",
    });
  });
});

test("of a long result the model reads the tail and the path of the full output, without known secrets", async () => {
  const whole = `first line\n${"line\n".repeat(20_000)}key tok_1234567890abc\nlast line`;
  const kept: string[] = [];
  const assignment = await assignmentOf({
    tools: [look({ run: () => whole })],
    redactor: createRedactor(["tok_1234567890abc"]),
    outputs: {
      recorded: async () => ({ hash: "", bytes: 0 }),
      keep: async (run, path, text) => {
        kept.push(text);
        return `/outputs/${run}/${path}.md`;
      },
      file: async () => undefined,
    },
  });
  const { text } = await callTool(call(), assignment, contextOf().context);
  expect(text.split("\n")[0]).toBe("[the beginning was cut; all of it is in /outputs/run_test/worker.look-1.md]");
  expect(text.endsWith("line\nkey [redacted]\nlast line")).toBe(true);
  expect(text).not.toContain("first line");
  expect(text.length).toBeLessThan(whole.length);
  expect(kept).toEqual([whole]);
});
