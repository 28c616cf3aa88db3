import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Agent, AgentInput } from "../../src/core/agent/agent.ts";
import { convertInputConfigToJsonSchema } from "../../src/core/agent/inputs.ts";
import type { Model } from "../../src/core/model/model.ts";
import { exitCodeOf, type Outcome } from "../../src/core/outcome/outcome.ts";
import { templateString } from "../../src/core/text/input-template.ts";
import { readBundledAgents } from "../../src/formats/bundled.ts";
import { GRACE_MS } from "../../src/core/vocabulary/limits.ts";
import { createCrew, defineAgent, defineTool, type Event } from "../../src/index.ts";
import { never, type Script, type ScriptedModel, scripted } from "../../src/models/scripted/scripted.ts";
import { patiently } from "../support/patiently.ts";
import { call, stage } from "../support/stage.ts";
import { cases, isTryingChanges } from "./harness.ts";

const bundledAgents = readBundledAgents().map(({ agent }) => agent);

describe("template: placeholders in a text are replaced by inputs", () => {
  type Input = { template: string; inputs: Record<string, unknown> };
  test.each(cases<Input, string | { throws: string }>("004-gemini", "template"))("$name", ({ input, want }) => {
    const inputs = Object.fromEntries(
      Object.entries(input.inputs).map(([name, value]) => [name, value === "<undefined>" ? undefined : value]),
    );
    const fill = (): string => templateString(input.template, inputs);
    if (typeof want === "string") expect(fill()).toBe(want);
    else expect(fill).toThrow(want.throws);
  });
});

describe("input-schema", () => {
  test.each(cases<{ inputs: Record<string, AgentInput> }, object>("004-gemini", "input-schema"))(
    "$name",
    ({ input, want }) => {
      expect(convertInputConfigToJsonSchema(input)).toEqual(want);
    },
  );
});

type Call = { tool: string; args?: Record<string, unknown>; fails?: string; takes_s?: number };
type LoopInput = {
  output?: { outputName: string; schema: string } | null;
  turns?: (Call[] | "hangs")[];
  max_turns?: number;
  timeout_mins?: number;
};
type LoopWant = {
  second_call_error_contains?: string;
  result?: string;
  result_contains?: string;
  terminate_reason?: string;
  model_calls?: number;
  tool_executions?: number;
  concurrent?: boolean;
  error_sent_back?: string;
  complete_task_required?: string[];
  activities?: string[];
  activity_error?: string;
};

/** The reason of an outcome, in the words of system 004. */
const reasonOf = (outcome: Outcome): string => {
  if (outcome.status === "ok") return "GOAL";
  if (outcome.status === "cancelled") return "ABORTED";
  if (outcome.status === "skipped") return "SKIPPED";
  return outcome.fault.code === "EMPTY" || outcome.fault.code === "INVALID_OUTPUT"
    ? "ERROR_NO_COMPLETE_TASK_CALL"
    : outcome.fault.code;
};

type Setting = Readonly<{ times?: number; cancelAt?: Event["type"] }>;

