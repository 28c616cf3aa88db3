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

/** The run and the task that an event belongs to, and its time. `path` is empty for the run itself. */
export type Envelope = Readonly<{ run: string; path: string; at: number }>;

/** Origin of a run that a remote caller started: protocol, caller and context id. */
export type Origin = NonNullable<RunParameters["origin"]>;

/**
 * The address of a model provider when the run began. The digest is computed from address and API key; older journals
 * have no digest.
 */
export type RecordedProvider = Readonly<{ address: string; digest?: string }>;

/**
 * Settings at the start of a run: default model, providers by name, the sandbox, whether the project's settings and
 * instructions are used, and the permissions in the settings, without those that the call gave.
 */
export type RecordedSettings = Readonly<{
  model?: string;
  providers?: Readonly<Record<string, RecordedProvider>>;
  sandbox?: string;
  projectInstructions?: false;
  permissions?: Permissions;
}>;

/** The limits of a run as a whole. */
export type RunLimits = BudgetLimits & Readonly<{ maxTimeMs?: number }>;

/** Why a task is parked (waits before its next turn without failing), until when, and what a person can do. */
export type Parking = Readonly<{
  why: string;
  /** What the task waits for. */
  waitsFor: "key" | "credit" | "quota" | "provider" | "budget" | "person" | "worker" | "agent";
  /** When the task continues automatically; absent: after a successful test request or an action of the user. */
  until?: number;
  /** When the task retries automatically; absent: only after an action of the user. */
  nextTry?: number;
  /** What a person can do to end the wait. */
  helps: string;
}>;

/** Whether tasks wait (park) or end when they reach a limit of the run, and when their provider refuses requests. */
export type ParkRules = Readonly<{ onLimit: "park" | "end"; onProviderFault: "park" | "fail" }>;

/** Cost estimate of a turn before its answer. */
export type ReservedTurn = Readonly<{
  input: number;
  /** The price of the input, in dollars. */
  usd?: number;
  /** The price of each token of the answer. */
  usdPerToken?: number;
}>;

