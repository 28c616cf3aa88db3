import type { Outcome } from "../outcome/outcome.ts";
import { noCost, noUsage } from "../outcome/usage.ts";
import { isRecord } from "../text/json.ts";
import { splitModelName } from "../vocabulary/model-name.ts";
import type { Event, Fact, KeptEvent, RecordedSettings, RunLimits } from "./event.ts";

/**
 * Defaults for missing fields of events. An earlier version may not have written a field, and another program may not
 * know it. Defaults are on the safe side: a tool call of unknown effect counts as a call that changes something.
 */
const meant: Readonly<Partial<Record<Fact["type"], Readonly<Record<string, unknown>>>>> = {
  "run.started": { cwd: "", version: "0" },
  "run.paused": { reason: "" },
  "run.resumed": { after: 0 },
  "node.started": { attempt: 1, kind: "task" },
  "node.waiting": { for: [] },
  "node.retried": { attempt: 1, delayMs: 0 },
  "node.parked": { why: "", waitsFor: "provider", helps: "" },
  "node.unparked": { why: "" },
  "node.paused": { reason: "" },
  "turn.started": { turn: 1, model: "unknown" },
  "turn.ended": { turn: 1, text: "", calls: [], usage: noUsage(), cost: noCost() },
  "turn.partial": { turn: 1, text: "" },
  "turn.restarted": { turn: 1, reason: "", delayMs: 0, usage: {}, cost: noCost() },
  "tool.started": { preview: "", effect: "write" },
  "tool.ended": { error: false, text: "", ms: 0 },
  "files.changed": { files: [] },
  "tool.denied": { rule: "", text: "" },
  "tool.rejected": { reason: "", text: "" },
  "tool.unknown": { text: "" },
  "rights.reduced": { agent: "", lost: [], reason: "" },
  "limit.reached": { text: "", enforced: true },
  "message.sent": { from: "the user" },
  warning: { code: "UNKNOWN" },
};

const ENVELOPE = { run: "", path: "", at: 0 };

/** An event with every field that its type requires. Event types of a newer version are left unchanged. */
export function completed(event: KeptEvent): KeptEvent {
  const defaults = { ...ENVELOPE, ...meant[event.type] };
  if (event.type === "run.started" && event.settings) return { ...defaults, ...withProviders(event, event.settings) };
  for (const field in defaults) if (!(field in event)) return { ...defaults, ...event };
  return event;
}

const CALL = { call: "", tool: "" };
/** Examples of fields that have no default. */
const examples: Readonly<Partial<Record<Fact["type"], Readonly<Record<string, unknown>>>>> = {
  "agent.resolved": { agent: "", hash: "", model: "" },
  "tool.started": CALL,
  "tool.ended": CALL,
  "tool.denied": CALL,
  "tool.rejected": CALL,
  "tool.unknown": CALL,
  "gate.opened": { question: "" },
  "message.sent": { text: "" },
  note: { text: "" },
  warning: { text: "" },
};

/** A check whether a value has the structure that readers of records expect. */
type Form = (value: unknown) => boolean;

const text: Form = (value) => typeof value === "string";
const number: Form = (value) => Number.isFinite(value);
const flag: Form = (value) => typeof value === "boolean";
/** A time that a `Date` can hold. */
const time: Form = (value) => Number.isFinite(value) && Math.abs(value as number) <= 8.64e15;
const oneOf =
  (...words: readonly string[]): Form =>
  (value) =>
    words.includes(value as string);
const either =
  (...forms: readonly Form[]): Form =>
  (value) =>
    forms.some((form) => form(value));
const listOf =
  (form: Form): Form =>
  (value) =>
    Array.isArray(value) && value.every(form);
const mapOf =
  (form: Form): Form =>
  (value) =>
    isRecord(value) && Object.values(value).every(form);

type Fields = Readonly<Record<string, Form>>;

/**
 * Checks an object. The required fields must be valid, the optional fields may be absent, and all other fields may have
 * any value.
 */
