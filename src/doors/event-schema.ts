import { z } from "zod";
import { costSchema, faultSchema, outcomeSchema, reachedLimitSchema, usageSchema } from "./outcome-schema.ts";
import { answer } from "../core/plan/gate.ts";
import { plan } from "../core/plan/plan.ts";
import { task } from "../core/plan/task.ts";
import { permissions } from "../core/policy/permissions.ts";
import { change } from "../core/schedule/change.ts";
import { budgetLimits } from "../core/run/budget.ts";
import type { Delta, Fact } from "../core/run/event.ts";
import type { Result } from "../core/run/result.ts";
import { runParameters } from "../core/run/run-parameters.ts";

const text = z.string();
const carried = z.record(text, text).optional();
const count = z.number().int().nonnegative();
const limits = z.strictObject({ ...budgetLimits.shape, maxTimeMs: count.optional().describe("milliseconds") });
const parks = z.strictObject({ onLimit: z.enum(["park", "end"]), onProviderFault: z.enum(["park", "fail"]) });
const call = text.describe("the id of the call");
const tool = text.describe("the name of the tool");
const outcome = outcomeSchema.describe("how the run, node or call ended");
const fileVersion = z.union([
  z.strictObject({ kind: z.enum(["absent", "folder", "other"]) }),
  z.strictObject({ kind: z.literal("link"), target: text }),
  z.strictObject({ kind: z.literal("file"), hash: text, bytes: count, mode: count.optional(), kept: z.boolean() }),
]);

