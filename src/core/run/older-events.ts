import { noCost, noUsage } from "../outcome/usage.ts";
import type { Fact, KeptEvent } from "./event.ts";

/**
 * What an event that lacks a field means. An earlier version may not have written it, and another program may not know
 * it. Where it is about what may be done again, the careful reading counts: a tool that does not say what it does writes.
 */
const meant: Readonly<Partial<Record<Fact["type"], Readonly<Record<string, unknown>>>>> = {
  "run.started": { cwd: "", version: "0" },
  "node.started": { attempt: 1, kind: "task" },
  "node.waiting": { for: [] },
  "node.retried": { attempt: 1, delayMs: 0 },
  "turn.started": { turn: 1, model: "unknown" },
  "turn.ended": { turn: 1, text: "", calls: [], usage: noUsage(), cost: noCost() },
  "tool.started": { preview: "", effect: "write" },
  "tool.ended": { error: false, text: "", ms: 0 },
  "tool.denied": { rule: "", text: "" },
  "tool.rejected": { reason: "", text: "" },
  "tool.unknown": { text: "" },
  "rights.reduced": { agent: "", lost: [], reason: "" },
  "limit.reached": { text: "", enforced: true },
  "message.sent": { from: "the user" },
  warning: { code: "UNKNOWN" },
};

const ENVELOPE = { run: "", path: "", at: 0 };

/** An event with everything that its type promises. Types that only a newer version knows stay as they are. */
export function completed(event: KeptEvent): KeptEvent {
  const defaults = { ...ENVELOPE, ...meant[event.type] };
  for (const field in defaults) if (!(field in event)) return { ...defaults, ...event };
  return event;
}

const known: Readonly<Record<Fact["type"], true>> = {
  "run.started": true,
  "run.ended": true,
  "node.started": true,
  "node.reused": true,
  "agent.resolved": true,
  "node.waiting": true,
  "node.retried": true,
  "node.ended": true,
  "turn.started": true,
  "turn.ended": true,
  "tool.started": true,
  "tool.ended": true,
  "tool.denied": true,
  "tool.rejected": true,
  "tool.unknown": true,
  "rights.reduced": true,
  "gate.opened": true,
  "gate.answered": true,
  "remote.joined": true,
  "message.sent": true,
  "plan.changed": true,
  "limit.reached": true,
  "context.compacted": true,
  note: true,
  warning: true,
};

/** False for an event that a newer version wrote: it is kept and skipped. */
export function isKnown({ type }: Readonly<{ type: string }>): boolean {
  return Object.hasOwn(known, type);
}