async function play({ output, turns = [], max_turns, timeout_mins }: LoopInput, { times = 1, cancelAt }: Setting = {}) {
  let atWork = 0;
  let most = 0;
  let executed = 0;
  const fails = new Map<string, string>();
  const scripts = turns.map((turn): Script => {
    if (turn === "hangs") return turn;
    for (const { tool, fails: why } of turn) if (why !== undefined) fails.set(tool, why);
    return {
      calls: turn.map(({ tool, args = {}, takes_s }) => ({
        name: tool,
        input: takes_s === undefined ? args : { ...args, slow: true },
      })),
    };
  });
  const played: ScriptedModel = scripted(...scripts.map((script): Script => (script === "hangs" ? "" : script)));
  const model: Model = (request, signal) =>
    scripts[played.requests.length] === "hangs"
      ? (played(request, AbortSignal.abort())[Symbol.asyncIterator]().next(), never(request, signal))
      : played(request, signal);
  const list = defineTool({
    name: "list_directory",
    description: "lists",
    input: z.looseObject({ slow: z.boolean().optional() }),
    effect: "read",
    run: async ({ slow }, { signal }) => {
      executed += 1;
      atWork += 1;
      most = Math.max(most, atWork);
      await new Promise((resolve) => setImmediate(resolve));
      if (slow) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      atWork -= 1;
      const why = fails.get("list_directory");
      if (why !== undefined) throw new Error(why);
      return `file1.txt ${executed}`;
    },
  });
  const agent: Agent = {
    name: "test-agent",
    description: "d",
    instructions: "i",
    completion: "tool",
    // Cases without an output name come from tests in which the name is `finalResult`.
    ...(JSON.stringify(turns).includes("finalResult") && { outputName: "finalResult" }),
    ...(output && { output: { type: output.schema }, outputName: output.outputName }),
    limits: {
      graceMs: 60 * times,
      ...(max_turns !== undefined && { maxTurns: max_turns }),
      ...(timeout_mins !== undefined && { maxDurationMs: 40 * times }),
    },
  };
  const crew = createCrew({
    home: false,
    discover: false,
    agents: [agent],
    tools: [list],
    models: { m: model },
    model: "m",
  });
  const run = crew.run({ mode: "single", agent: agent.name, task: "Do it." });
  const events: Event[] = [];
  for await (const event of run) {
    events.push(event);
    if (event.type === cancelAt) run.cancel();
  }
  const { nodes } = await run;
  return { outcome: nodes["test-agent"]!, requests: played.requests, executed, most, events };
}

type Played = Awaited<ReturnType<typeof play>>;