const fields =
  (required: Fields, optional: Fields = {}): Form =>
  (value) => {
    if (!isRecord(value)) return false;
    for (const name in required) if (!required[name]!(value[name])) return false;
    for (const name in optional) if (value[name] !== undefined && !optional[name]!(value[name])) return false;
    return true;
  };

const anything: Form = () => true;
const texts = listOf(text);
const usage = mapOf(number);
const cost = mapOf(number);
const limits = mapOf(number);
const parks = fields({}, { onLimit: text, onProviderFault: text });
const reached = fields(
  { kind: oneOf("turns", "time", "usd", "tokens", "toolCalls", "spawns"), value: number },
  { run: flag, cap: oneOf("day", "project") },
);
const refs = mapOf(either(text, fields({ prompt: text })));

const taskFields: Fields = {
  agent: text,
  model: either(text, texts),
  tools: texts,
  thinking: anything,
  systemPrompt: text,
  inputs: mapOf(anything),
  cwd: text,
  schema: isRecord,
  runner: text,
  isolation: text,
  isolationDirty: flag,
  isolationKeep: flag,
  fork: either(flag, text),
  writes: texts,
  images: listOf(isRecord),
  preface: text,
  label: text,
  refs,
  include: texts,
  revise: text,
  continues: text,
  planOnly: flag,
  resumes: text,
  acceptSchema: isRecord,
  acceptCommand: text,
};
const task = fields({ prompt: text }, taskFields);

const kinds: Readonly<Record<string, Form>> = {
  task: fields({ task }, { needs: texts }),
  join: fields({ needs: texts }, { pick: text, count: number }),
  gate: fields({ question: text }, { needs: texts, refs }),
  loop: fields({ body: (value) => body(value), until: text, max: number }, { needs: texts, exhausted: text }),
};

/**
 * Checks a node of a plan. A node of a kind that only a newer version knows is invalid, because no code of this version
 * can read it.
 */
const node: Form = (value) =>
  isRecord(value) &&
  typeof value["kind"] === "string" &&
  Object.hasOwn(kinds, value["kind"]) &&
  kinds[value["kind"]]!(value);
const body: Form = fields({ nodes: mapOf(node), output: text });

const plan: Form = (value) =>
  body(value) && fields({}, { name: text, concurrency: number, context: isRecord, notes: texts })(value);

const fault = fields({ code: text, message: text }, { hint: text, retryable: flag, retryAfterMs: number });
const spending: Fields = {
  usage,
  cost,
  model: text,
  tools: mapOf(number),
  ms: number,
  artifact: isRecord,
  summaryChars: number,
  summaryCut: text,
  limit: reached,
  changes: fields({}, { files: texts, applied: flag, returned: flag, artifact: isRecord, patch: anything }),
  approved: flag,
  reviews: listOf(fields({ approved: flag, feedback: text })),
  output: text,
  from: texts,
};
const ends: Readonly<Record<string, Form>> = {
  ok: fields({ output: text }, spending),
  failed: fields({ fault }, spending),
  cancelled: fields({}, { ...spending, reason: text }),
  skipped: fields({}, { ...spending, because: text }),
};
const outcome: Form = (value) =>
  isRecord(value) &&
  typeof value["status"] === "string" &&
  Object.hasOwn(ends, value["status"]) &&
  ends[value["status"]]!(value);

const versions: Readonly<Record<string, Form>> = {
  link: fields({ target: text }),
  file: fields({ hash: text, bytes: number }, { mode: number, kept: flag }),
};
const version: Form = (value) =>
  isRecord(value) && typeof value["kind"] === "string" && (versions[value["kind"]]?.(value) ?? true);

const permissions = fields(
  {},
  { mode: text, allow: texts, ask: texts, deny: texts, writableRoots: texts, sandbox: text, allowWeaker: flag },
);

