import type { AgentRules } from "../rules/agent-rule.ts";
import { isStandardSchema, type OutputOf, plainSchemaOf, type StandardSchema } from "../schema/standard-schema.ts";
import type { SummaryCut } from "../text/cut.ts";
import type { JsonSchema } from "../text/json.ts";
import type { ResourceLimits } from "../vocabulary/limits.ts";
import type { AgentServers } from "../vocabulary/mcp-server.ts";
import type { RunnerName } from "../vocabulary/runner-name.ts";
import type { Thinking } from "../vocabulary/thinking.ts";

/** How an agent may return its result: only by the finish tool, only by its last message, or by either. */
export type Completion = "tool" | "tool-or-text" | "text";

/** An agent definition: frozen data, from a file or from `defineAgent`. */
export type Agent = Readonly<{
  name: string;
  description: string;
  /** The agent's system prompt. */
  instructions: string;
  /**
   * The agent's tools: canonical names and patterns (`*`, `mcp_*`, `server__*`). Absent: every tool but delegation.
   * Empty: the finish tool only.
   */
  tools?: readonly string[];
  disallowedTools?: readonly string[];
  /**
   * Permission rules in the agent's file that judge the arguments of tool calls. They only restrict; of several lists
   * the strictest decides.
   */
  rules?: readonly AgentRules[];
  /** The agent's model, or several in order of preference. */
  model?: string | readonly string[];
  /** True: the user's settings name the model, so the task fails if that model is unavailable. */
  modelRequired?: true;
  thinking?: Thinking;
  limits?: ResourceLimits;
  /**
   * The schema of the result, in JSON Schema or JTD; `defineAgent` also accepts a schema of zod or another library. A
   * string or null, as an agent file may contain, is kept and validates nothing.
   */
  output?: JsonSchema | string | null;
  completion?: Completion;
  /** How many characters of this agent's result are given to the agent that started it; the rest is in a file. */
  summaryChars?: number;
  /**
   * Where a longer result is cut: at exactly that character (simple, the default), or after a whole paragraph or
   * sentence (smart).
   */
  summaryCut?: SummaryCut;
  /**
   * The text that becomes the result when the agent ends without the finish tool: its last message (default), or all of
   * its messages.
   */
  summary?: "last" | "all";
  /** Name of the result parameter of the finish tool; `result` by default. */
  outputName?: string;
  /** The agents that this agent may start; none by default. */
  spawns?: "*" | readonly string[];
  /** The delegation tools that the agent gets, by their names in any supported program; absent: `task`. */
  delegation?: readonly string[];
  /**
   * What limits the tools of the agent's subagents: only their own definitions (`own`), or also this agent's tools
   * (`ceiling`).
   */
  delegationRule?: DelegationRule;
  /** True: another agent that starts this agent cannot choose another model for it. */
  modelLock?: boolean;
  /**
   * The MCP servers that the agent defines, and the user's servers that it names. Absent: all servers of the user whose
   * tools the agent may use.
   */
  mcpServers?: AgentServers;
  extends?: string;
  /** The name that people see. */
  displayName?: string;
  /** When to choose this agent, if its file has a separate field for that. */
  whenToUse?: string;
  /**
   * Whether the agent gets the project's instructions (AGENTS.md and similar files); the default depends on the
   * location of its file.
   */
  projectInstructions?: "on" | "off";
  /** Notes about the agent in its file that are not part of the prompt. */
  documentation?: string;
  temperature?: number;
  topP?: number;
  /**
   * The permission mode that the agent's file requests; the agent never gets more than its user and its parent allow.
   */
  permission?: PermissionMode;
  /** `read-only`: the agent's commands run in a read-only sandbox without network, whatever the user allows. */
  sandbox?: "read-only";
  /** Skills whose text is added to the agent's prompt. */
  skills?: readonly string[];
  /** True: the agent runs in the background unless its caller says otherwise. */
  background?: boolean;
  isolation?: "worktree";
  /**
   * `fork`: when another agent starts this agent, it begins with the conversation of that agent instead of an empty
   * conversation.
   */
  conversation?: "fork";
  /** The runner that executes the agent's tasks, such as a child process; by default this process. */
  runner?: RunnerName;
  /** Where the agent keeps notes between runs: for the user, the project, or this copy of the project. */
  memory?: "user" | "project" | "local";
  /**
   * How long the agent's results may be reused, in milliseconds; allowed only for agents that cannot change anything.
   */
  cacheMs?: number;
  /** True: the agent is not in the list of agents that models see. */
  hidden?: boolean;
  /** The inputs that `${name}` in the agent's prompt refers to. */
  inputs?: Readonly<Record<string, AgentInput>>;
  /** Set for a remote agent: the address of its A2A agent card. */
  remote?: RemoteCard;
  /** Where the agent's definition was found. */
  source?: AgentSource;
}>;

/**
 * The tools that a subagent gets: all tools of its own definition (`own`), or of these only the tools that its parent
 * has, too (`ceiling`).
 */
export type DelegationRule = "own" | "ceiling";

/** The permission modes, from read-only to never asking. */
export type PermissionMode = "plan" | "default" | "acceptEdits" | "auto" | "dontAsk" | "bypass";

export type AgentInput = Readonly<{ type: string; description: string; required?: boolean }>;

export type RemoteCard = Readonly<{
  cardUrl?: string;
  cardJson?: string;
  auth?: Readonly<Record<string, unknown>>;
  /**
   * The remote agent's card has to be signed with this public key (PEM), or with one of the keys at this address
   * (JWKS).
   */
  signedBy?: string;
}>;

export type AgentSource = Readonly<{
  kind: "bundled" | "user" | "project" | "plugin" | "inline";
  file?: string;
  /** The agent program whose folder holds the agent's file: `claude`, `omp`, ... */
  family?: string;
  /** The format of the agent's file. */
  dialect?: string;
  /** The plugin that contains the agent, and the scope that the plugin was installed for. */
  plugin?: string;
  pluginScope?: "user" | "project";
  /** Why the agent has fewer tools than its file may have intended. */
  reduced?: string;
}>;

/**
 * An agent that is defined in code: its output schema may be a JSON Schema or an object of a schema library such as
 * zod.
 */
type Draft = Omit<Agent, "output"> & Readonly<{ output?: JsonSchema | StandardSchema | string | null }>;

declare const resultType: unique symbol;

/** Carries the type of an agent's result data. This type exists for the compiler only. */
export type Yields<T> = Readonly<{ [resultType]?: T }>;

/** A defined agent: its fields, with the output schema as plain JSON, and the type of its results. */
export type DefinedAgent<A extends Draft> = Readonly<
  (A extends Agent ? A : Omit<A, "output"> & Pick<Agent, "output">) &
    (A extends { readonly output: infer S extends StandardSchema } ? Yields<OutputOf<S>> : unknown)
>;

/**
 * Checks the agent and completes its type at compile time. At run time it returns the same agent, frozen, with its
 * output schema as plain JSON.
 */
export function defineAgent<const A extends Draft>(agent: A): DefinedAgent<A> {
  const { output } = agent;
  const data = isStandardSchema(output) ? { ...agent, output: plainSchemaOf(output) } : agent;
  return Object.freeze(data) as DefinedAgent<A>;
}