describe("executor-loop", () => {
  type Named = LoopWant & {
    ms?: number;
    recovery_attempted?: boolean;
    keys?: string[];
    id_regex?: string;
    history_replaced?: number;
  } & Record<string, unknown>;
  const all = cases<LoopInput & { abort?: string; models?: string[] }, Named>("004-gemini", "executor-loop");

  /** Our text about an end: the result, or the reason why there is none. */
  const saidBy = (outcome: Outcome): string =>
    outcome.status === "ok" ? outcome.output : outcome.status === "failed" ? outcome.fault.message : outcome.status;

  /** Cases that are not about the turns of one agent. */
  const others: Readonly<Record<string, (want: Named, models?: string[]) => void | Promise<void>>> = {
    "grace period": (want) => expect({ ms: GRACE_MS }).toEqual(want),

    "external abort: no recovery": async (want) => {
      const { outcome, requests } = await play({ turns: ["hangs"] }, { cancelAt: "turn.started" });
      expect({ terminate_reason: reasonOf(outcome), recovery_attempted: requests.length > 1 }).toEqual(want);
    },

    "runtime inputs available to templates": async ({ keys = [] }) => {
      const instructions = keys.map((key) => `${key}: \${${key}}`).join("\n");
      const { models } = await stage({ lead: { instructions, inputs: {}, says: ["done"] } });
      const system = models["lead"]!.requests[0]!.system;
      expect(keys.filter((key) => system.includes(`${key}: `) && !system.includes(`{${key}}`))).toEqual(keys);
    },

    "agent id carries the parent prompt id": async ({ id_regex = "" }) => {
      const { events } = await stage({
        lead: {
          tools: ["*", "delegate_to_agent"],
          delegation: ["delegate_to_agent"],
          says: [call("delegate_to_agent", { agent_name: "TestAgent", query: "go" }), "done"],
        },
        TestAgent: { says: ["done"] },
      });
      const started = events.find((event) => event.type === "node.started" && event.path !== "lead");
      expect(`${started?.run}/${started?.path}`).toMatch(new RegExp(id_regex));
    },

    'model "auto" goes through the router, other names do not': async (want, models = []) => {
      const asked = await Promise.all(
        models.map(async (model) => {
          const made = Object.fromEntries(Object.values(want).map((name) => [String(name), scripted("done")]));
          const agent = defineAgent({ name: "a", description: "d", instructions: "i", model });
          const crew = createCrew({
            home: false,
            discover: false,
            agents: [agent],
            models: made,
            model: "routed-model",
          });
          await crew.run({ mode: "single", agent: "a", task: "x" });
          return [model, Object.keys(made).find((name) => made[name]!.requests.length > 0)];
        }),
      );
      expect(Object.fromEntries(asked)).toEqual(want);
    },

    "history compression attempted every turn; after a failed attempt flag is passed; success resets it": async (
      want,
    ) => {
      const long = defineTool({
        name: "long",
        description: "much",
        input: z.object({ at: z.number() }),
        effect: "read",
        run: ({ at }) => `${at}${"x".repeat(5_000)}`,
      });
      const turns = [1, 2, 3, 4].map((at): Script => ({ calls: [{ name: "long", input: { at } }] }));
      const model = scripted(
        ...turns,
        { error: { code: "MODEL_CONTEXT", message: "too long", retryable: false } },
        "the summary",
        "done",
      );
      const crew = createCrew({ home: false, discover: false, tools: [long], models: { m: model }, model: "m" });
      const run = crew.run({ mode: "single", task: "x", tools: ["long"] });
      const events: Event[] = [];
      for await (const event of run) events.push(event);
      expect(await run).toMatchObject({ status: "ok", output: "done" });
      expect({ history_replaced: events.filter(({ type }) => type === "context.compacted").length }).toEqual(want);
    },
  };

  test.each(all)("$name", async ({ name, input, want }) => {
    const other = others[name];
    if (other) return other(want, input.models);
    const attempt = async (times: number): Promise<void> => held(await play(input, { times }), want);
    await (isTryingChanges() ? attempt(10) : patiently(attempt));
  });

  const held = ({ outcome, requests, executed, most, events }: Played, want: LoopWant): void => {
    const ended = events.filter((event) => ["tool.ended", "tool.denied", "tool.rejected"].includes(event.type));
    const saw = (text: string): boolean => ended.some((event) => JSON.stringify(event).includes(text));
    const activities = events.flatMap((event) => (event.type === "limit.reached" ? [event.text] : []));
    const checks: { [Key in keyof Required<LoopWant>]: (value: NonNullable<LoopWant[Key]>) => void } = {
      terminate_reason: (reason) => expect(reasonOf(outcome)).toBe(reason),
      result: (text) => expect(saidBy(outcome)).toBe(text),
      result_contains: (text) => expect(saidBy(outcome)).toContain(text),
      model_calls: (count) => expect(requests).toHaveLength(count),
      tool_executions: (count) => expect(executed).toBe(count),
      concurrent: (yes) => expect(most > 1 && most === executed).toBe(yes),
      error_sent_back: (text) =>
        expect(JSON.stringify(requests[1]?.messages.at(-1))).toContain(JSON.stringify(text).slice(1, -1)),
      complete_task_required: (names) =>
        expect(requests[0]?.tools.find(({ name }) => name === "complete_task")?.input["required"]).toEqual(names),
      activities: (texts) => expect(activities).toEqual(texts),
      second_call_error_contains: (text) =>
        expect(events.flatMap((event) => (event.type === "tool.rejected" ? [event.text] : []))).toEqual([
          expect.stringContaining(text),
        ]),
      activity_error: (text) => expect([saw(text), events]).toEqual([true, events]),
    };
    for (const [key, value] of Object.entries(want)) (checks[key as keyof LoopWant] as (value: unknown) => void)(value);
  };
});

