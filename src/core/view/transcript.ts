import type { ToolCall } from "../model/model.ts";
import type { Outcome } from "../outcome/outcome.ts";
import { type Cost, formatCost, type Usage } from "../outcome/usage.ts";
import type { Answer } from "../plan/gate.ts";
import type { KeptEvent } from "../run/event.ts";
import { deniedText } from "../run/kept-event.ts";

/** One tool call: its input, and its result if it is known. */
export type CallEntry = Readonly<{
  kind: "call";
  at: number;
  id: string;
  tool: string;
  input: unknown;
  /** The state of a tool call; `open`: the call is recorded, but not its result. */
  state: "open" | "ok" | "error" | "denied";
  result: string;
  ms: number | undefined;
}>;

/** One step of a task, in the order in which it happened. */
export type TranscriptEntry =
  | Readonly<{ kind: "prompt"; at: number; attempt: number; text: string; continues: string | undefined }>
  | Readonly<{
      kind: "turn";
      at: number;
      turn: number;
      model: string | undefined;
      thinking: string;
      text: string;
      usage: Usage;
      cost: Cost;
    }>
  | CallEntry
  | Readonly<{ kind: "question"; at: number; text: string; answer: Answer | undefined }>
  | Readonly<{ kind: "message"; at: number; from: string; text: string }>
  | Readonly<{ kind: "note"; at: number; label: string; text: string }>
  | Readonly<{ kind: "end"; at: number; outcome: Outcome }>;

/** What one task did, as entries in order of time. The path is empty for the run itself. */
export type Transcript = Readonly<{
  path: string;
  label: string;
  agent: string | undefined;
  model: string | undefined;
  startedAt: number;
  entries: readonly TranscriptEntry[];
}>;

/** The transcripts of a run from its events: one per task, in the order in which they began. */
export function transcriptsOf(events: Iterable<KeptEvent>): readonly Transcript[] {
  const drafts = new Map<string, Draft>();
  const draftOf = ({ path, at }: KeptEvent): Draft => {
    const known = drafts.get(path);
    if (known) return known;
    const made: Draft = { path, label: path, agent: undefined, model: undefined, startedAt: at, entries: [] };
    drafts.set(path, made);
    return made;
  };
  for (const event of events) addTo(draftOf, event);
  return [...drafts.values()].filter(({ entries }) => entries.length > 0);
}

type Draft = { -readonly [K in keyof Transcript]: Transcript[K] } & { entries: TranscriptEntry[] };

function addTo(draftOf: (event: KeptEvent) => Draft, event: KeptEvent): void {
  const { at } = event;
  const add = (entry: TranscriptEntry): void => void draftOf(event).entries.push(entry);
  const note = (label: string, text: string): void => add({ kind: "note", at, label, text });
  switch (event.type) {
    case "node.started": {
      const draft = draftOf(event);
      Object.assign(draft, {
        label: event.label ?? event.path,
        agent: event.agent ?? draft.agent,
        model: event.model ?? draft.model,
      });
      if (event.kind === "task")
        add({ kind: "prompt", at, attempt: event.attempt, text: event.prompt ?? "", continues: event.continues });
      break;
    }
    case "node.reused":
      note("reused", `The result was taken from ${event.from}.`);
      break;
    case "node.retried":
      note("retry", `Attempt ${event.attempt} did not succeed; the next one starts in ${event.delayMs} ms.`);
      break;
    case "turn.started":
      draftOf(event).model = event.model;
      if (event.why !== undefined) note("model", `${event.model}: ${event.why}`);
      break;
    case "turn.ended": {
      const { turn, thinking = "", text, usage, cost } = event;
      add({ kind: "turn", at, turn, model: event.model ?? draftOf(event).model, thinking, text, usage, cost });
      for (const call of event.calls) add(opened(call, at));
      break;
    }
    case "tool.ended":
      settle(draftOf(event), event.call, {
        state: event.error ? "error" : "ok",
        result: event.text,
        ms: event.ms,
        tool: event.tool,
      });
      break;
    case "tool.denied":
      settle(draftOf(event), event.call, {
        state: "denied",
        result: deniedText(event),
        ms: undefined,
        tool: event.tool,
      });
      break;
    case "gate.opened":
      add({ kind: "question", at, text: event.question, answer: undefined });
      break;
    case "gate.answered":
      answered(draftOf(event), event.answer);
      break;
    case "message.sent":
      add({ kind: "message", at, from: event.from, text: event.text });
      break;
    case "limit.reached":
      note("limit", event.text);
      break;
    case "below.ended":
      note(
        "child run",
        `${event.below} used ${event.usage.turns} turns, ${formatCost(event.cost)}. This usage counts towards the limits of this run.`,
      );
      break;
    case "context.compacted":
      note("compacted", compactedText(event));
      break;
    case "note":
      note("note", event.text);
      break;
    case "warning":
      note("warning", event.text);
      break;
    case "node.ended":
    case "run.ended":
      add({ kind: "end", at, outcome: event.outcome });
      break;
    default:
      break; // starts, plans and permissions are not part of a transcript
  }
}

/** A text about what was removed from a conversation to fit the context window. */
export const compactedText = ({
  summary,
  cut,
  before,
  after,
}: Extract<KeptEvent, { type: "context.compacted" }>): string =>
  `${summary !== undefined ? "The conversation was summarised" : cut ? "Long tool results were shortened" : "Old tool results were left out of the conversation"}: ${before} tokens became ${after}.`;

const opened = ({ id, name, input }: ToolCall, at: number): CallEntry => ({
  kind: "call",
  at,
  id,
  tool: name,
  input,
  state: "open",
  result: "",
  ms: undefined,
});

type Settled = Pick<CallEntry, "state" | "result" | "ms" | "tool">;

/** Completes the last tool call with that id; ids may repeat after a retry. */
function settle({ entries }: Draft, id: string, settled: Settled): void {
  const at = entries.findLastIndex((entry) => entry.kind === "call" && entry.id === id);
  const entry = entries[at];
  if (entry?.kind === "call") entries[at] = { ...entry, ...settled, tool: entry.tool };
}

function answered({ entries }: Draft, answer: Answer): void {
  const at = entries.findLastIndex((entry) => entry.kind === "question" && entry.answer === undefined);
  const entry = entries[at];
  if (entry?.kind === "question") entries[at] = { ...entry, answer };
}