/** Every recorded event: its description, and its own fields in addition to the fields that all events have. */
export const facts = {
  "run.started": fact("A run began.", {
    plan: plan.describe("the plan that is carried out"),
    name: text.optional().describe("the name of the run"),
    cwd: text.describe("the workspace"),
    version: text.describe("the version of subcrew"),
    continues: text.optional().describe("the earlier task that the run continues, as run/path"),
    origin: runParameters.shape.origin,
    context: text.optional().describe("context that every task gets before its prompt"),
    permissions: permissions.optional().describe("permissions of its agents"),
    limits: limits.optional().describe("limits of the whole run"),
    settings: z
      .strictObject({
        model: text.optional(),
        providers: z.record(z.string(), z.strictObject({ address: text, digest: text.optional() })).optional(),
        sandbox: text.optional(),
        projectInstructions: z.literal(false).optional(),
        permissions: permissions.optional(),
      })
      .optional()
      .describe("settings that apply to the run"),
    parks: parks
      .optional()
      .describe("which tasks of the run park (wait) instead of failing: at a limit, or at a fault of a provider"),
    offline: z.literal(true).optional().describe("no key was found, so the offline model answers"),
    agents: carried.describe("the agents of the plan and those that they may start: the hash of each definition"),
  }),
  "run.ended": fact("The run ended.", { outcome }),
  "run.paused": fact("The run was paused and can be resumed.", { reason: text }),
  "run.resumed": fact("The run continues.", {
    after: count.describe("the number of the last event before the pause"),
    retryFailed: z.literal(true).optional().describe("failed tasks are tried again"),
    task: text.optional().describe("the only task that continues"),
    limits: limits.optional().describe("the new limits"),
    parks: parks.optional(),
  }),
  "node.started": fact("A task, gate, loop or join began.", {
    attempt: count.describe("1 for the first attempt"),
    kind: z.enum(["task", "gate", "loop", "join"]),
    label: text.optional().describe("the name to show"),
    agent: text.optional(),
    model: text.optional(),
    prompt: text.optional(),
    continues: text.optional().describe("the task whose conversation it continues, as run/path"),
    attached: z
      .array(z.strictObject({ title: text, path: text }))
      .optional()
      .describe("the nodes whose outputs were attached to its prompt"),
    review: z.literal(true).optional().describe("the result of the task is a verdict about the work of another task"),
    resumes: text.optional().describe("the task of this run whose conversation it continues"),
    task: task.partial().optional().describe("the options of a task that an agent started"),
  }),
  "node.reused": fact("The result of an earlier task is used.", {
    from: text.describe("the earlier task, as run/path"),
    endedAt: z.number().describe("when the earlier task ended"),
    saved: z
      .strictObject({ usage: usageSchema, cost: costSchema })
      .optional()
      .describe("usage and cost of the earlier task"),
  }),
  "agent.resolved": fact("The agent of a task was found, and its model, tools and permissions are decided.", {
    agent: text,
    hash: text.describe("a digest of the definition"),
    model: text,
    definition: z.record(text, z.unknown()).optional().describe("the definition, once per process"),
    rights: z.array(text).optional().describe("the tools of the agent"),
    reuse: text
      .optional()
      .describe("a digest of everything that the result depends on, except the files that the task reads"),
  }),
  "node.waiting": fact("A task waits for files that other tasks may change.", {
    for: z.array(z.strictObject({ task: text, files: z.array(text) })),
  }),
  "node.retried": fact("A task failed and is tried again.", {
    attempt: count,
    outcome,
    delayMs: z.number().describe("the wait before the next attempt"),
  }),
  "node.parked": fact("A task waits for a provider, a budget, a person, a worker or its agent.", {
    why: text,
    waitsFor: z.enum(["key", "credit", "quota", "provider", "budget", "person", "worker", "agent"]),
    until: z.number().optional().describe("when the task continues by itself"),
    nextTry: z.number().optional().describe("when the task tries again by itself"),
    helps: text.describe("what a person can do so that the task continues"),
  }),
  "node.unparked": fact("A parked task continues.", { why: text }),
  "node.paused": fact("One task was paused while the rest of the run continues.", { reason: text }),
  "node.resumed": fact("A paused task continues.", {}),
  "node.won": fact("A task of a race is among the winners; its changes are applied next.", {}),
  "node.ended": fact("A node ended.", { outcome }),
  "turn.started": fact("A model is asked.", {
    turn: count,
    model: text,
    why: text.optional().describe("with the first turn: why this model was chosen"),
    limits: z
      .strictObject({ maxTurns: count, maxTimeMs: count })
      .optional()
      .describe("with the first turn: the sampling settings of the model"),
    reserved: z
      .strictObject({ input: count, usd: z.number().optional(), usdPerToken: z.number().optional() })
      .optional()
      .describe("the estimated usage that is counted if the turn is interrupted"),
  }),
  "turn.partial": fact("A part of an answer that is still being written, at most once a second.", {
    turn: count,
    text,
  }),
  "turn.restarted": fact("An answer broke off and is asked for again.", {
    turn: count,
    reason: text,
    delayMs: z.number(),
    usage: usageSchema.partial().describe("estimated usage of the incomplete answer"),
    cost: costSchema,
  }),
  "turn.ended": fact("A model has answered.", {
    turn: count,
    thinking: text.optional(),
    text: text.describe("the text of the answer"),
    calls: z
      .array(z.strictObject({ id: text, name: text, input: z.unknown() }))
      .describe("the tool calls of the model"),
    usage: usageSchema,
    cost: costSchema,
    carry: z
      .strictObject({ by: text, data: z.unknown() })
      .optional()
      .describe("data that has to be sent back to the provider with the next request"),
    model: text.optional().describe("the model that answered, if it differs from the requested model"),
  }),
  "tool.started": fact("A tool call began.", {
    call,
    tool,
    preview: text.describe("the call in one line"),
    effect: z.enum(["read", "write"]),
  }),
  "tool.ended": fact("A tool call ended.", {
    call,
    tool,
    error: z.boolean(),
    text: text.describe("what the model reads"),
    ms: z.number(),
    status: z.enum(["ok", "failed", "not-started", "timeout", "cancelled"]).optional(),
    details: z.unknown().optional().describe("structured result for programs"),
    files: z.array(text).optional().describe("output files that the task may read from now on"),
  }),
  "files.changed": fact("A call changed files.", {
    call: text.optional(),
    files: z.array(z.strictObject({ file: text, before: fileVersion, after: fileVersion })),
    ahead: z.literal(true).optional().describe("recorded before the change is made"),
    unseen: text.optional().describe("why changes could not be recorded"),
  }),
  "tool.denied": fact("A call was refused by a rule or a person.", { call, tool, rule: text, text }),
  "tool.rejected": fact("A call had invalid arguments and was not run.", { call, tool, reason: text, text }),
  "tool.unknown": fact(
    "A call of a tool with effects was running at a crash. Its effect is unknown, and it was not repeated.",
    {
      call,
      tool,
      text,
    },
  ),
  "conversation.forked": fact("A task begins with the conversation of another task.", {
    from: text.describe("the other task, as run/path"),
    turn: count,
  }),
  "rights.reduced": fact("An agent has fewer tools than its file lists.", {
    agent: text,
    lost: z.array(text),
    reason: text,
  }),
  "gate.opened": fact("A question waits for an answer.", {
    question: text,
    call: text.optional().describe("the tool call that the question is about; absent for a gate of the plan"),
    wants: z.literal("words").optional().describe("the question is answered in words; absent: with yes or no"),
    offersNetwork: z
      .literal(true)
      .optional()
      .describe("the command needs the network, and the answer may grant network access"),
  }),
  "gate.answered": fact("A question was answered.", { answer, call: text.optional() }),
  "remote.joined": fact("A remote agent took a task.", {
    turn: count,
    context: text.optional(),
    task: text.optional(),
  }),
  "below.ended": fact(
    "A nested run, started by a program of the task, has ended or was paused; its usage counts towards the limits of this run.",
    {
      below: text.describe("the id of the nested run"),
      usage: usageSchema,
      cost: costSchema,
      toolCalls: count,
      spawns: count.describe("how many agents were started: the nested run itself, and the agents in it"),
    },
  ),
  "message.sent": fact("A task got a message.", { from: text, text }),
  "plan.changed": fact("The plan was changed while the run was running.", {
    change,
    agents: carried.describe("the agents of the new tasks: the hash of each definition"),
  }),
  "limit.reached": fact("A limit was reached.", {
    limit: text,
    text,
    enforced: z.boolean().describe("false: the limit was only reported"),
    reached: reachedLimitSchema.optional(),
  }),
  "context.compacted": fact("A conversation was shortened to fit the context window.", {
    before: count.describe("tokens before"),
    after: count.describe("tokens after"),
    summary: text.optional().describe("the summary that replaces earlier messages"),
    replaced: count.optional().describe("how many messages after the first one the summary replaces"),
  }),
  note: fact("A remark.", { text }),
  warning: fact("A warning.", { code: text, text }),
} satisfies Readonly<Record<Fact["type"], unknown>>;

