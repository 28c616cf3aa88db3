import { z } from "zod";
import type { Agent } from "../agent/agent.ts";
import type { ProviderData, ToolCall } from "../model/model.ts";
import { cost, outcome as outcomeSchema, reachedLimit, type Usage, usage } from "../outcome/outcome-schema.ts";
import { type Answer, answer } from "../plan/gate.ts";
import { type Plan, plan } from "../plan/plan.ts";
import { type Task, task } from "../plan/task.ts";
import { type Permissions, permissions } from "../policy/permissions.ts";
import { type Change, change } from "../schedule/change.ts";
import { asRecorded, exact, list, time, typed } from "../schema/recorded.ts";
import type { Exact } from "../text/defined.ts";
import { toolStatuses } from "../vocabulary/tool-status.ts";
import { budgetLimits } from "./budget.ts";
import { changedFile } from "./file-version.ts";
import { runParameters, type RunParameters } from "./run-parameters.ts";

const text = z.string();
const count = z.number().int().nonnegative();
const call = text.describe("the id of the call");
const tool = text.describe("the name of the tool");
const target = text.describe("of a call that changes something: the path, the command or the address that it is about");
const outcome = outcomeSchema.describe("how the run, node or call ended");

/** The run and the task that an event belongs to, and its time. */
export const envelope = z.strictObject({
  run: text.describe("the id of the run"),
  path: text.describe("the path of the task, such as `lead/scout`; empty for the run itself"),
  at: time.describe("time of the event, in milliseconds since 1970"),
});
export type Envelope = Readonly<z.infer<typeof envelope>>;

/** What every recorded event has in addition. */
const record = z.strictObject({
  seq: exact(z.number().int()).describe("the number of the event, without gaps"),
  jumped: exact(z.number().nonnegative())
    .exactOptional()
    .describe(
      "milliseconds since the previous event that did not pass: the clock was set forward, or the machine slept",
    ),
});

/** Origin of a run that a remote caller started: protocol, caller and context id. */
export type Origin = NonNullable<RunParameters["origin"]>;

const provider = z.strictObject({
  address: text.describe("the address of the provider when the run began"),
  digest: text.exactOptional().describe("a digest of address and API key"),
});
export type RecordedProvider = Readonly<z.infer<typeof provider>>;

const settings = z.strictObject({
  model: text.exactOptional().describe("the default model"),
  providers: z.record(text, provider).exactOptional(),
  sandbox: text.exactOptional(),
  projectInstructions: z.literal(false).exactOptional(),
  permissions: typed<Permissions>(permissions)
    .exactOptional()
    .describe("the permissions in the settings, without those that the call gave"),
});
/** Settings at the start of a run. */
export type RecordedSettings = Readonly<z.infer<typeof settings>>;

const limits = z.strictObject({ ...budgetLimits.shape, maxTimeMs: count.optional().describe("milliseconds") });
/** The limits of a run as a whole. */
export type RunLimits = Readonly<Exact<z.infer<typeof limits>>>;

const parks = z.strictObject({ onLimit: z.enum(["park", "end"]), onProviderFault: z.enum(["park", "fail"]) });
/** Whether tasks wait (park) or end when they reach a limit of the run, and when their provider refuses requests. */
export type ParkRules = Readonly<z.infer<typeof parks>>;

/** Agents by name, each with the hash of its definition, whose text the store has once for all runs. */
const definitions = typed<Readonly<Record<string, string>>>(z.record(text, text));

const parking = z.strictObject({
  why: text,
  waitsFor: z.enum(["key", "credit", "quota", "provider", "budget", "person", "worker", "agent"]),
  until: time.exactOptional().describe("when the task continues by itself"),
  nextTry: time.exactOptional().describe("when the task tries again by itself"),
  helps: text.describe("what a person can do so that the task continues"),
});
/** Why a task is parked (waits before its next turn without failing), until when, and what a person can do. */
export type Parking = Readonly<z.infer<typeof parking>>;

const reservedTurn = z.strictObject({
  input: count,
  usd: z.number().exactOptional().describe("the price of the input, in dollars"),
  usdPerToken: z.number().exactOptional().describe("the price of each token of the answer"),
});
/** Cost estimate of a turn before its answer. */
export type ReservedTurn = Readonly<z.infer<typeof reservedTurn>>;

