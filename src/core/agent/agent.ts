import type { z } from "zod";
import type { AgentRules } from "../rules/agent-rule.ts";
import { isZodType, jsonSchemaOfZod } from "../schema/zod-schema.ts";
import type { JsonSchema } from "../text/json.ts";
import type { ResourceLimits } from "../vocabulary/limits.ts";
import type { AgentServers } from "../vocabulary/mcp-server.ts";
import type { RunnerName } from "../vocabulary/runner-name.ts";
import type { Thinking } from "../vocabulary/thinking.ts";

/** How an agent may end its work: by the finish tool only, by either, or by its last words. */
export type Completion = "tool" | "tool-or-text" | "text";

/** Who does the work: frozen data, from a file or from `defineAgent`. */
export type Agent = Readonly<{
  name: string;
  description: string;
  /** The system prompt. */
  instructions: string;
  /** Canonical names and patterns (`*`, `mcp_*`, `server__*`). Absent: everything but delegation. Empty: the finish tool only. */
  tools?: readonly string[];
  disallowedTools?: readonly string[];
  /** What its file says about the arguments of calls; of several lists the strictest counts. They can only narrow. */
  rules?: readonly AgentRules[];
  /** One model, or several of which the first available is taken. */
  model?: string | readonly string[];
  /** The user's settings name the model: it is used, or the task fails. */
  modelRequired?: true;
  thinking?: Thinking;
  limits?: ResourceLimits;
  /** The schema of the result, in JSON Schema or JTD; `defineAgent` also takes one of zod. */
  output?: JsonSchema;
  completion?: Completion;
  /** What the result is called in the finish tool; `result` by default. */
  outputName?: string;
  /** Which agents it may start; none by default. */
  spawns?: "*" | readonly string[];
  /** Its delegation tools as its file spells them, where that is not `task`. */
  delegation?: readonly string[];
  /** What bounds the agents it starts: their own tools, or besides these its own as a ceiling. */
  delegationRule?: DelegationRule;
  /** An agent that starts it cannot choose another model. */
  modelLock?: boolean;
  /** MCP servers: those it brings along, and those of the user that it names. Absent: all of the user's that its tools cover. */
  mcpServers?: AgentServers;
  extends?: string;
  /** How it is called in front of people. */
  displayName?: string;
  /** When to choose it, where a file says so apart from the description. */
  whenToUse?: string;
  /** Text of its file that is about the agent and not for it. */
  documentation?: string;
  temperature?: number;
  topP?: number;
  /** What it may do unasked, as its file wishes; never more than its user and its parent allow. */
  permission?: PermissionMode;
  /** Its commands can change nothing and have no network, whatever the user allows. */
  sandbox?: "read-only";
  /** Skills whose text it starts with. */
  skills?: readonly string[];
  /** Runs in the background unless the caller says otherwise. */
  background?: boolean;
  isolation?: "worktree";
  /** `fork`: started by another agent, it begins with the conversation of that agent instead of an empty one. */
  conversation?: "fork";
  /** Where its tasks run; in this program by default. */
  runner?: RunnerName;
  /** Where it keeps notes between runs. */
  memory?: "user" | "project" | "local";
  /** How long its results may be used again, in milliseconds; only where it cannot change anything. */
  cacheMs?: number;
  /** Not offered to models that look for a helper. */
  hidden?: boolean;
  /** The inputs that `${name}` in its prompt refers to. */
  inputs?: Readonly<Record<string, AgentInput>>;
  /** An agent that runs elsewhere: where its card is. */
  remote?: RemoteCard;
  /** Where it was found. */
  source?: AgentSource;
}>;

/** Which tools a helper has: those of its own definition, or of these no more than its parent has. */
export type DelegationRule = "own" | "ceiling";

/** The ladder from looking only to never asking. */
export type PermissionMode = "plan" | "default" | "acceptEdits" | "auto" | "dontAsk" | "bypass";

export type AgentInput = Readonly<{ type: string; description: string; required?: boolean }>;

export type RemoteCard = Readonly<{ cardUrl?: string; cardJson?: string; auth?: Readonly<Record<string, unknown>> }>;

export type AgentSource = Readonly<{
  kind: "bundled" | "user" | "project" | "plugin" | "inline";
  file?: string;
  /** The family of the place: `claude`, `omp`, ... */
  family?: string;
  /** How the file is written. */
  dialect?: string;
  /** The plugin that brought it, and for whom that was installed. */
  plugin?: string;
  pluginScope?: "user" | "project";
  /** Why the agent has fewer tools than its file may have meant. */
  reduced?: string;
}>;

/** An agent as it may be written in code: the schema of its result may be one of zod. */
type Draft = Omit<Agent, "output"> & Readonly<{ output?: JsonSchema | z.ZodType }>;

/** Checks and completes the literal at compile time. At run time it is the same agent, frozen, with a schema that is data. */
export function defineAgent<const A extends Draft>(
  agent: A,
): Readonly<A extends Agent ? A : Omit<A, "output"> & Pick<Agent, "output">> {
  const { output } = agent;
  const data = isZodType(output) ? { ...agent, output: jsonSchemaOfZod(output) } : agent;
  return Object.freeze(data) as ReturnType<typeof defineAgent<A>>;
}
