import { z } from "zod";
import { type Agent, defineAgent } from "../../src/core/agent/agent.ts";
import type { Model, ModelEvent, ModelRequest } from "../../src/core/model/model.ts";
import type { Fault } from "../../src/core/outcome/outcome.ts";
import type { Permissions } from "../../src/core/policy/permissions.ts";
import { defineTool, type Tool, type ToolContext } from "../../src/core/task/tool.ts";
import type { Dice } from "./dice.ts";
import type { Time } from "./time.ts";

/** A text that must never become visible outside. */
export const SECRET = "hunter2-Correct-Horse-7f3a9c";

/** The agents of a simulation, from those with every permission to those with hardly any. */
export const agents: readonly Agent[] = [
  { name: "lead", tools: ["look", "change", "launch", "forbidden", "helper"], limits: { maxTurns: 4 } },
  { name: "looker", tools: ["look"], limits: { maxTurns: 3 } },
  { name: "writer", tools: ["look", "change", "helper"], limits: { maxTurns: 3, maxDurationMs: 30_000 } },
  { name: "planner", tools: ["look", "change", "launch", "helper"], permission: "plan" as const },
  { name: "all", limits: { maxTurns: 3, maxIdleMs: 20_000 } },
].map((agent) => defineAgent({ description: "Works.", instructions: "Work.", ...agent }));

/** The permissions that the person grants. */
export const allowed: Permissions = { mode: "default", allow: ["change"], deny: ["forbidden"], sandbox: "off" };
/** The wider permissions that a person wants who resumes a run. */
export const wider: Permissions = { mode: "bypass", allow: ["change", "launch", "forbidden"], sandbox: "off" };

/** One call of a tool, from its beginning to its end; a child process counts as one. */
export type Deed = {
  readonly life: number;
  readonly tool: string;
  readonly path: string;
  readonly agent: string;
  readonly id: string;
  readonly step: number;
  readonly signal: AbortSignal;
  /** True: the call was stopped before it began. */
  readonly late: boolean;
  over: boolean;
};

/** One turn of a model. */
export type Thought = Pick<Deed, "life" | "step" | "signal" | "late" | "over">;

export type Stage = Readonly<{
  dice: Dice;
  time: Time;
  /** One in this many model turns goes wrong; absent if none does. */
  modelFaults(): number | undefined;
  /** True while the provider refuses the key. */
  isClosed(): boolean;
  toolFaults(): number | undefined;
  deeds: Deed[];
  thoughts: Thought[];
  calls: { made: number };
}>;

const input = z.object({ id: z.string(), agent: z.string().optional() });

/** The tools of a simulation: they only take time and are counted. */
export function toolsOn(stage: Stage): readonly Tool[] {
  const { dice, time } = stage;
  const doing = async (tool: string, id: string, context: ToolContext, work: () => Promise<string>) => {
    const { path, agent, signal } = context;
    const deed: Deed = {
      life: time.life(),
      step: time.steps(),
      tool,
      path,
      agent,
      id,
      signal,
      late: signal.aborted,
      over: false,
    };
    stage.deeds.push(deed);
    try {
      return await work();
    } finally {
      deed.over = true;
    }
  };
  const usual = (tool: string) => (given: z.infer<typeof input>, context: ToolContext) =>
    doing(tool, given.id, context, async () => {
      const many = stage.toolFaults();
      const wrong = many !== undefined && dice.oneIn(many) ? dice.pick(["throws", "hangs", "deaf"]) : undefined;
      await time.pass(dice.below(3_000));
      context.report(`half of ${given.id}, ${SECRET.slice(0, 9)}`);
      context.report(SECRET.slice(9));
      if (wrong === "throws") throw new Error(`${tool} broke over ${SECRET}`);
      if (wrong === "hangs") await aborted(context.signal);
      if (wrong === "deaf") await new Promise<never>(() => {});
      return dice.oneIn(4) ? `${given.id} ${SECRET}` : `${given.id} done`;
    });
  const make = (name: string, more: Pick<Tool, "effect"> & Partial<Pick<Tool, "does">>): Tool =>
    defineTool({ name, description: name, input, ...more, run: usual(name) });
  return [
    make("look", { effect: "read" }),
    make("change", { effect: "write", does: "write" }),
    make("launch", { effect: "write" }),
    make("forbidden", { effect: "write" }),
    defineTool({
      name: "helper",
      description: "Starts somebody.",
      input,
      effect: "read",
      does: "spawn",
      run: ({ id, agent = "looker" }, context) =>
        doing("helper", id, context, async () => {
          const { status } = await context.delegate({ mode: "single", agent, task: `help ${id}` });
          return `${agent} ended ${status}`;
        }),
    }),
  ];
}

/**
 * A model that acts at random: it calls tools that it has and tools that it does not have, answers, fails, or sends
 * nothing.
 */
export function modelOn(stage: Stage): Model {
  return async function* (request, signal) {
    const thought: Thought = {
      life: stage.time.life(),
      step: stage.time.steps(),
      signal,
      late: signal.aborted,
      over: false,
    };
    stage.thoughts.push(thought);
    try {
      yield* answering(stage, request, signal);
    } finally {
      thought.over = true;
    }
  };
}

async function* answering(stage: Stage, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const { dice, time } = stage;
  const many = stage.modelFaults();
  const wrong = many !== undefined && dice.oneIn(many) ? dice.below(5) : undefined;
  await Promise.race([time.pass(dice.below(4_000)), aborted(signal)]);
  if (signal.aborted) return yield failure("MODEL_NETWORK", false);
  if (stage.isClosed()) return yield failure("MODEL_AUTH", false);
  if (wrong === 0) return yield failure("MODEL_RATE_LIMIT", true);
  if (wrong === 1) return yield failure("MODEL_AUTH", false);
  if (wrong === 2) {
    await aborted(signal);
    return yield failure("MODEL_NETWORK", false);
  }
  yield { type: "text", text: dice.oneIn(5) ? `I saw ${SECRET.slice(0, 12)}` : "I think" };
  await time.pass(dice.below(500));
  yield { type: "text", text: dice.oneIn(5) ? `${SECRET} again. ` : " so. " };
  if (wrong === 3) return; // the answer breaks off
  if (wrong === 4) throw new Error(`the model broke over ${SECRET}`);
  const verdicts = ["APPROVED", "REVISION_NEEDED"];
  if (request.messages.some(({ role }) => role === "assistant") ? dice.oneIn(2) : dice.oneIn(3)) {
    yield { type: "text", text: `Done.\n${dice.pick(verdicts)}` };
  } else {
    for (let n = dice.below(3); n >= 0; n -= 1) {
      const id = `c${(stage.calls.made += 1)}`;
      const name = dice.pick(["look", "look", "change", "launch", "forbidden", "helper", "nothing"]);
      yield { type: "call", call: { id, name, input: { id, agent: dice.pick(agents).name } } };
    }
  }
  yield { type: "end", usage: { input: 10, output: 5 }, cost: 0.001 };
}

function failure(code: Fault["code"], retryable: boolean): ModelEvent {
  return { type: "error", fault: { code, message: `${code}, simulated`, retryable } };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