const environment = z.strictObject({
  date: text.describe("the day, as `Mon Mar 09 2026`"),
  git: text.describe("the branch and the state of the repository"),
});
/** What every task of a run is told about its start, so that prompts of one run are equal. */
export type RunEnvironment = Readonly<z.infer<typeof environment>>;

/** Every recorded event: its description, and its own fields in addition to the fields that all events have. */
export const facts = {
  "run.started": fact("A run began.", {
    plan: typed<Plan>(plan).describe("the plan that is carried out"),
    name: text.exactOptional().describe("the name of the run"),
    cwd: text.describe("the workspace"),
    version: text.describe("the version of subcrew"),
    continues: text.exactOptional().describe("the earlier task that the run continues, as run/path"),
    origin: typed<Origin>(runParameters.shape.origin.unwrap())
      .exactOptional()
      .describe("the remote caller that requested the run"),
    context: text.exactOptional().describe("context that every task gets before its prompt"),
    environment: environment
      .exactOptional()
      .describe("the date and the state of the repository, which every task is told"),
    permissions: typed<Permissions>(permissions).exactOptional().describe("permissions of its agents"),
    limits: typed<RunLimits>(limits).exactOptional().describe("limits of the whole run"),
    settings: settings.exactOptional().describe("settings that apply to the run"),
    agents: definitions
      .exactOptional()
      .describe("the agents of the plan and those that they may start: the hash of each definition"),
    parks: parks
      .exactOptional()
      .describe("which tasks of the run park (wait) instead of failing: at a limit, or at a fault of a provider"),
    offline: z.literal(true).exactOptional().describe("no key was found, so the offline model answers"),
  }),
  "run.ended": fact("The run ended.", { outcome }),
  "run.paused": fact("The run was paused and can be resumed.", { reason: text }),
  "run.resumed": fact("The run continues.", {
    after: count.describe("the number of the last event before the pause"),
    retryFailed: z.literal(true).exactOptional().describe("failed tasks are tried again"),
    task: text.exactOptional().describe("the only task that continues"),
    limits: typed<RunLimits>(limits).exactOptional().describe("the new limits"),
    parks: parks.exactOptional(),
  }),
  "node.started": fact("A task, gate, loop or join began.", {
    attempt: count.describe("1 for the first attempt"),
    kind: exact(z.enum(["task", "gate", "loop", "join"])).describe("a join only when it has changes to apply"),
    label: text.exactOptional().describe("the name to show"),
    agent: text.exactOptional(),
    model: text.exactOptional(),
    prompt: text.exactOptional(),
    continues: text.exactOptional().describe("the task whose conversation it continues, as run/path"),
    attached: list(z.strictObject({ title: text, path: text }))
      .exactOptional()
      .describe("the nodes whose outputs were attached to its prompt"),
    review: z
      .literal(true)
      .exactOptional()
      .describe("the result of the task is a verdict about the work of another task"),
    resumes: text.exactOptional().describe("the task of this run whose conversation it continues"),
    task: typed<Readonly<Partial<Task>>>(task.partial())
      .exactOptional()
      .describe("the options of a task that an agent started"),
  }),
  "node.reused": fact("The result of an earlier task is used.", {
    from: text.describe("the earlier task, as run/path"),
    endedAt: time.describe("when the earlier task ended"),
    saved: z.strictObject({ usage, cost }).exactOptional().describe("usage and cost of the earlier task"),
  }),
  "agent.resolved": fact("The agent of a task was found, and its model, tools and permissions are decided.", {
    agent: text,
    hash: text.describe("a digest of the definition"),
    model: text,
    definition: typed<Agent>(
      z.looseObject({ name: text, description: text.exactOptional(), instructions: text.exactOptional() }),
    )
      .exactOptional()
      .describe("the definition, once per process"),
    rights: list(text).exactOptional().describe("the tools of the agent"),
    reuse: text
      .exactOptional()
      .describe("a digest of everything that the result depends on, except the files that the task reads"),
  }),
  "node.waiting": fact("A task waits for files that other tasks may change.", {
    for: list(z.strictObject({ task: text, files: list(text), run: text.exactOptional() })),
  }),
  "node.retried": fact("A task failed and is tried again.", {
    attempt: count,
    outcome,
    delayMs: z.number().describe("the wait before the next attempt"),
  }),
  "node.parked": fact("A task waits for a provider, a budget, a person, a worker or its agent.", parking.shape),
  "node.unparked": fact("A parked task continues.", { why: text }),
  "node.won": fact("A task of a race is among the winners; its changes are applied next.", {}),
  "node.ended": fact("A node ended.", { outcome }),
  "turn.started": fact("A model is asked.", {
    turn: count,
    model: text,
    why: text.exactOptional().describe("with the first turn: why this model was chosen"),
    limits: z
      .strictObject({ maxTurns: count, maxTimeMs: count })
      .exactOptional()
      .describe("with the first turn: the sampling settings of the model"),
    reserved: reservedTurn.exactOptional().describe("the estimated usage that is counted if the turn is interrupted"),
  }),
  "turn.partial": fact("A part of an answer that is still being written, at most once a second.", {
    turn: count,
    text,
  }),
  "turn.restarted": fact("An answer broke off and is asked for again.", {
    turn: count,
    reason: text,
    delayMs: z.number(),
    usage: typed<Partial<Usage>>(usage.partial()).describe("estimated usage of the incomplete answer"),
    cost,
  }),
  "turn.ended": fact("A model has answered.", {
    turn: count,
    thinking: text.exactOptional(),
    text: text.describe("the text of the answer"),
    calls: list(typed<ToolCall>(z.strictObject({ id: text, name: text, input: z.unknown() }))).describe(
      "the tool calls of the model",
    ),
    usage,
    cost,
    carry: typed<ProviderData>(z.strictObject({ by: text, data: z.unknown() }))
      .exactOptional()
      .describe("data that has to be sent back to the provider with the next request"),
    model: text.exactOptional().describe("the model that answered, if it differs from the requested model"),
  }),
  "tool.started": fact("A tool call began.", {
    call,
    tool,
    preview: text.describe("the call in one line"),
    effect: exact(z.enum(["read", "write"])),
    target: target.exactOptional(),
  }),
  "tool.ended": fact("A tool call ended.", {
    call,
    tool,
    error: z.boolean(),
    text: text.describe("what the model reads"),
    ms: z.number(),
    status: z.enum(toolStatuses).exactOptional(),
    details: z.unknown().exactOptional().describe("structured result for programs"),
    files: list(text).exactOptional().describe("output files that the task may read from now on"),
    progress: text.exactOptional().describe("the hash of the changes so far of a task in a copy of the workspace"),
  }),
  "files.changed": fact("A call changed files.", {
    call: text.exactOptional(),
    files: list(changedFile),
    ahead: z.literal(true).exactOptional().describe("recorded before the change is made"),
    unseen: text.exactOptional().describe("why changes could not be recorded"),
  }),
  "tool.denied": fact("A call was refused by a rule or a person.", {
    call,
    tool,
    rule: text,
    text,
    hint: text.exactOptional().describe("what the user can do to allow the call"),
    target: target.exactOptional(),
    unasked: z.literal(true).exactOptional().describe("the call needed an approval, and nobody could be asked"),
  }),
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
    lost: list(text),
    reason: text,
  }),
  "gate.opened": fact("A question waits for an answer.", {
    question: text,
    call: text.exactOptional().describe("the tool call that the question is about; absent for a gate of the plan"),
    wants: z.literal("words").exactOptional().describe("the question is answered in words; absent: with yes or no"),
    offersNetwork: z
      .literal(true)
      .exactOptional()
      .describe("the command needs the network, and the answer may grant network access"),
  }),
  "gate.answered": fact("A question was answered.", { answer: typed<Answer>(answer), call: text.exactOptional() }),
  "remote.joined": fact("A remote agent took a task.", {
    turn: count,
    context: text.exactOptional(),
    task: text.exactOptional(),
  }),
  "below.ended": fact(
    "A nested run, started by a program of the task, has ended or was paused; its usage counts towards the limits of this run.",
    {
      below: text.describe("the id of the nested run"),
      usage,
      cost,
      toolCalls: count,
      spawns: count.describe("how many agents were started: the nested run itself, and the agents in it"),
    },
  ),
  "message.sent": fact("A task got a message.", { from: text, text }),
  "plan.changed": fact("The plan was changed while the run was running.", {
    change: typed<Change>(change),
    agents: definitions.exactOptional().describe("the agents of the new tasks: the hash of each definition"),
  }),
  "limit.reached": fact("A limit was reached.", {
    limit: text,
    text,
    enforced: z.boolean().describe("false: the limit was only reported"),
    reached: reachedLimit.exactOptional(),
  }),
  "context.compacted": fact("A conversation was shortened to fit the context window.", {
    before: count.describe("tokens before"),
    after: count.describe("tokens after"),
    summary: text.exactOptional().describe("the summary that replaces earlier messages"),
    replaced: count.exactOptional().describe("how many messages after the first one the summary replaces"),
    cut: list(z.strictObject({ call, text, file: text.exactOptional() }))
      .exactOptional()
      .describe("the tool results that were too long: their beginning and end, and the file with the whole result"),
  }),
  note: fact("A remark.", { text }),
  warning: fact("A warning.", { code: text, text }),
} as const;

