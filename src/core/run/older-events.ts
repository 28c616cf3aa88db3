import type { Outcome } from "../outcome/outcome.ts";
import { noCost, noUsage } from "../outcome/usage.ts";
import { isRecord } from "../text/json.ts";
import { splitModelName } from "../vocabulary/model-name.ts";
import type { Event, Fact, KeptEvent, RecordedSettings, RunLimits } from "./event.ts";

/**
 * Defaults for missing fields of events. An earlier version may not have written a field, and another program may not
 * know it. Defaults are on the safe side: a tool call of unknown effect counts as one that changes something.
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
/** Examples of fields that have no default. Those of `optional` may be absent. */
const examples: Readonly<Partial<Record<Fact["type"], Readonly<Record<string, unknown>>>>> = {
  "run.started": { plan: { nodes: {}, output: "" } },
  "run.ended": { outcome: { status: "" } },
  "node.retried": { outcome: { status: "" } },
  "node.ended": { outcome: { status: "" } },
  "agent.resolved": { agent: "", hash: "", model: "" },
  "tool.started": CALL,
  "tool.ended": CALL,
  "tool.denied": CALL,
  "tool.rejected": CALL,
  "tool.unknown": CALL,
  "gate.opened": { question: "" },
  "plan.changed": { change: {} },
  "message.sent": { text: "" },
  note: { text: "" },
  warning: { text: "" },
};
const optional = { limits: {}, settings: {}, permissions: {}, usage: noUsage(), cost: noCost() } as const;

/** The largest time that a `Date` can hold. */
const LAST_TIME = 8.64e15;

/**
 * Whether the fields of an event have the types that its readers expect. A correct checksum only proves that a record is
 * as it was written, not that subcrew wrote it.
 */
export function isWellFormed(event: KeptEvent): boolean {
  const { seq, at, type } = event;
  if (!Number.isSafeInteger(seq) || Math.abs(at) > LAST_TIME || !fits(event, ENVELOPE)) return false;
  if (!isKnown(event)) return true;
  const given: Readonly<Record<string, unknown>> = event;
  if (!fits(event, meant[type]) || !fits(event, examples[type])) return false;
  for (const name in optional)
    if (given[name] !== undefined && !isLike(given[name], optional[name as keyof typeof optional])) return false;
  if (type === "run.started") return Object.values(event.plan.nodes).every((node) => isRecord(node));
  return type !== "run.ended" && type !== "node.ended" && type !== "node.retried" ? true : isOutcome(event.outcome);
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

const SPENT = { usage: noUsage(), cost: noCost(), output: "" };

function isOutcome(outcome: Outcome): boolean {
  if (!isLike(outcome, SPENT)) return false;
  if (outcome.status === "failed") return isLike(outcome.fault, { code: "", message: "" });
  return outcome.status === "ok" || outcome.status === "cancelled" || outcome.status === "skipped";
}

/**
 * Converts the providers of older events: earlier versions recorded one address, that of the default model's provider,
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
 * The events of a run in which stops recorded by version 0.1 are pauses. That version ended a stopped run, and every
 * task of it, as cancelled. Its journals contain no limits of the run, and were never resumed by a later version.
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