/** Checks of the nested and optional fields of records, by the type of the record. */
const forms: Readonly<Partial<Record<Fact["type"], Form>>> = {
  "run.started": fields(
    { plan },
    {
      name: text,
      continues: text,
      origin: isRecord,
      context: text,
      permissions,
      limits,
      settings: fields(
        {},
        { model: text, providers: mapOf(fields({ address: text }, { digest: text })), sandbox: text, permissions },
      ),
      parks,
      agents: mapOf(text),
    },
  ),
  "run.ended": fields({ outcome }),
  "run.resumed": fields({}, { task: text, limits, parks, retryFailed: flag }),
  "node.started": fields(
    { kind: oneOf("task", "gate", "loop", "join") },
    {
      label: text,
      agent: text,
      model: text,
      prompt: text,
      continues: text,
      attached: listOf(fields({ title: text, path: text })),
      resumes: text,
      task: fields({}, { ...taskFields, prompt: text }),
    },
  ),
  "node.reused": fields({ from: text }, { endedAt: time, saved: fields({ usage, cost }) }),
  "agent.resolved": fields(
    {},
    { definition: fields({ name: text }, { description: text, instructions: text }), rights: texts, reuse: text },
  ),
  "node.waiting": fields({ for: listOf(fields({ task: text, files: texts }, { run: text })) }),
  "node.retried": fields({ outcome }),
  "node.parked": fields({}, { until: time, nextTry: time }),
  "node.ended": fields({ outcome }),
  "turn.started": fields({}, { why: text, limits, reserved: mapOf(number) }),
  "turn.restarted": fields({ usage, cost }),
  "turn.ended": fields(
    { calls: listOf(fields({ id: text, name: text })), usage, cost },
    { thinking: text, model: text },
  ),
  "tool.started": fields({ effect: oneOf("read", "write") }),
  "tool.ended": fields({}, { status: text, files: texts }),
  "files.changed": fields(
    { files: listOf(fields({ file: text, before: version, after: version })) },
    { call: text, unseen: text },
  ),
  "conversation.forked": fields({ from: text }, { turn: number }),
  "rights.reduced": fields({ lost: texts }),
  "gate.opened": fields({}, { call: text, wants: text, offersNetwork: flag }),
  "gate.answered": fields(
    {
      answer: fields({ approve: flag }, { text, by: text, always: flag, network: flag, rule: text, scope: text }),
    },
    { call: text },
  ),
  "remote.joined": fields({}, { turn: number, context: text, task: text }),
  "below.ended": fields({ below: text, usage, cost }, { toolCalls: number, spawns: number }),
  "plan.changed": fields({
    change: fields(
      {},
      { newTasks: mapOf(node), into: text, updateDependencies: mapOf(texts), markFailed: mapOf(text) },
    ),
  }),
  "limit.reached": fields({}, { limit: text, reached }),
  "context.compacted": fields({}, { before: number, after: number, summary: text, replaced: number }),
};

/** Whether the nested and optional fields of a record have the types that its readers expect. */
function hasForm(event: Readonly<{ type: string }>): boolean {
  return forms[event.type as Fact["type"]]?.(event) ?? true;
}

/**
 * Whether the fields of an event have the types that its readers expect. A correct checksum only proves that a record
 * was not changed after it was written, not that subcrew wrote it.
 */
export function isWellFormed(event: KeptEvent): boolean {
  const { seq, at, type } = event;
  if (!Number.isSafeInteger(seq) || !time(at) || !fits(event, ENVELOPE)) return false;
  if (event.jumped !== undefined && !(Number.isFinite(event.jumped) && event.jumped >= 0)) return false;
  if (!isKnown(event)) return true;
  if (!fits(event, meant[type]) || !fits(event, examples[type])) return false;
  return hasForm(event);
}

function fits(value: object, examples: Readonly<Record<string, unknown>> = {}): boolean {
  for (const name in examples) if (!isLike((value as Record<string, unknown>)[name], examples[name])) return false;
  return true;
}