/** A recorded event of a run; `seq` numbers have no gaps. */
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
      /**
       * The text that precedes the prompt of every task: given text, files and the git state as they were at the start
       * of the run.
       */
      context?: string;
      /** The permissions of the run's agents. They also apply after the run was resumed. */
      permissions?: Permissions;
      /** The limits of the run; absent in journals of version 0.1. */
      limits?: RunLimits;
      /** Other settings that decided how the run works. */
      settings?: RecordedSettings;
      /**
       * Whether the run's tasks park (wait) instead of failing when they reach a limit or a provider refuses requests;
       * absent in older journals.
       */
      parks?: ParkRules;
      /** True: no API key was found, so tasks that name no other model use the offline model. */
      offline?: true;
      /**
       * The agents of the plan and those that they may start, by name: the hash of the definition, whose text the store
       * has once for all runs.
       */
      agents?: Readonly<Record<string, string>>;
    }
  | { type: "run.ended"; outcome: Outcome }
  /** The run was paused and can be resumed. */
  | { type: "run.paused"; reason: string }
  | {
      type: "run.resumed";
      after: number;
      retryFailed?: true;
      /** The only task that is resumed, together with its dependents; absent: the whole run is resumed. */
      task?: string;
      /** The new limits of the run. */
      limits?: RunLimits;
      /**
       * Whether the run's tasks park (wait) instead of failing from now on, at a limit or when a provider refuses
       * requests.
       */
      parks?: ParkRules;
    }
  | {
      type: "node.started";
      attempt: number;
      /**
       * The kind of the node. A join (a node that collects outputs) is recorded as started only when it has changes to
       * apply.
       */
      kind: "task" | "gate" | "loop" | "join";
      label?: string;
      agent?: string;
      model?: string;
      prompt?: string;
      /** The task whose conversation this task continues, as `run/path`. */
      continues?: string;
      /**
       * The nodes whose outputs were attached to the prompt: each with its title in the prompt and its path in the run.
       */
      attached?: readonly Readonly<{ title: string; path: string }>[];
      /** True: the result of this task is a verdict about the output of another task. */
      review?: true;
      /** The task of the same run whose conversation this task continues. */
      resumes?: string;
      /** The options of a task that an agent started. The options of other tasks are in the plan. */
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
      /** The key under which a later run can find and reuse the result of this task. */
      reuse?: string;
    }
  /** A task waits for files that other tasks are writing. */
  | { type: "node.waiting"; for: readonly Readonly<{ task: string; files: readonly string[]; run?: string }>[] }
  | { type: "node.retried"; attempt: number; outcome: Outcome; delayMs: number }
  | ({ type: "node.parked" } & Parking)
  | { type: "node.unparked"; why: string }
  /** The task was paused, or is kept from starting, while the rest of the run continues. */
  | { type: "node.paused"; reason: string }
  | { type: "node.resumed" }
  /** A task of a race is among the winners; its changes are applied next. */
  | { type: "node.won" }
  | { type: "node.ended"; outcome: Outcome }
  | {
      type: "turn.started";
      turn: number;
      model: string;
      /** With the first turn: the reason why its model was chosen. */
      why?: string;
      /** With the first turn: how many turns the task may take, and how long it may work. */
      limits?: Readonly<{ maxTurns: number; maxTimeMs: number }>;
      /** The usage to count in case the turn is cut off: input tokens, and prices if known. */
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
      /** The part of its reasoning that the model showed. */
      thinking?: string;
      text: string;
      calls: readonly ToolCall[];
      usage: Usage;
      cost: Cost;
      carry?: ProviderData;
      /** The model that answered, if it is not the requested model. */
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
      /** True: the event was recorded before the change is made, so that a crash in between loses nothing. */
      ahead?: true;
      /** Why files that the tool call changed could not be recorded. */
      unseen?: string;
    }
  | { type: "tool.denied"; call: string; tool: string; rule: string; text: string }
  /** A tool call with invalid arguments, which was not executed. */
  | { type: "tool.rejected"; call: string; tool: string; reason: string; text: string }
  /**
   * A call of a tool with effects that was running when the process crashed: its effect is unknown, and it was not
   * repeated.
   */
  | { type: "tool.unknown"; call: string; tool: string; text: string }
  /** The task starts from the conversation of another task (`from`, as `run/path`) in its state after `turn` turns. */
  | { type: "conversation.forked"; from: string; turn: number }
  /** The agent got fewer tools than the agent's file names. */
  | { type: "rights.reduced"; agent: string; lost: readonly string[]; reason: string }
  | {
      type: "gate.opened";
      question: string;
      /** The tool call that the question is about; absent for a gate of the plan. */
      call?: string;
      /** The question needs an answer in words; absent: yes or no. */
      wants?: "words";
      /** True: the command needs the network, which the sandbox does not have; the answer may grant it. */
      offersNetwork?: true;
    }
  | { type: "gate.answered"; answer: Answer; call?: string }
  | {
      type: "remote.joined";
      /** The ids by which the remote agent knows the task, needed to continue it after a resume. */
      turn: number;
      context?: string;
      task?: string;
    }
  /**
   * A nested run, started by a program of this task, has ended or was paused: its usage counts towards the limits of
   * this run.
   */
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
  /** `agents`: the agents of the new tasks, as in `run.started`. */
  | { type: "plan.changed"; change: Change; agents?: Readonly<Record<string, string>> }
  | {
      type: "limit.reached";
      limit: string;
      text: string;
      enforced: boolean;
      /** The limit that was reached, in the form that outcomes contain. */
      reached?: ReachedLimit;
    }
  | {
      type: "context.compacted";
      before: number;
      after: number;
      /**
       * The summary that replaces earlier messages, and how many messages after the first message it replaces; absent:
       * only old tool results were removed.
       */
      summary?: string;
      replaced?: number;
    }
  | { type: "note"; text: string }
  | { type: "warning"; code: string; text: string };

/** Events that are only shown live and not recorded; the event that ends the turn or tool call has the full content. */
export type Delta =
  | { type: "text.delta"; text: string }
  | { type: "thinking.delta"; text: string }
  | { type: "tool.delta"; call: string; text: string };

export type KeptEvent = Envelope &
  Readonly<{
    seq: number;
    /**
     * How far the clock jumped ahead since the previous event, in milliseconds: it was set forward, or the machine
     * slept.
     */
    jumped?: number;
  }> &
  Readonly<Fact>;
export type LiveEvent = Envelope & Readonly<Delta>;
export type Event = KeptEvent | LiveEvent;

/** True for an event that is in the journal. */
export function isKept(event: Event): event is KeptEvent {
  return "seq" in event;
}

/** `waiting for api (src/**)`: the task that is writing the files, and the files. */
export function waitingText(blockers: Extract<Fact, { type: "node.waiting" }>["for"]): string {
  const named = blockers.map(
    ({ task, files, run }) => `${task}${run === undefined ? "" : ` of ${run}`} (${files.join(", ")})`,
  );
  return `waiting for ${named.join(", ")}`;
}
