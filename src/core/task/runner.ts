import type { ToolNameStyle } from "../vocabulary/tool-name-styles.ts";
import type { Agent, Completion } from "../agent/agent.ts";
import type { Catalog } from "../delegation/catalog.ts";
import type { Miss, ModelWish, WishSource } from "../model/choose.ts";
import type { Model } from "../model/model.ts";
import type { Outcome } from "../outcome/outcome.ts";
import type { Rights } from "../policy/permit.ts";
import type { CutLimits } from "../text/cut.ts";
import type { JsonSchema } from "../text/json.ts";
import type { Limits } from "../vocabulary/limits.ts";
import type { TaskRunner } from "../vocabulary/runner-name.ts";
import type { Thinking } from "../vocabulary/thinking.ts";
import type { Call, PerformContext } from "./engine.ts";
import type { TaskAccess } from "./task-access.ts";
import type { Tool, ToolContext } from "./tool.ts";

/** The model that was chosen for a task, and why. */
export type ChosenModel = Readonly<{
  /** The name that people see. */
  name: string;
  /** The name that the provider uses for the model. */
  id: string;
  /** The name by which the same model is chosen again, for subagents that inherit it. */
  ref: string;
  model: Model;
  why: string;
  /** Thinking level from the model name; it takes precedence over the agent's level. */
  thinking?: Thinking;
  /** Warning when a requested model is not used. */
  warnings?: readonly string[];
  /** How many tokens fit into one request. */
  contextWindow?: number;
  /** Tells when a provider that refused a request may be asked again; absent for a model without a provider. */
  reopening?: Reopening;
  /** Cost in dollars of a model call of this size; absent when the price is unknown. */
  price?(tokens: Readonly<{ input: number; output: number }>): number | undefined;
}>;

/** When a provider that refused a request may be asked again. */
export type Reopening = Readonly<{
  /** Until when the provider must not be asked; `undefined`: it may be asked now. */
  look(): Promise<Readonly<{ nextTry: number; until?: number }> | undefined>;
  /**
   * Waits until another task has received an answer from the provider, or until it is this task's turn to send a test
   * request. Resolves with a sentence that names the reason for continuing.
   */
  wait(signal: AbortSignal): Promise<string>;
}>;

/** Chooses models for tasks. */
export type ModelSource = Readonly<{
  /**
   * Chooses the model of a task: the first request with an available model wins, otherwise the default. `binding`: the
   * source of requests that must be fulfilled, or the choice fails; `retry: false`: failed turns are not retried;
   * `thinking`: overrides the level in the model names.
   */
  choose(
    wishes: readonly ModelWish[],
    options?: Readonly<{ binding?: WishSource; retry?: boolean; thinking?: Thinking }>,
  ): Promise<ChosenModel | Readonly<{ misses: readonly Miss[] }>>;
}>;

/** A checker of the project: a command that reports problems in the current files. */
export type Diagnostics = Readonly<{ command: string; timeoutMs?: number }>;

/** A task with everything that its execution needs, resolved once: later code does not merge settings. */
export type Assignment = Readonly<{
  call: Call;
  agent: Agent;
  rights: Rights;
  model: ChosenModel;
  /** The tools that exist for the task; `permit` decides which of them the agent may see and use. */
  tools: ReadonlyMap<string, Tool>;
  /** The agents that the task may start, if it may start any. */
  catalog?: Catalog;
  limits: Limits;
  /** The runner that executes the task: this process, a child process, another agent program or a remote agent. */
  runner: TaskRunner;
  completion: Completion;
  schema?: JsonSchema;
  /**
   * Checks a result against the schema: returns the problem, or `undefined`. `with values`: the problem also says which
   * values are wrong.
   */
  validate?(value: unknown, detail?: "with values"): string | undefined;
  /**
   * The policy for the task's tool calls, and its access to this machine; absent: a strict policy without any access.
   */
  access?: TaskAccess;
  system: string;
  /** How much of a tool's result the model reads, if that differs from the default. */
  cut?: CutLimits;
  /** Which tool names the model sees; subcrew's own by default. */
  toolNames?: ToolNameStyle;
  /** The project's instructions; they are part of `system`. */
  projectInstructions?: string;
  /** The agent's own part of the prompt, with inputs filled in. */
  instructions: string;
  prompt: string;
  /** Length of the prompt's beginning that all tasks of the run share. */
  sharedChars?: number;
  /** The checker that runs after the task has changed files. */
  diagnostics?: Diagnostics;
  /** Removes known secrets from tool results before a model reads them. */
  redact?(text: string): string;
  /**
   * Saves a tool result that is too long for the model in a file and returns its path; `undefined`: not possible, or
   * too large.
   */
  keepLong?(tool: string, text: string): Promise<string | undefined>;
  /**
   * Creates a file on this machine with the full output of another task, so that the agent can read it; `undefined`:
   * this store creates no files.
   */
  outputFile?(task: Readonly<{ run: string; path: string }>, outcome: Outcome): Promise<string | undefined>;
  toolContext: Omit<ToolContext, "signal" | "report" | "delegate" | "notify">;
}>;

/** Executes one task: in the loop of this process, a child process, another agent program or a remote agent. */
export type Runner = (assignment: Assignment, context: PerformContext) => Promise<Outcome>;

/** Runs the command that decides whether a task's result is accepted; a rejected result is a failure. */
export type Acceptance = (outcome: Outcome, assignment: Assignment, context: PerformContext) => Promise<Outcome>;
