import type { Agent } from "../agent/agent.ts";
import type { ProviderData, ToolCall } from "../model/model.ts";
import type { Outcome } from "../outcome/outcome.ts";
import type { ReachedLimit } from "../outcome/reached-limit.ts";
import type { Cost, Usage } from "../outcome/usage.ts";
import type { Answer } from "../plan/gate.ts";
import type { Plan } from "../plan/plan.ts";
import type { Permissions } from "../policy/permissions.ts";
import type { Change } from "../schedule/change.ts";
import type { ToolStatus } from "../vocabulary/tool-status.ts";
import type { BudgetLimits } from "./budget.ts";
import type { RunParameters } from "./run-parameters.ts";

/** Where and when something happened. `path` is empty for the run itself. */
export type Envelope = Readonly<{ run: string; path: string; at: number }>;

/** Where a run came from that nobody on this machine started: the protocol, who spoke it, and what it is part of there. */
export type Origin = NonNullable<RunParameters["origin"]>;

/** What decided how a run began: its default model, where that is reached, and how commands are isolated. */
export type RecordedSettings = Readonly<{ model?: string; address?: string; sandbox?: string }>;

/** What a run as a whole may use. */
export type RunLimits = BudgetLimits & Readonly<{ maxTimeMs?: number }>;

/** Why a task waits before its next turn, until when, and what helps. */
export type Parking = Readonly<{
  why: string;
  /** What it waits for. */
  waitsFor: "key" | "credit" | "quota" | "provider" | "budget" | "person";
  /** When it goes on by itself; absent: when a probe succeeds, or somebody sees to it. */
  until?: number;
  /** When it asks again by itself; absent: only when somebody sees to it. */
  nextTry?: number;
  /** What a person can do about it. */
  helps: string;
}>;

/** What tasks do at a limit of the run, and when their provider does not serve them. */
export type ParkRules = Readonly<{ onLimit: "park" | "end"; onProviderFault: "park" | "fail" }>;

/** What is known about the cost of a turn before its answer has come. */
export type ReservedTurn = Readonly<{
  input: number;
  /** The price of the input, in dollars. */
  usd?: number;
  /** The price of one token of the answer. */
  usdPerToken?: number;
}>;

