import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Agent, AgentInput } from "../../src/core/agent/agent.ts";
import { convertInputConfigToJsonSchema } from "../../src/core/agent/inputs.ts";
import type { Model } from "../../src/core/model/model.ts";
import type { Outcome } from "../../src/core/outcome/outcome.ts";
import { templateString } from "../../src/core/text/input-template.ts";
import { readBundledAgents } from "../../src/formats/bundled.ts";
import { createCrew, defineTool, type Event } from "../../src/index.ts";
import { never, type Script, type ScriptedModel, scripted } from "../../src/models/scripted/scripted.ts";
import { patiently } from "../support/patiently.ts";
import { cases } from "./harness.ts";

const bundledAgents = readBundledAgents().map(({ agent }) => agent);

describe("template", () => {
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
  result?: string;
  terminate_reason?: string;
  model_calls?: number;
  tool_executions?: number;
  concurrent?: boolean;
  error_sent_back?: string;
  second_call_error_contains?: string;
  complete_task_required?: string[];
  activity_error?: string;
};

/** What ours calls the ends that 004 knows. */
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
  const elsewhere = new Set([
    "runtime inputs available to templates", // test/loop: inputs that an agent declares are filled in
    "agent id carries the parent prompt id", // ours is the path below the parent: test/executor
    'model "auto" goes through the router, other names do not', // test/conformance/models.test.ts
    "history compression attempted every turn; after a failed attempt flag is passed; success resets it", // test/loop: a shorter context
    "grace period",
    "external abort: no recovery",
  ]);
  const all = cases<LoopInput, LoopWant>("004-gemini", "executor-loop");

  test("the grace turn lasts a minute", async () => {
    const { GRACE_MS } = await import("../../src/core/vocabulary/limits.ts");
    expect(all.find(({ name }) => name === "grace period")?.want).toEqual({ ms: GRACE_MS });
  });

  test("external abort: no recovery", async () => {
    const { outcome, requests } = await play({ turns: ["hangs"] }, { cancelAt: "turn.started" });
    expect(reasonOf(outcome)).toBe("ABORTED");
    expect(requests).toHaveLength(1);
  });

  test.each(all.filter(({ name }) => !elsewhere.has(name)))("$name", async ({ input, want }) => {
    await patiently(async (times) => held(await play(input, { times }), input, want));
  });

  const held = ({ outcome, requests, executed, most, events }: Played, input: LoopInput, want: LoopWant): void => {
    if (want.terminate_reason !== undefined) expect(reasonOf(outcome)).toBe(want.terminate_reason);
    if (want.result !== undefined && outcome.status === "ok") expect(outcome.output).toBe(want.result);
    if (want.model_calls !== undefined) expect(requests).toHaveLength(want.model_calls);
    if (want.tool_executions !== undefined) expect(executed).toBe(want.tool_executions);
    if (want.concurrent) expect(most).toBe(executed);
    if (want.error_sent_back !== undefined)
      expect(JSON.stringify(requests[1]?.messages.at(-1))).toContain(JSON.stringify(want.error_sent_back).slice(1, -1));
    if (want.complete_task_required)
      expect(requests[0]?.tools.find(({ name }) => name === "complete_task")?.input["required"]).toEqual(
        want.complete_task_required,
      );
    if (
      want.activity_error !== undefined &&
      input.turns?.flat().some((call) => typeof call === "object" && call.fails)
    ) {
      expect(
        events.some((event) => event.type === "tool.ended" && event.error && event.text.includes(want.activity_error!)),
      ).toBe(true);
    }
  };
});

describe("completion of system 000", () => {
  const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
  const agent = (more: Partial<Agent>): Agent => ({ name: "a", description: "d", instructions: "i", ...more });
  const done = async (model: ScriptedModel, more: Partial<Agent>) =>
    createCrew({ home: false, discover: false, agents: [agent(more)], models: { m: model }, model: "m" }).run({
      mode: "single",
      agent: "a",
      task: "x",
    });

  /** Where each case of the system is shown. */
  const shown: Readonly<Record<string, string>> = {
    "explicit model suffix beats thinking level": "test/conformance/models.test.ts",
    "aborted by the agent": "below",
    "cancelled before start": "test/crew/runs.test.ts",
    "reminder restricts tools to the completion tool and forces it": "below",
    "never submitted but text matches schema": "below",
    "non-zero exit keeps its error, no warning": "below",
    "never submitted with schema after 3 reminders": "below",
  };
  test.each(cases("000-omp", "completion"))("$name: has its place", ({ name }) => {
    expect(shown[name]).toBeDefined();
  });

  test("non-zero exit keeps its error", async () => {
    const model = scripted({ error: { code: "MODEL_REFUSED", message: "subagent terminated", retryable: false } });
    expect(await done(model, {})).toMatchObject({
      status: "failed",
      fault: { message: "subagent terminated" },
      output: "",
    });
  });

  test("never submitted but text matches schema", async () => {
    const model = scripted('{"data":{"ok":true}}');
    expect(await done(model, { output: schema, completion: "tool-or-text" })).toMatchObject({
      status: "ok",
      output: '{\n  "ok": true\n}',
    });
  });

  test("never submitted with schema: the tool alone is asked for, and then it fails", async () => {
    const model = scripted("did work", "did more");
    expect(await done(model, { output: schema })).toMatchObject({
      status: "failed",
      fault: { code: "INVALID_OUTPUT" },
      output: "did more",
    });
    expect(model.requests[1]?.tools.map(({ name }) => name)).toEqual(["complete_task"]);
  });

  test("aborted by the agent", async () => {
    const model = scripted({
      calls: [{ name: "submit_result", input: { result: { error: "blocked by permissions" } } }],
    });
    expect(await done(model, { completion: "tool-or-text" })).toMatchObject({
      status: "failed",
      fault: { code: "AGENT_REPORTED", message: "blocked by permissions" },
    });
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
      expect(told?.text).toBe(`${want.suffix_contains}\n${"x".repeat(want.kept!)}`);
    },
  );
});
