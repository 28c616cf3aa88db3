import type { Agent } from "../agent/agent.ts";
import type { ProviderData, ToolCall } from "../model/model.ts";
import type { Outcome } from "../outcome/outcome.ts";
import type { ReachedLimit } from "../outcome/reached-limit.ts";
import type { Cost, Usage } from "../outcome/usage.ts";
import type { Answer } from "../plan/gate.ts";
import type { Plan } from "../plan/plan.ts";
import type { Task } from "../plan/task.ts";
import type { Permissions } from "../policy/permissions.ts";
import type { Change } from "../schedule/change.ts";
import type { ToolStatus } from "../vocabulary/tool-status.ts";
import type { BudgetLimits } from "./budget.ts";
import type { ChangedFile } from "./file-version.ts";
import type { RunParameters } from "./run-parameters.ts";

/** Where and when something happened. `path` is empty for the run itself. */
export type Envelope = Readonly<{ run: string; path: string; at: number }>;

/** Origin of a run that a remote caller started: protocol, caller and context id. */
export type Origin = NonNullable<RunParameters["origin"]>;

/** The address of a provider when the run began; the digest covers address and key and is absent in older journals. */
export type RecordedProvider = Readonly<{ address: string; digest?: string }>;

/** Settings at the start of a run: default model, providers by name, the sandbox, and whether the project's settings and instructions are used. */
export type RecordedSettings = Readonly<{
  model?: string;
  providers?: Readonly<Record<string, RecordedProvider>>;
  sandbox?: string;
  projectInstructions?: false;
}>;

/** The limits of a run as a whole. */
export type RunLimits = BudgetLimits & Readonly<{ maxTimeMs?: number }>;

/** Why a task is parked, until when, and what helps. */
export type Parking = Readonly<{
  why: string;
  /** What it waits for. */
  waitsFor: "key" | "credit" | "quota" | "provider" | "budget" | "person" | "worker";
  /** When it continues automatically; absent: after a successful probe or an action of the user. */
  until?: number;
  /** When it retries automatically; absent: only after an action of the user. */
  nextTry?: number;
  /** What a person can do about it. */
  helps: string;
}>;

/** Whether tasks park or end at a limit of the run and at a fault of their provider. */
export type ParkRules = Readonly<{ onLimit: "park" | "end"; onProviderFault: "park" | "fail" }>;

/** Cost estimate of a turn before its answer. */
export type ReservedTurn = Readonly<{
  input: number;
  /** The price of the input, in dollars. */
  usd?: number;
  /** The price of one token of the answer. */
  usdPerToken?: number;
}>;