/** Every event that is only sent live. Live events have no `seq` and are not recorded. */
export const deltas = {
  "text.delta": fact("A piece of an answer.", { text }),
  "thinking.delta": fact("A piece of the model's thinking.", { text }),
  "tool.delta": fact("A piece of the output of a running tool.", { call, text }),
} as const;

function fact<S extends z.ZodRawShape>(says: string, shape: S): z.ZodObject<S, z.core.$strict> {
  return z.strictObject(shape).describe(says);
}

type Typed<T extends Readonly<Record<string, z.ZodObject>>> = {
  [K in keyof T & string]: z.infer<z.ZodObject<{ type: z.ZodLiteral<K> } & T[K]["shape"]>>;
}[keyof T & string];

/** A recorded event of a run; `seq` numbers have no gaps. */
export type Fact = Typed<typeof facts>;
/** Events that are only shown live and not recorded; the event that ends the turn or tool call has the full content. */
export type Delta = Typed<typeof deltas>;

export type KeptEvent = Envelope & Readonly<z.infer<typeof record>> & Readonly<Fact>;
export type LiveEvent = Envelope & Readonly<Delta>;
export type Event = KeptEvent | LiveEvent;

/** One event, as `--json` prints it on a line and a run yields it. */
export function eventSchema(): z.ZodType {
  const variants = (events: Readonly<Record<string, z.ZodObject>>, more: z.ZodRawShape): z.ZodObject[] =>
    Object.entries(events).map(([type, event]) =>
      z
        .strictObject({ type: z.literal(type), ...envelope.shape, ...more, ...event.shape })
        .describe(event.description ?? ""),
    );
  const [first, ...others] = [...variants(facts, record.shape), ...variants(deltas, {})];
  return z.discriminatedUnion("type", [first!, ...others]);
}

/** True for the last event that a process records for a run: the run has ended, or is paused. */
export const isLast = (event: KeptEvent | undefined): boolean =>
  event?.type === "run.ended" || event?.type === "run.paused";

/** False for an unknown event of a newer version, which stays in the journal and is not evaluated. */
export function isKnown({ type }: Readonly<{ type: string }>): boolean {
  return Object.hasOwn(facts, type);
}

/**
 * Whether the fields of an event have the types that its readers expect. A correct checksum only proves that a record
 * was not changed after it was written, not that subcrew wrote it.
 */
export function isWellFormed(event: KeptEvent): boolean {
  return recordForm(isKnown(event) ? event.type : "").safeParse(event).success;
}

const recordForms = new Map<string, z.ZodType>();

/** The check of a record of this type; of an unknown type, only the fields that every record has. */
function recordForm(type: Fact["type"] | ""): z.ZodType {
  const known = recordForms.get(type);
  if (known) return known;
  const own = type === "" ? {} : facts[type].shape;
  const form = asRecorded(z.object({ ...envelope.shape, ...record.shape, ...own }));
  recordForms.set(type, form);
  return form;
}
