import { getEventListeners } from "node:events";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { assignmentOf, contextOf, type WorldParts } from "../../../test/support/task-world.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { Agent } from "../../core/agent/agent.ts";
import type { ToolAnswer } from "../../core/model/model.ts";
import type { Task } from "../../core/plan/task.ts";
import { createRedactor } from "../../core/secrets/redact.ts";
import type { Call, Parent, PerformContext } from "../../core/task/engine.ts";
import type { Assignment } from "../../core/task/runner.ts";
import type { TaskAccess } from "../../core/task/task-access.ts";
import { defineTool, type Tool, type ToolContext } from "../../core/task/tool.ts";
import { MAX_OUTPUT_BYTES } from "../../core/text/cut.ts";
import { stopped } from "../async/cancel.ts";
import { deferred } from "../async/deferred.ts";
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

  test("that changes something starts only after its start is recorded", async () => {
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

  test("that delegates always passes on the denied tools, and the allowed tools where the run or the agent restricts them", async () => {
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

  test("if no tool has the requested name: the nearest tool that the agent may use is suggested", async () => {
    expect(await refused(call({}, "lok"))).toEqual({
      answer: {
        id: "c1",
        name: "lok",
        text: 'Unknown tool "lok". Did you mean "look"?',
        error: true,
        denied: true,
      },
      types: ["tool.denied"],
    });
    const hidden = await refused(call({}, "lok"), { agent: { tools: ["other"] } });
    expect(hidden.answer.text).toBe('Unknown tool "lok".');
  });

  test("when the agent may not use the tool", async () => {
    const { answer, types } = await refused(call(), { agent: { tools: ["other"] } });
    expect(answer).toMatchObject({ error: true, denied: true });
    expect(answer.text).toBe(
      'DENIED: Tool "look" is not available for task type "worker" (tools of worker). Continue without it.',
    );
    expect(types).toEqual(["tool.denied"]);
  });

  test("when it would delegate, and the agent may not start others", async () => {
    const { answer, types } = await refused(call({}, "Task"), { agent: { tools: ["look"] } });
    expect(types).toEqual(["tool.denied"]);
    expect(answer).toMatchObject({
      denied: true,
      text: expect.stringMatching(/^DENIED: Tool "Task" is not available/),
    });
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
  ["failed", "boom"],
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

test("an approval for one call is not reused for another call; a permanent approval is", async () => {
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

test("the model reads the tail of a long result and the path of the full output, without known secrets", async () => {
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
  const { context, facts } = contextOf();
  const { text } = await callTool(call(), assignment, context);
  expect(facts.at(-1)).toMatchObject({ type: "tool.ended", files: ["/outputs/run_test/worker.look-1.md"] });
  expect(text.split("\n")[0]).toBe("[the beginning was cut; the full output is in /outputs/run_test/worker.look-1.md]");
  expect(text.endsWith("line\nkey [redacted]\nlast line")).toBe(true);
  expect(text).not.toContain("first line");
  expect(text.length).toBeLessThan(whole.length);
  expect(kept).toEqual([whole]);
});

describe("a call that comes too late", () => {
  test("is not started if its task was cancelled during the approval, and nothing is recorded", async () => {
    const controller = new AbortController();
    const { context, facts } = contextOf({
      signal: controller.signal,
      attended: true,
      ask: async () => {
        controller.abort(stopped("enough"));
        return { approve: true };
      },
    });
    const assignment = await assignmentOf({ tools: [look({ effect: "write" })], permissions: {} });
    expect(await callTool(call(), assignment, context)).toEqual({
      id: "c1",
      name: "look",
      text: "This call was not carried out.",
      error: true,
    });
    expect(facts.filter(({ type }) => type === "tool.started")).toEqual([]);
  });

  test("is not carried out when the task is cancelled while its start is recorded", async () => {
    const controller = new AbortController();
    let runs = 0;
    const change = look({ effect: "write", run: () => `run ${(runs += 1)}` });
    const { context, facts } = contextOf({
      signal: controller.signal,
      durable: async () => controller.abort(stopped("enough")),
    });
    const assignment = await assignmentOf({ tools: [change], permissions: { mode: "bypass" } });
    expect(await callTool(call(), assignment, context)).toMatchObject({
      text: "look was not carried out: enough",
      error: true,
    });
    expect(facts.at(-1)).toMatchObject({ type: "tool.ended", status: "cancelled", error: true });
    expect(runs).toBe(0);
  });
});

describe("a result", () => {
  const resultOf = async (result: unknown, parts: WorldParts = {}, model = "m") => {
    const { context, facts } = contextOf();
    const assignment = await assignmentOf({ tools: [look({ run: () => result as never })], ...parts });
    const answer = await callTool(call(), { ...assignment, model: { ...assignment.model, id: model } }, context);
    const ended = facts.find((fact) => fact.type === "tool.ended");
    return { answer, ended: ended! };
  };
  const image = (name: string, data = "aGk=") => ({ name, type: "image/png", data });

  test("that is an error is shown as an error, and its status is recorded", async () => {
    const failing = await resultOf({ text: "no", error: true });
    expect([failing.answer.error, failing.ended.status]).toEqual([true, "failed"]);
    const late = await resultOf({ text: "no", error: true, status: "timeout" });
    expect([late.answer.error, late.ended.status]).toEqual([true, "timeout"]);
  });

  test("has details that are recorded, unless JSON cannot express them or they are too long or too deep", async () => {
    const details = async (value: unknown): Promise<unknown> => (await resultOf({ text: "", details: value })).ended;
    expect(await details({ found: 2 })).toHaveProperty("details", { found: 2 });
    const longest = "x".repeat(200_000 - 2);
    expect(await details(longest)).toHaveProperty("details", longest);
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    let deep: unknown = 1;
    for (let level = 0; level < 300; level += 1) deep = [deep];
    for (const value of [`${longest}x`, cycle, deep, undefined, 1n])
      expect(await details(value)).not.toHaveProperty("details");
  });

  test("has images for a model that takes them: those in a known format, at most twenty", async () => {
    const many = [
      image("a"),
      { ...image("b"), type: "image/bmp" },
      ...Array.from({ length: 25 }, (_, at) => image(`${at}`)),
    ];
    const shown = async (model: string, images: readonly unknown[]): Promise<unknown> =>
      (await resultOf({ text: "seen", images }, {}, model)).answer.images;
    expect(await shown("claude-x", many)).toHaveLength(20);
    expect(await shown("claude-x", many.slice(0, 2))).toEqual([image("a")]);
    expect(await shown("claude-x", many.slice(1, 2))).toBeUndefined();
    expect(await shown("deepseek", many)).toBeUndefined();
  });

  test("of any other kind is shown as JSON, and a result that is nested too deeply is an error", async () => {
    expect((await resultOf({ found: ["a"] })).answer.text).toBe('{"found":["a"]}');
    expect((await resultOf({ text: 7 })).answer.text).toBe('{"text":7}');
    expect((await resultOf(() => "x")).answer.text).toBe("function");
    let deep: unknown = 1;
    for (let level = 0; level < 300; level += 1) deep = [deep];
    const { answer, ended } = await resultOf(deep);
    expect(answer.text).toMatch(/^look failed: its result is /);
    expect(ended.status).toBe("failed");
  });

  test("that was saved to a file may be read from that file, and is shown whole if it is short", async () => {
    const { answer, ended } = await resultOf({ text: "the end", file: "/outputs/x.md" });
    expect(answer.text).toBe("the end");
    expect(ended.files).toEqual(["/outputs/x.md"]);
    expect((await resultOf("x")).ended).not.toHaveProperty("files");
    const long = await resultOf({ text: "line\n".repeat(20_000), file: "/outputs/x.md" });
    expect(long.answer.text).toMatch(/^\[the beginning was cut; the full output is in \/outputs\/x\.md\]\n/);
  });

  test("that is short once its secrets are masked is shown whole, if all of it was searched for secrets", async () => {
    const secret = "s3cret-".repeat(147).slice(0, 1_023);
    const redactor = createRedactor([secret]);
    const searched = `${secret}\n`.repeat(200);
    expect(searched).toHaveLength(4 * MAX_OUTPUT_BYTES);
    const lines = "[redacted]\n".repeat(200);
    expect((await resultOf(searched, { redactor })).answer.text.trim()).toBe(lines.trim());
    expect((await resultOf(`\n${searched}`, { redactor })).answer.text).toMatch(
      /^\[the beginning was cut\]\n\[redacted\]/,
    );
  });

  test("that is too long is cut as the settings say, with a note when no file holds all of it", async () => {
    const settings = { cwd: tempFolder(), env: {}, output: { maxLines: 2 } };
    expect((await resultOf("a\nb\nc", { settings })).answer.text).toBe("[the beginning was cut]\nb\nc");
    expect((await resultOf("b\nc", { settings })).answer.text).toBe("b\nc");
  });
});

test("a tool whose access is denied returns the denial, and the call is recorded as denied", async () => {
  const refusal = Object.assign(new Error("a/b is outside"), { name: "Refusal", code: "OUTSIDE" });
  const missing = Object.assign(new Error("a/b is missing"), { name: "Refusal", code: "MISSING" });
  const thrown = async (error: Error) => {
    const { context, facts } = contextOf();
    const run = (): never => {
      throw error;
    };
    const answer = await callTool(call(), await assignmentOf({ tools: [look({ run })] }), context);
    return { answer, types: facts.map(({ type }) => type), denied: facts.find(({ type }) => type === "tool.denied") };
  };
  const denied = await thrown(refusal);
  expect(denied.answer).toMatchObject({ text: "DENIED: a/b is outside.", error: true, denied: true });
  expect(denied.types).toEqual(["tool.started", "tool.denied", "tool.ended"]);
  expect(denied.denied).toMatchObject({ call: "c1", tool: "look", rule: "outside" });
  const absent = await thrown(missing);
  expect(absent.answer).toMatchObject({ text: "look failed: a/b is missing", error: true });
  expect(absent.answer).not.toHaveProperty("denied");
  expect(absent.types).toEqual(["tool.started", "tool.ended"]);
});

test("reports, questions and messages of a tool carry the id of its call, and a stopped tool stops asking", async () => {
  const lived: unknown[] = [];
  const told: string[] = [];
  const asked: unknown[] = [];
  const { context } = contextOf({
    live: (event) => void lived.push(event),
    tell: (text) => void told.push(text),
    ask: async (question, options) => {
      asked.push([question, options?.call, options?.wants, options?.signal instanceof AbortSignal]);
      return { approve: true };
    },
  });
  const talking = look({
    run: async (_, { report, notify, ask }) => {
      report("half");
      notify("note");
      return JSON.stringify(await ask?.("sure?", { wants: "words" }));
    },
  });
  const answer = await callTool(call(), await assignmentOf({ tools: [talking] }), context);
  expect(answer.text).toBe('{"approve":true}');
  expect(lived).toEqual([{ type: "tool.delta", call: "c1", text: "half" }]);
  expect(told).toEqual(["note"]);
  expect(asked).toEqual([["sure?", "c1", "words", true]]);
});

test("a tool that is stopped waits for the agents that it started", async () => {
  const controller = new AbortController();
  const helper = deferred<{ status: "ok"; output: string }>();
  const helping = look({
    run: async (_, { delegate }) => {
      void delegate({ mode: "single", task: "help" }).catch(() => {});
      controller.abort(stopped("enough"));
      return never();
    },
  });
  const { context } = contextOf({ signal: controller.signal, delegate: () => helper.promise });
  let isOver = false;
  const calling = callTool(call(), await assignmentOf({ tools: [helping], permissions: {} }), context).finally(() => {
    isOver = true;
  });
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  expect(isOver).toBe(false);
  helper.resolve({ status: "ok", output: "" });
  expect((await calling).text).toBe("look failed: enough");
});

test("a call is shown with its subject, and a call whose file is missing is rejected without a run", async () => {
  const reading = look({ subjects: ({ at }) => [{ kind: "path", path: at, change: false }] });
  const missing = Object.assign(new Error("x is missing"), { name: "Refusal", code: "MISSING" });
  const { context, facts } = contextOf();
  const assignment = await assignmentOf({ tools: [reading], permissions: {} });
  await callTool(call({ at: "a/b" }), assignment, context);
  expect(facts[0]).toMatchObject({ type: "tool.started", preview: "at: a/b" });
  const locate = async (): Promise<never> => {
    throw missing;
  };
  const answer = await callTool(call(), { ...assignment, access: { ...assignment.access!, locate } }, context);
  expect(answer).toMatchObject({ text: "look failed: x is missing", error: true });
  expect(facts.at(-1)).toMatchObject({ type: "tool.rejected", reason: "look failed: x is missing" });
});

test("a tool gets what its task may use: agents, messages, its checked subjects and the network that a person allowed", async () => {
  const seen: ToolContext[] = [];
  const using = look({
    subjects: ({ at }) => [{ kind: "path", path: at, change: false }],
    run: (_, given) => {
      seen.push(given);
      return "";
    },
  });
  const agents = async (): Promise<never> => Promise.reject(new Error("not asked"));
  const send = async (): Promise<never> => Promise.reject(new Error("not sent"));
  const { context } = contextOf({ agents, send });
  const assignment = await assignmentOf({ tools: [using], agent: { spawns: ["scout"] }, permissions: {} });
  await callTool(call({ at: "a" }), assignment, context);
  expect(seen[0]).toMatchObject({ run: "run_test", path: "worker", agent: "worker", agents, send });
  expect(seen[0]!.access).toMatchObject({ judged: [{ kind: "path", places: ["a"], change: false }] });
  expect(seen[0]!.access?.check({ kind: "path", places: [".git/config"], change: true }).decision).not.toBe("allow");
  expect(seen[0]).not.toHaveProperty("background");
});

test("a tool that starts agents in the background may read the files that they will write", async () => {
  const parents: Parent[] = [];
  const started = { key: "h1", files: { help: "/outputs/help.md" } };
  const { context, facts } = contextOf({
    background: {
      silent: true,
      start: async (_what, parent) => {
        parents.push(parent);
        return started as never;
      },
      ended: async () => undefined,
      stop: async () => false,
    },
  });
  const starting = look({
    run: async (_, { background }) => {
      const begun = await background!.start({ mode: "single", task: "help" }, "message" as never);
      return JSON.stringify([begun, background!.silent, await background!.stop("h1", "")]);
    },
  });
  const assignment = await assignmentOf({ tools: [starting], agent: { spawns: ["scout"] } });
  const { text } = await callTool(call(), assignment, context);
  expect(JSON.parse(text)).toEqual([started, true, false]);
  expect(parents[0]?.spawns).toEqual(["scout"]);
  expect(facts.at(-1)).toMatchObject({ type: "tool.ended", files: ["/outputs/help.md"] });
});

test("a tool that is aborted with a reason that is not from subcrew is reported as stopped", async () => {
  const controller = new AbortController();
  const run = (): Promise<string> => {
    controller.abort({ other: 1 });
    return never();
  };
  const { context } = contextOf({ signal: controller.signal });
  const { text } = await callTool(call(), await assignmentOf({ tools: [look({ run })] }), context);
  expect(text).toBe("look failed: it was stopped");
});

test("a tool that delegates may read the outputs of the agents that it waited for", async () => {
  const { context, facts } = contextOf({
    delegate: async () => ({
      status: "ok",
      output: "helped",
      under: "worker/",
      nodes: { help: { status: "ok", output: "all of it", artifact: { hash: "", bytes: 9 } } },
    }),
  });
  const helping = look({
    run: async (_, { delegate }) => {
      await delegate({ mode: "single", task: "help" });
      return "done";
    },
  });
  const none = async () => undefined;
  const outputs = {
    recorded: async () => ({ hash: "", bytes: 0 }),
    keep: none,
    file: async (run: string, path: string) => `/outputs/${run}/${path}.md`,
  };
  await callTool(call(), await assignmentOf({ tools: [helping], outputs }), context);
  expect(facts.at(-1)).toMatchObject({ type: "tool.ended", files: ["/outputs/run_test/worker/help.md"] });
});

test("a tool that delegates and then fails may still read the outputs of the agents that it waited for", async () => {
  const { context, facts } = contextOf({ background: startsWith("/outputs/help.md") });
  const allowed: (readonly string[])[] = [];
  const failing = look({
    run: async (_, { background }) => {
      await background!.start({ mode: "single", task: "help" }, "message" as never);
      throw new Error("boom");
    },
  });
  const assignment = await accessing([failing], { allowReading: (files) => void allowed.push(files) });
  await callTool(call(), assignment, context);
  expect(facts.at(-1)).toMatchObject({ type: "tool.ended", status: "failed", files: ["/outputs/help.md"] });
  expect(allowed).toContainEqual(["/outputs/help.md"]);
});

const startsWith = (file: string): NonNullable<PerformContext["background"]> => ({
  silent: true,
  start: async () => ({ key: "h1", files: { help: file } }) as never,
  ended: async () => undefined,
  stop: async () => false,
});

/** An assignment whose access is replaced in parts. */
async function accessing(tools: readonly Tool[], access: Partial<TaskAccess>): Promise<Assignment> {
  const assignment = await assignmentOf({ tools, permissions: { mode: "bypass" } });
  return { ...assignment, access: { ...assignment.access!, ...access } };
}

test("a call reports its duration, and leaves no timer and no listener behind", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { signal } = new AbortController();
  const { context, facts } = contextOf({ signal });
  const assignment = await assignmentOf({ tools: [look()] });
  const began = performance.now();
  await callTool(call(), assignment, context);
  const ended = facts.find((fact) => fact.type === "tool.ended");
  expect(ended?.ms).toBeLessThanOrEqual(Math.ceil(performance.now() - began));
  expect(vi.getTimerCount()).toBe(0);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

describe("the changes of a call", () => {
  const file = { file: "/a", before: { kind: "absent" }, after: { kind: "absent" } } as never;
  const changing = async (tool: Partial<Look>, seen: object = { files: [file] }) => {
    const { context, facts } = contextOf({ attended: true, ask: async () => ({ approve: true }) });
    const watched: (readonly string[])[] = [];
    const changes = {
      watch: async (folders: readonly string[]) => {
        watched.push(folders);
        return async () => seen;
      },
    } as unknown as NonNullable<TaskAccess["changes"]>;
    const assignment = await accessing([look({ effect: "write", ...tool })], { changes, roots: ["/more"] });
    expect(await callTool(call(), assignment, context)).toMatchObject({ error: false });
    const told = facts.flatMap(({ type, ...fact }) => (type === "files.changed" ? [fact] : []));
    return { watched, told, cwd: assignment.toolContext.cwd };
  };
  const runs = (...commands: string[]): Partial<Look> => ({
    subjects: () => commands.map((command) => ({ kind: "command" as const, command })),
  });

  test("are looked for below its folders, and recorded if there are any", async () => {
    const { watched, told, cwd } = await changing({});
    expect(watched).toEqual([[cwd, "/more"]]);
    expect(told).toEqual([{ call: "c1", files: [file] }]);
    expect((await changing({}, { files: [] })).told).toEqual([]);
    expect((await changing({}, { files: [], unseen: "too many files" })).told).toEqual([
      { call: "c1", files: [], unseen: "too many files" },
    ]);
  });

  test("are not looked for when it runs no program, or only read-only programs", async () => {
    expect((await changing({ does: "write" })).watched).toEqual([]);
    expect((await changing({ effect: "read" })).watched).toEqual([]);
    expect((await changing(runs("ls"))).watched).toEqual([]);
    expect((await changing(runs("ls", "cat a"))).watched).toEqual([]);
    expect((await changing(runs("ls", "touch a"))).watched).toHaveLength(1);
  });

  test("are recorded by a file tool before they are made", async () => {
    const order: string[] = [];
    const { context, facts } = contextOf({
      durable: async () => {
        await new Promise(setImmediate);
        order.push("kept");
      },
    });
    const changes = { keep: async () => {}, version: async () => {}, watch: async () => {} } as never;
    const writing = look({
      run: async (_, { access }) => {
        await access!.changes!.record([file]);
        order.push("made");
        return "";
      },
    });
    await callTool(call(), await accessing([writing], { changes }), context);
    expect(order).toEqual(["kept", "made"]);
    expect(facts[1]).toEqual({ type: "files.changed", call: "c1", files: [file], ahead: true });
  });
});

test("a tool gets the commands and the files that its task may use", async () => {
  const seen: ToolContext[] = [];
  const using = look({
    run: (_, given) => {
      seen.push(given);
      return "";
    },
  });
  const handed = { folder: "/outputs" } as never;
  const commands = async (): Promise<never> => Promise.reject(new Error("not run"));
  await callTool(call(), await accessing([using], { handed, commands }), contextOf().context);
  expect(seen[0]!.access).toMatchObject({ handed, commands });
});

test("the report of the checker follows a successful change, but not a failed change", async () => {
  const run = async () => ({ ended: "exited", code: 1, text: "a.ts is wrong" });
  const bash = { ...look({ effect: "write" }), name: "bash" };
  const answered = async (tool: Partial<Look>): Promise<string> => {
    const assignment = await accessing([look({ effect: "write", does: "write", ...tool }), bash], {
      commands: async () => ({ run }) as never,
    });
    return (await callTool(call(), { ...assignment, diagnostics: { command: "check" } }, contextOf().context)).text;
  };
  expect(await answered({})).toBe("saw x\n\nDiagnostics of `check` (exit code 1):\na.ts is wrong");
  expect(await answered({ run: () => ({ text: "no", error: true }) })).toBe("no");
});