/** A fact about a run that is kept; `seq` counts them without a gap. */
export type Fact =
  | {
      type: "run.started";
      plan: Plan;
      name?: string;
      cwd: string;
      version: string;
      continues?: string;
      /** Who asked for it from outside, and in which conversation. */
      origin?: Origin;
      /** What its agents may do, also when it is taken up again. */
      permissions?: Permissions;
      /** What it may use; absent in journals of 0.1. */
      limits?: RunLimits;
      /** What else decided how it runs. */
      settings?: RecordedSettings;
      /** Whether its tasks wait instead of failing; absent in older journals. */
      parks?: ParkRules;
    }
  | { type: "run.ended"; outcome: Outcome }
  /** It was stopped in order and can be resumed. */
  | { type: "run.paused"; reason: string }
  | {
      type: "run.resumed";
      after: number;
      retryFailed?: true;
      /** The task that alone goes on, with everything that depends on it; absent: the whole run does. */
      task?: string;
      /** What it may use from now on. */
      limits?: RunLimits;
      /** Whether its tasks wait instead of failing from now on. */
      parks?: ParkRules;
    }
  | {
      type: "node.started";
      attempt: number;
      kind: "task" | "gate" | "loop";
      label?: string;
      agent?: string;
      model?: string;
      prompt?: string;
      /** The task whose conversation it goes on with, as `run/path`. */
      continues?: string;
    }
  | {
      type: "node.reused";
      /** The task of an earlier run that was asked the same, as `run/path`. */
      from: string;
      /** When that ended. */
      endedAt: number;
      /** What it had cost. */
      saved?: Readonly<{ usage: Usage; cost: Cost }>;
    }
  | {
      type: "agent.resolved";
      agent: string;
      hash: string;
      model: string;
      /** The first time in a life of the run: what the hash stands for. */
      definition?: Agent;
      rights?: readonly string[];
    }
  /** A task that cannot start yet: others hold files that it says it writes. */
  | { type: "node.waiting"; for: readonly Readonly<{ task: string; files: readonly string[] }>[] }
  | { type: "node.retried"; attempt: number; outcome: Outcome; delayMs: number }
  | ({ type: "node.parked" } & Parking)
  | { type: "node.unparked"; why: string }
  /** It was stopped in order, or does not begin, while the rest of the run goes on. */
  | { type: "node.paused"; reason: string }
  | { type: "node.resumed" }
  | { type: "node.ended"; outcome: Outcome }
  | {
      type: "turn.started";
      turn: number;
      model: string;
      /** With the first turn: why this model. */
      why?: string;
      /** With the first turn: how many turns the task may take, and how long it may work. */
      limits?: Readonly<{ maxTurns: number; maxTimeMs: number }>;
      /** What it counts as when it is cut off: the tokens that are sent, and prices where they are known. */
      reserved?: ReservedTurn;
    }
  | { type: "turn.partial"; turn: number; text: string }
  | {
      type: "turn.restarted";
      turn: number;
      reason: string;
      delayMs: number;
      /** What the answer that broke off counts as. */
      usage: Partial<Usage>;
      cost: Cost;
    }
  | {
      type: "turn.ended";
      turn: number;
      /** What the model showed of its thinking. */
      thinking?: string;
      text: string;
      calls: readonly ToolCall[];
      usage: Usage;
      cost: Cost;
      carry?: ProviderData;
      /** Who answered, when it was another model. */
      model?: string;
    }
  | { type: "tool.started"; call: string; tool: string; preview: string; effect: "read" | "write" }
  | {
      type: "tool.ended";
      call: string;
      tool: string;
      error: boolean;
      text: string;
      ms: number;
      status?: ToolStatus;
      details?: unknown;
      /** Outputs of the run that the task was told of with it, and may read from now on. */
      files?: readonly string[];
    }
  | { type: "tool.denied"; call: string; tool: string; rule: string; text: string }
  /** A call that could not be carried out as it was written: its arguments are not valid. */
  | { type: "tool.rejected"; call: string; tool: string; reason: string; text: string }
  /** A writing call that was under way at a crash: whether it had its effect is not known, and it was not repeated. */
  | { type: "tool.unknown"; call: string; tool: string; text: string }
  /** The task starts from the conversation of another one, as `run/path`, as it was after this many turns. */
  | { type: "conversation.forked"; from: string; turn: number }
  /** The agent got fewer tools than its file names. */
  | { type: "rights.reduced"; agent: string; lost: readonly string[]; reason: string }
  | {
      type: "gate.opened";
      question: string;
      /** The tool call it is about; absent for a gate of the plan. */
      call?: string;
    }
  | { type: "gate.answered"; answer: Answer; call?: string }
  | {
      type: "remote.joined";
      /** Where an agent elsewhere works on what it was sent: resuming goes on there. */
      turn: number;
      context?: string;
      task?: string;
    }
  | { type: "message.sent"; from: string; text: string }
  | { type: "plan.changed"; change: Change }
  | {
      type: "limit.reached";
      limit: string;
      text: string;
      enforced: boolean;
      /** The limit as an outcome bears it. */
      reached?: ReachedLimit;
    }
  | { type: "context.compacted"; before: number; after: number }
  | { type: "note"; text: string }
  | { type: "warning"; code: string; text: string };

/** What is only seen while it happens; the fact that ends the turn or tool carries the whole. */
export type Delta =
  | { type: "text.delta"; text: string }
  | { type: "thinking.delta"; text: string }
  | { type: "tool.delta"; call: string; text: string };

export type KeptEvent = Envelope & Readonly<{ seq: number }> & Readonly<Fact>;
export type LiveEvent = Envelope & Readonly<Delta>;
export type Event = KeptEvent | LiveEvent;

/** True for an event that is in the journal. */
export function isKept(event: Event): event is KeptEvent {
  return "seq" in event;
}
