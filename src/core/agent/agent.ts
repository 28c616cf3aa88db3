import type { AgentRules } from "../rules/agent-rule.ts";
import { isStandardSchema, type OutputOf, plainSchemaOf, type StandardSchema } from "../schema/standard-schema.ts";
import type { SummaryCut } from "../text/cut.ts";
import type { JsonSchema } from "../text/json.ts";
import type { ResourceLimits } from "../vocabulary/limits.ts";
import type { AgentServers } from "../vocabulary/mcp-server.ts";
import type { RunnerName } from "../vocabulary/runner-name.ts";
import type { Thinking } from "../vocabulary/thinking.ts";

/** How an agent may return its result: by the finish tool only, by either, or by its last message. */
export type Completion = "tool" | "tool-or-text" | "text";

/** An agent definition: frozen data, from a file or from `defineAgent`. */
export type Agent = Readonly<{
  name: string;
  description: string;
  /** The system prompt. */
  instructions: string;
  /** Canonical names and patterns (`*`, `mcp_*`, `server__*`). Absent: everything but delegation. Empty: the finish tool only. */
  tools?: readonly string[];
  disallowedTools?: readonly string[];
  /**
   * Permission rules in the agent's file that judge the arguments of tool calls. They only restrict; of several lists
   * the strictest decides.
   */
  rules?: readonly AgentRules[];
  /** One model, or several in order of preference. */
  model?: string | readonly string[];
  /** The user's settings name the model: the task fails if it is unavailable. */
  modelRequired?: true;
  thinking?: Thinking;
  limits?: ResourceLimits;
  /**
   * The schema of the result, in JSON Schema or JTD; `defineAgent` also accepts a schema of zod or another library. A
   * string or null, as an agent file may contain, is kept and validates nothing.
   */
  output?: JsonSchema | string | null;
  completion?: Completion;
  /** How many characters of its result the agent that started it reads; the rest is in a file. */
  summaryChars?: number;
  /** Where a longer result is cut: at that character (simple, the default), or after a whole paragraph or sentence (smart). */
  summaryCut?: SummaryCut;
  /** Which text is the result when the agent ends without the finish tool: its last message (default), or all messages. */
  summary?: "last" | "all";
  /** Name of the result parameter of the finish tool; `result` by default. */
  outputName?: string;
  /** Which agents it may start; none by default. */
  spawns?: "*" | readonly string[];
  /** Names of the delegation tools it gets, each as some program spells it; absent: `task`. */
  delegation?: readonly string[];
  /** What limits the tools of its helpers: only their own definitions, or also this agent's tools (`ceiling`). */
  delegationRule?: DelegationRule;
  /** A parent agent cannot choose another model for it. */
  modelLock?: boolean;
  /** MCP servers it defines, and the user's servers it names. Absent: all of the user's servers that its tools cover. */
  mcpServers?: AgentServers;
  extends?: string;
  /** Display name. */
  displayName?: string;
  /** When to choose it, if the file has a separate field for that. */
  whenToUse?: string;
  /** Whether the agent gets the project's instructions (AGENTS.md and similar files); the default depends on the location of its file. */
  projectInstructions?: "on" | "off";
  /** Notes about the agent in its file that are not part of the prompt. */
  documentation?: string;
  temperature?: number;
  topP?: number;
  /** Permission mode requested by its file; never more than its user and its parent allow. */
  permission?: PermissionMode;
  /** Its commands run in a read-only sandbox without network, whatever the user allows. */
  sandbox?: "read-only";
  /** Skills that are added to its prompt. */
  skills?: readonly string[];
  /** Runs in the background unless the caller says otherwise. */
  background?: boolean;
  isolation?: "worktree";
  /** `fork`: started by another agent, it begins with the conversation of that agent instead of an empty one. */
  conversation?: "fork";
  /** Where its tasks run; in this process by default. */
  runner?: RunnerName;
  /** Where it keeps notes between runs. */
  memory?: "user" | "project" | "local";
  /** How long its results may be reused, in milliseconds; only for agents that cannot change anything. */
  cacheMs?: number;
  /** Hidden from the list of helpers that models see. */
  hidden?: boolean;
  /** The inputs that `${name}` in its prompt refers to. */
  inputs?: Readonly<Record<string, AgentInput>>;
  /** Set for a remote agent: the address of its A2A agent card. */
  remote?: RemoteCard;
  /** Where it was found. */
  source?: AgentSource;
}>;

/** Tools of a helper: those of its own definition, or at most those of its parent. */
export type DelegationRule = "own" | "ceiling";

/** The permission modes, from read-only to never asking. */
export type PermissionMode = "plan" | "default" | "acceptEdits" | "auto" | "dontAsk" | "bypass";

export type AgentInput = Readonly<{ type: string; description: string; required?: boolean }>;

export type RemoteCard = Readonly<{
  cardUrl?: string;
  cardJson?: string;
  auth?: Readonly<Record<string, unknown>>;
  /** The card has to be signed with this public key (PEM), or with one of the keys at this address (JWKS). */
  signedBy?: string;
}>;

export type AgentSource = Readonly<{
  kind: "bundled" | "user" | "project" | "plugin" | "inline";
  file?: string;
  /** The tool whose folder holds the agent's file: `claude`, `omp`, ... */
  family?: string;
  /** The format of the file. */
  dialect?: string;
  /** The plugin that contains it, and the scope it was installed for. */
  plugin?: string;
  pluginScope?: "user" | "project";
  /** Why the agent has fewer tools than its file may have intended. */
  reduced?: string;
}>;

/** An agent as it may be written in code: the schema of its result may be one of a schema library. */
type Draft = Omit<Agent, "output"> & Readonly<{ output?: JsonSchema | StandardSchema | string | null }>;

declare const resultType: unique symbol;

/** Carries the type of an agent's result data. It exists for the compiler only. */
export type Yields<T> = Readonly<{ [resultType]?: T }>;

/** A defined agent: its fields, with a schema that is data, and the type of its results. */
export type DefinedAgent<A extends Draft> = Readonly<
  (A extends Agent ? A : Omit<A, "output"> & Pick<Agent, "output">) &
    (A extends { readonly output: infer S extends StandardSchema } ? Yields<OutputOf<S>> : unknown)
>;

/** Checks and completes the literal at compile time. At run time it is the same agent, frozen, with a schema that is data. */
export function defineAgent<const A extends Draft>(agent: A): DefinedAgent<A> {
  const { output } = agent;
  const data = isStandardSchema(output) ? { ...agent, output: plainSchemaOf(output) } : agent;
  return Object.freeze(data) as DefinedAgent<A>;
}
