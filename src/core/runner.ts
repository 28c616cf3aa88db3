import type { Agent, Completion } from "./agent.ts";
import type { Call, PerformContext } from "./engine.ts";
import type { JsonSchema } from "./json.ts";
import type { Limits } from "./limits.ts";
import type { Model } from "./model.ts";
import type { Outcome } from "./outcome.ts";
import type { Rights } from "./permit.ts";
import type { Tool, ToolContext } from "./tool.ts";

/** A model that was chosen, and why. */
export type ChosenModel = Readonly<{
  name: string;
  id: string;
  model: Model;
  why: string;
  /** How many tokens fit into one request. */
  contextWindow?: number;
  /** What a call of this size costs in dollars; absent when nobody knows. */
  price?(tokens: Readonly<{ input: number; output: number }>): number | undefined;
}>;

/** A task with everything resolved, once: below this line nobody merges settings. */
export type Assignment = Readonly<{
  call: Call;
  agent: Agent;
  rights: Rights;
  model: ChosenModel;
  /** The tools that exist for it; `permit` says which of them it may see and use. */
  tools: ReadonlyMap<string, Tool>;
  limits: Limits;
  completion: Completion;
  schema?: JsonSchema;
  /** Checks a result against the schema: `undefined`, or what is wrong with it. */
  validate?(value: unknown): string | undefined;
  system: string;
  prompt: string;
  toolContext: Omit<ToolContext, "signal" | "report" | "delegate">;
}>;

/** How one task is carried out: our loop, a child process, a foreign command, a remote agent. */
export type Runner = (assignment: Assignment, context: PerformContext) => Promise<Outcome>;