/** Every event that is only sent live. Live events have no `seq` and are not recorded. */
const deltas = {
  "text.delta": fact("A piece of an answer.", { text }),
  "thinking.delta": fact("A piece of the model's thinking.", { text }),
  "tool.delta": fact("A piece of the output of a running tool.", { call, text }),
} satisfies Readonly<Record<Delta["type"], unknown>>;

const jumped = z
  .number()
  .optional()
  .describe("milliseconds since the previous event that did not pass: the clock was set forward, or the machine slept");

/** One event, as `--json` prints it on a line and a run yields it. */
export const eventSchema = z.discriminatedUnion("type", [
  ...Object.entries(facts).map(([type, { says, shape }]) =>
    variant(type, says, { seq: count.describe("the number of the event, without gaps"), jumped, ...shape }),
  ),
  ...Object.entries(deltas).map(([type, { says, shape }]) => variant(type, says, shape)),
] as [z.ZodObject, ...z.ZodObject[]]);

/** The result of a run, as `-o json` prints it and `await run` gives it. */
export const resultSchema = z.strictObject({
  id: text.describe("the id of the run"),
  status: z.enum(["ok", "failed", "cancelled", "paused"]),
  output: text.describe("the answer as text, or the part of it that exists"),
  data: z.unknown().optional().describe("the answer as a JSON value, if a schema was given"),
  from: z.array(text).optional().describe("the nodes whose output this is; for a race, the winner"),
  approved: z.boolean().optional().describe("false: the output contains work that was accepted without approval"),
  fault: faultSchema.optional().describe("why the run failed"),
  limit: reachedLimitSchema.optional().describe("the limit that ended the run early"),
  offline: z.literal(true).optional().describe("no key was found, so the offline model answered"),
  usage: usageSchema.describe("tokens that were used"),
  cost: costSchema.describe("money that was spent"),
  ms: z.number().describe("how long the run took, in milliseconds"),
  nodes: z.record(text, outcomeSchema).describe("how each node ended, by path"),
} satisfies Readonly<Record<keyof Result, z.ZodType>>);

function fact<S extends z.ZodRawShape>(says: string, shape: S): { says: string; shape: S } {
  return { says, shape };
}

function variant(type: string, says: string, shape: z.ZodRawShape): z.ZodObject {
  return z
    .strictObject({
      type: z.literal(type),
      run: text.describe("the id of the run"),
      path: text.describe("the path of the task, such as `lead/scout`; empty for the run itself"),
      at: z.number().describe("time of the event, in milliseconds since 1970"),
      ...shape,
    })
    .describe(says);
}
