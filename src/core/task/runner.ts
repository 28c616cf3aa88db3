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

/** A model that was chosen, and why. */
export type ChosenModel = Readonly<{
  /** Display name. */
  name: string;
  /** The name that the provider uses for the model. */
  id: string;
  /** The name that resolves to this model again, for children that inherit it. */
  ref: string;
  model: Model;
  why: string;
  /** Thinking level from the model name; it wins over the agent's. */
  thinking?: Thinking;
  /** Warning when a requested model is not used. */
  warnings?: readonly string[];
  /** How many tokens fit into one request. */
  contextWindow?: number;
  /** Tells when a provider that refuses may be asked again; absent for a model without a provider. */
  reopening?: Reopening;
  /** Cost in dollars of a call of this size; absent when the price is unknown. */
  price?(tokens: Readonly<{ input: number; output: number }>): number | undefined;
}>;

/** When a model that refuses may be asked again. */
export type Reopening = Readonly<{
  /** Until when the model must not be asked; `undefined`: it may be asked now. */
  look(): Promise<Readonly<{ nextTry: number; until?: number }> | undefined>;
  /** Waits until another task was served, or this one is to try first; resolves with which of them it was. */
  wait(signal: AbortSignal): Promise<string>;
}>;

/** The source of models. */
export type ModelSource = Readonly<{
  /**
   * Chooses the model of a task: the first request with an available model wins, otherwise the default.
   * `binding`: whose request must be fulfilled; `retry: false`: failed turns are not retried; `thinking`: overrides
   * the level in the model names.
   */
  choose(
    wishes: readonly ModelWish[],
    options?: Readonly<{ binding?: WishSource; retry?: boolean; thinking?: Thinking }>,
  ): Promise<ChosenModel | Readonly<{ misses: readonly Miss[] }>>;
}>;

/** A checker of the project: a command that reports problems in the current files. */
export type Diagnostics = Readonly<{ command: string; timeoutMs?: number }>;

/** A task with everything resolved once: no code below merges settings. */
export type Assignment = Readonly<{
  call: Call;
  agent: Agent;
  rights: Rights;
  model: ChosenModel;
  /** The tools that exist for it; `permit` says which of them it may see and use. */
  tools: ReadonlyMap<string, Tool>;
  /** The agents that it may want to start, where it may start any. */
  catalog?: Catalog;
  limits: Limits;
  /** Where the task runs. */
  runner: TaskRunner;
  completion: Completion;
  schema?: JsonSchema;
  /** Checks a result against the schema: `undefined`, or what is wrong with it. */
  validate?(value: unknown): string | undefined;
  /** Policy and access of its calls; absent: a strict policy without any access. */
  access?: TaskAccess;
  system: string;
  /** How much of a tool's result the model reads, if it differs from the default. */
  cut?: CutLimits;
  /** Which tool names the model sees; our own by default. */
  toolNames?: ToolNameStyle;
  /** The project's instructions; they are part of `system`. */
  projectInstructions?: string;
  /** The agent's own part of the prompt, with inputs filled in. */
  instructions: string;
  prompt: string;
  /** Length of the prompt prefix that all tasks of the run share. */
  sharedChars?: number;
  /** The checker that runs after the task has changed files. */
  diagnostics?: Diagnostics;
  /** Removes known secrets from tool results before a model reads them. */
  redact?(text: string): string;
  /** Saves a tool result that is too long to show; `undefined`: not possible, or too large. */
  keepLong?(tool: string, text: string): Promise<string | undefined>;
  /** Makes a file of this machine with the full output of another task, to read it; `undefined`: no files are made. */
  outputFile?(task: Readonly<{ run: string; path: string }>, outcome: Outcome): Promise<string | undefined>;
  toolContext: Omit<ToolContext, "signal" | "report" | "delegate" | "notify">;
}>;

/** Runs one task: in the local loop, a child process, a foreign command or a remote agent. */
export type Runner = (assignment: Assignment, context: PerformContext) => Promise<Outcome>;

/** Runs the acceptance command of a task on a successful answer; a rejected answer fails. */
export type Acceptance = (outcome: Outcome, assignment: Assignment, context: PerformContext) => Promise<Outcome>;
