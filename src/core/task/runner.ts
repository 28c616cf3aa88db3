import type { Agent, Completion } from "../agent/agent.ts";
import type { Catalog } from "../delegation/catalog.ts";
import type { Miss, ModelWish, WishSource } from "../model/choose.ts";
import type { Model } from "../model/model.ts";
import type { Outcome } from "../outcome/outcome.ts";
import type { Rights } from "../policy/permit.ts";
import type { JsonSchema } from "../text/json.ts";
import type { Limits } from "../vocabulary/limits.ts";
import type { TaskRunner } from "../vocabulary/runner-name.ts";
import type { Thinking } from "../vocabulary/thinking.ts";
import type { Call, PerformContext } from "./engine.ts";
import type { TaskAccess } from "./task-access.ts";
import type { Tool, ToolContext } from "./tool.ts";

/** A model that was chosen, and why. */
export type ChosenModel = Readonly<{
  /** What people see. */
  name: string;
  /** What the provider calls it. */
  id: string;
  /** The name that finds it again, for children that inherit it. */
  ref: string;
  model: Model;
  why: string;
  /** What the name says about thinking; it beats what the agent says. */
  thinking?: Thinking;
  /** Said when somebody does not get what was asked for. */
  warnings?: readonly string[];
  /** How many tokens fit into one request. */
  contextWindow?: number;
  /** Where the provider is not to be asked for now; absent for a model without a provider. */
  reopening?: Reopening;
  /** What a call of this size costs in dollars; absent when nobody knows. */
  price?(tokens: Readonly<{ input: number; output: number }>): number | undefined;
}>;

/** When a model that refuses may be asked again. */
export type Reopening = Readonly<{
  /** Until when it is not asked, as far as that is known; `undefined`: it may be asked. */
  look(): Promise<Readonly<{ nextTry: number; until?: number }> | undefined>;
  /** Waits until another task was served, or this one is to try first; resolves with which of them it was. */
  wait(signal: AbortSignal): Promise<string>;
}>;

/** Where models come from. */
export type ModelSource = Readonly<{
  /**
   * The model for a task: the first wish of which anything is available decides, and the default when nobody has one.
   * `binding`: whose wish has to be met; `retry: false`: what fails is not tried again by itself; `thinking`: what counts
   * whatever the names say.
   */
  choose(
    wishes: readonly ModelWish[],
    options?: Readonly<{ binding?: WishSource; retry?: boolean; thinking?: Thinking }>,
  ): Promise<ChosenModel | Readonly<{ misses: readonly Miss[] }>>;
}>;

/** A checker of the project: a command that tells what is wrong with the files as they are. */
export type Diagnostics = Readonly<{ command: string; timeoutMs?: number }>;

/** A task with everything resolved, once: below this line nobody merges settings. */
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
  /** Where it is carried out. */
  runner: TaskRunner;
  completion: Completion;
  schema?: JsonSchema;
  /** Checks a result against the schema: `undefined`, or what is wrong with it. */
  validate?(value: unknown): string | undefined;
  /** What its calls are judged by and may touch; absent: a careful policy, and nothing that needs one. */
  access?: TaskAccess;
  system: string;
  /** The agent's own words in it, with its inputs filled in. */
  instructions: string;
  prompt: string;
  /** How many characters at the beginning of the prompt all tasks of the run are told. */
  sharedChars?: number;
  /** The checker whose words it reads after it has changed files. */
  diagnostics?: Diagnostics;
  /** Takes known secrets out of what a tool answers, before a model reads it. */
  redact?(text: string): string;
  /** Keeps what a tool answered when it is too long to be read at once; `undefined`: nowhere, or it is too much. */
  keepLong?(tool: string, text: string): Promise<string | undefined>;
  toolContext: Omit<ToolContext, "signal" | "report" | "delegate" | "notify">;
}>;

/** How one task is carried out: our loop, a child process, a foreign command, a remote agent. */
export type Runner = (assignment: Assignment, context: PerformContext) => Promise<Outcome>;

/** Looks at a good answer with the acceptance command of its task; what that does not like is no good answer. */
export type Acceptance = (outcome: Outcome, assignment: Assignment, context: PerformContext) => Promise<Outcome>;