describe("completion of system 000", () => {
  type Want = Readonly<Record<string, unknown>>;
  type Submitted = { status: string; error?: string; data?: unknown };
  type Asked = Readonly<{
    schema?: Record<string, unknown>;
    raw?: string;
    stderr?: string;
    submit?: Submitted | null;
  }> &
    Readonly<{ modelOverride?: string[]; thinkingLevel?: Agent["thinking"] }>;
  const start = (model: ScriptedModel, more: Partial<Agent>) =>
    createCrew({
      home: false,
      discover: false,
      agents: [{ name: "a", description: "d", instructions: "i", ...more }],
      models: { m: model },
      model: "m",
    }).run({ mode: "single", agent: "a", task: "x" });
  const done = async (model: ScriptedModel, more: Partial<Agent>): Promise<Outcome> =>
    (await start(model, more)).nodes["a"]!;
  const faultOf = (outcome: Outcome): string => (outcome.status === "failed" ? outcome.fault.message : "");
  const outputOf = (outcome: Outcome): string => ("output" in outcome ? (outcome.output ?? "") : "");

  /** How subcrew answers each case, in the words of its expectation. */
  const answers: Readonly<Record<string, (input: Asked) => Promise<Want>>> = {
    "explicit model suffix beats thinking level": async ({ modelOverride = [], thinkingLevel = "high" }) => {
      const asked = modelOverride.map(async (word) => {
        const model = scripted("done");
        await done(model, { model: `m${word.slice(word.indexOf(":"))}`, thinking: thinkingLevel });
        return model.requests[0]!.thinking;
      });
      return { thinking: await Promise.all(asked) };
    },
    "cancelled before start": async () => {
      const model = scripted("never said");
      const run = start(model, {});
      run.cancel("Cancelled before start");
      const outcome = (await run).nodes["a"]!;
      expect(model.requests).toEqual([]);
      return {
        aborted: outcome.status === "cancelled",
        reason: outcome.status === "cancelled" ? outcome.reason : undefined,
      };
    },
    "reminder restricts tools to the completion tool and forces it": async () => {
      const model = scripted("did work", "did more", "and more", "and more", "and more");
      await done(model, { completion: "tool" });
      const [, ...reminded] = model.requests;
      return {
        reminders_max: reminded.length,
        tools_during: [
          ...new Set(reminded.flatMap(({ toolChoice }) => (typeof toolChoice === "object" ? [toolChoice.tool] : []))),
        ],
      };
    },
    "never submitted but text matches schema": async ({ raw = "", schema = {} }) => {
      const output = { ...schema, properties: { ok: { type: "boolean" } } };
      return { output: outputOf(await done(scripted(raw), { output, completion: "tool-or-text" })) };
    },
    "non-zero exit keeps its error, no warning": async ({ stderr = "" }) => {
      const model = scripted({ error: { code: "MODEL_REFUSED", message: stderr, retryable: false } });
      const outcome = await done(model, {});
      return { exitCode: exitCodeOf(outcome), stderr: faultOf(outcome), output: outputOf(outcome) };
    },
    "never submitted with schema after 3 reminders": async ({ raw = "", schema = {} }) => {
      const model = scripted(raw, raw, raw, raw, raw);
      const outcome = await done(model, { output: { type: "object", ...schema } });
      return { prompts: model.requests.length, exitCode: exitCodeOf(outcome), warning: faultOf(outcome) };
    },
  };

  /** The end of an agent that submits a result or an error, or only says something. */
  const ends = async ({ submit, raw = "", schema }: Asked): Promise<Want> => {
    const result = submit?.error === undefined ? { data: submit?.data } : { error: submit.error };
    const turn = submit ? { calls: [{ name: "submit_result", input: { result } }] } : raw;
    const outcome = await done(scripted(turn, turn), { completion: "tool-or-text", ...(schema && { output: schema }) });
    const { status } = outcome;
    return { exitCode: exitCodeOf(outcome), stderr: faultOf(outcome), output: outputOf(outcome), status };
  };

  test.each(cases<Asked, Want>("000-omp", "completion"))("$name", async ({ name, input, want }) => {
    const answer = answers[name];
    if (answer) expect(await answer(input)).toEqual(want);
    else expect(await ends(input)).toMatchObject(want);
  });
});

describe("limits of system 001", () => {
  type Limits = { chars?: number; types?: string[] };
  test.each(cases<Limits, { kept?: number; suffix_contains?: string; max_chars?: number }>("001-pegasus", "limits"))(
    "$name",
    async ({ input, want }) => {
      for (const type of input.types ?? [])
        expect(bundledAgents.find(({ name }) => name === type)?.instructions).toContain(
          `below ${want.max_chars} characters`,
        );
      if (input.chars === undefined) return;
      const model = scripted({ calls: [{ name: "speak", input: {} }] }, "done");
      const text = "x".repeat(input.chars);
      const speak = defineTool({
        name: "speak",
        description: "speaks",
        input: z.object({}),
        effect: "read",
        run: () => text,
      });
      await createCrew({ home: false, discover: false, tools: [speak], models: { m: model } }).run({
        mode: "single",
        agent: "general",
        task: "speak",
        tools: ["speak"],
      });
      const [told] = model.requests[1]!.messages.flatMap((one) => (one.role === "tool" ? one.results : []));
      const notice = want.suffix_contains === undefined ? "" : `${want.suffix_contains}\n`;
      expect(told?.text).toBe(notice + "x".repeat(want.kept!));
    },
  );
});