function isLike(value: unknown, example: unknown): boolean {
  if (typeof example === "number") return Number.isFinite(value);
  if (Array.isArray(example)) return Array.isArray(value);
  if (!isRecord(example)) return typeof value === typeof example;
  if (!isRecord(value)) return false;
  for (const name in example) if (value[name] !== undefined && !isLike(value[name], example[name])) return false;
  return true;
}

/**
 * Converts the providers of older events. Earlier versions recorded only the address of the default model's provider,
 * and nothing about the key.
 */
function withProviders<T extends object>(event: T, settings: RecordedSettings & { address?: unknown }): T {
  const { address, ...others } = settings;
  const provider = splitModelName(settings.model ?? "")?.provider;
  if (typeof address !== "string" || provider === undefined || settings.providers) return event;
  return { ...event, settings: { ...others, providers: { [provider]: { address } } } };
}

const known: Readonly<Record<Fact["type"], true>> = {
  "run.started": true,
  "run.ended": true,
  "run.paused": true,
  "run.resumed": true,
  "node.started": true,
  "node.reused": true,
  "agent.resolved": true,
  "node.waiting": true,
  "node.retried": true,
  "node.parked": true,
  "node.unparked": true,
  "node.paused": true,
  "node.resumed": true,
  "node.won": true,
  "node.ended": true,
  "turn.started": true,
  "turn.partial": true,
  "turn.restarted": true,
  "turn.ended": true,
  "tool.started": true,
  "tool.ended": true,
  "files.changed": true,
  "tool.denied": true,
  "tool.rejected": true,
  "tool.unknown": true,
  "rights.reduced": true,
  "conversation.forked": true,
  "gate.opened": true,
  "gate.answered": true,
  "remote.joined": true,
  "below.ended": true,
  "message.sent": true,
  "plan.changed": true,
  "limit.reached": true,
  "context.compacted": true,
  note: true,
  warning: true,
};

/** False for an unknown event of a newer version, which stays in the journal and is not evaluated. */
export function isKnown({ type }: Readonly<{ type: string }>): boolean {
  return Object.hasOwn(known, type);
}

/**
 * The events of a run, with stops recorded by version 0.1 converted to pauses. That version ended a stopped run, and
 * every task of it, as cancelled. Its journals contain no limits of the run, and were never resumed by a later version.
 */
export function withoutOldStops(events: readonly KeptEvent[]): readonly KeptEvent[] {
  if (!isOldJournal(events)) return events;
  const kept: KeptEvent[] = [];
  let reason: string | undefined;
  for (const event of events.toReversed()) {
    if (event.type === "run.ended") reason = event.outcome.status === "cancelled" ? event.outcome.reason : undefined;
    const { outcome } = event.type === "node.ended" ? event : {};
    if (outcome?.status === "cancelled" && outcome.reason === reason) continue;
    kept.push(
      event.type === "run.ended" && reason !== undefined ? { ...envelopeOf(event), type: "run.paused", reason } : event,
    );
  }
  return kept.toReversed();
}

const envelopeOf = ({ seq, run, path, at }: KeptEvent): Pick<KeptEvent, "seq" | "run" | "path" | "at"> => ({
  seq,
  run,
  path,
  at,
});

/** True for the journal of a run that only version 0.1 of subcrew worked on. */
function isOldJournal(events: readonly KeptEvent[]): boolean {
  const [started] = events;
  return (
    started?.type === "run.started" &&
    started.limits === undefined &&
    !events.some(({ type }) => type === "run.resumed")
  );
}

/**
 * True for a run that version 0.1 of subcrew stopped. That version recorded a stop as a cancellation, and recorded no
 * limits.
 */
export function isOldStop(
  limits: RunLimits | undefined,
  event: Extract<Event, { type: "run.ended" }>,
): event is typeof event & { outcome: Extract<Outcome, { status: "cancelled" }> } {
  return limits === undefined && event.outcome.status === "cancelled";
}