/** A durable event of a run; `seq` has no gaps. */
export type Fact =
  | {
      type: "run.started";
      plan: Plan;
      name?: string;
      cwd: string;
      version: string;
      continues?: string;
      /** The remote caller that started the run, and the conversation it belongs to. */
      origin?: Origin;
      /** The context that precedes every prompt: text, files and git facts as they were at the start of the run. */
      context?: string;
      /** Permissions of its agents, also after a resume. */
      permissions?: Permissions;
      /** The limits of the run; absent in journals of 0.1. */
      limits?: RunLimits;
      /** Other settings that decided how the run works. */
      settings?: RecordedSettings;
      /** Whether its tasks wait instead of failing; absent in older journals. */
      parks?: ParkRules;
      /** No key of a provider was found, so tasks that name no other model run on the offline one. */
      offline?: true;
    }
  | { type: "run.ended"; outcome: Outcome }
  /** The run was paused and can be resumed. */
  | { type: "run.paused"; reason: string }
  | {
      type: "run.resumed";
      after: number;
      retryFailed?: true;
      /** The only task that is resumed, together with its dependents; absent: the whole run is. */
      task?: string;
      /** The new limits. */
      limits?: RunLimits;
      /** Whether its tasks wait instead of failing from now on. */
      parks?: ParkRules;
    }
  | {
      type: "node.started";
      attempt: number;
      /** A join starts only when it has changes to apply. */
      kind: "task" | "gate" | "loop" | "join";
      label?: string;
      agent?: string;
      model?: string;
      prompt?: string;
      /** The task whose conversation it continues, as `run/path`. */
      continues?: string;
      /** The nodes whose outputs were attached to its prompt: by which name, and where they are in the run. */
      attached?: readonly Readonly<{ title: string; path: string }>[];
      /** Its result is a verdict about the work of another task. */
      review?: true;
      /** The task of this run whose conversation it continues. */
      resumes?: string;
      /** The options of a helper's task; those of other tasks are in the plan. */
      task?: Readonly<Partial<Task>>;
    }
  | {
      type: "node.reused";
      /** The earlier task whose result is reused, as `run/path`. */
      from: string;
      /** When the reused task ended. */
      endedAt: number;
      /** The cost of the reused task. */
      saved?: Readonly<{ usage: Usage; cost: Cost }>;
    }
  | {
      type: "agent.resolved";
      agent: string;
      hash: string;
      model: string;
      /** The agent that `hash` was computed from. A process records it with the first event that has this hash. */
      definition?: Agent;
      rights?: readonly string[];
      /** The key by which a later run finds the result of this task. */
      reuse?: string;
    }
  /** A task waits for files that other tasks hold. */
  | { type: "node.waiting"; for: readonly Readonly<{ task: string; files: readonly string[]; run?: string }>[] }
  | { type: "node.retried"; attempt: number; outcome: Outcome; delayMs: number }
  | ({ type: "node.parked" } & Parking)
  | { type: "node.unparked"; why: string }
  /** The task was paused, or does not start, while the rest of the run continues. */
  | { type: "node.paused"; reason: string }
  | { type: "node.resumed" }
  /** A contender has a place among the winners; its changes are applied next. */
  | { type: "node.won" }
  | { type: "node.ended"; outcome: Outcome }
  | {
      type: "turn.started";
      turn: number;
      model: string;
      /** With the first turn: why this model. */
      why?: string;
      /** With the first turn: how many turns the task may take, and how long it may work. */
      limits?: Readonly<{ maxTurns: number; maxTimeMs: number }>;
      /** Estimate for the case that the turn is cut off: input tokens, and prices if known. */
      reserved?: ReservedTurn;
    }
  | { type: "turn.partial"; turn: number; text: string }
  | {
      type: "turn.restarted";
      turn: number;
      reason: string;
      delayMs: number;
      /** Estimated usage of the incomplete answer. */
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
      /** The model that answered, if it is not the requested one. */
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
      /** Output files of the run that the task may read from now on. */
      files?: readonly string[];
    }
  | {
      type: "files.changed";
      call?: string;
      files: readonly ChangedFile[];
      /** Recorded before the change is made, so that a crash in between loses nothing. */
      ahead?: true;
      /** Why changes of the call could not be recorded. */
      unseen?: string;
    }
  | { type: "tool.denied"; call: string; tool: string; rule: string; text: string }
  /** A call with invalid arguments, which was not run. */
  | { type: "tool.rejected"; call: string; tool: string; reason: string; text: string }
  /** A writing call that was running at a crash: its effect is unknown, and it was not repeated. */
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
      /** The question is answered in words; absent: with yes or no. */
      wants?: "words";
      /** The command needs the network, which the sandbox does not have; the answer may add it. */
      offersNetwork?: true;
    }
  | { type: "gate.answered"; answer: Answer; call?: string }
  | {
      type: "remote.joined";
      /** Ids of a task at a remote agent, to continue it after a resume. */
      turn: number;
      context?: string;
      task?: string;
    }
  /** A nested run, started by a program of this task, has ended or was paused: its usage counts for this run. */
  | {
      type: "below.ended";
      /** The id of the nested run. */
      below: string;
      usage: Usage;
      cost: Cost;
      toolCalls: number;
      spawns: number;
    }
  | { type: "message.sent"; from: string; text: string }
  | { type: "plan.changed"; change: Change }
  | {
      type: "limit.reached";
      limit: string;
      text: string;
      enforced: boolean;
      /** The limit, in the form that outcomes use. */
      reached?: ReachedLimit;
    }
  | {
      type: "context.compacted";
      before: number;
      after: number;
      /** What stands in place of earlier messages, and how many after the first one it replaces; absent: only old results went. */
      summary?: string;
      replaced?: number;
    }
  | { type: "note"; text: string }
  | { type: "warning"; code: string; text: string };

/** Live events, not recorded; the event that ends the turn or tool has the full content. */
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

/** `waiting for api (src/**)`: the task that holds the files, and the files. */
export function waitingText(blockers: Extract<Fact, { type: "node.waiting" }>["for"]): string {
  const named = blockers.map(
    ({ task, files, run }) => `${task}${run === undefined ? "" : ` of ${run}`} (${files.join(", ")})`,
  );
  return `waiting for ${named.join(", ")}`;
}
