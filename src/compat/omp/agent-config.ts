import type { Agent } from "../../core/agent/agent.ts";
import type { ReadAgent } from "../../core/agent/dialect.ts";
import { lineages, unionOfTools } from "../../core/agent/inherit.ts";
import type { JsonSchema } from "../../core/text/json.ts";
import type { Thinking } from "../../core/vocabulary/thinking.ts";
import { withCompletion } from "../../formats/agent-fields.ts";
import { listOf } from "../../formats/fields/lists.ts";
import type { FoundAgent } from "../../runtime/discovery/discover.ts";

/** An agent in the documented format of oh-my-pi and pi-parallel-agents: tools and model are as written in the file. */
export type AgentConfig = {
  name: string;
  description: string;
  systemPrompt: string;
  source: "bundled" | "user" | "project";
  filePath?: string;
  tools?: readonly string[];
  model?: string | readonly string[];
  thinking?: Thinking;
  thinkingLevel?: Thinking;
  spawns?: "*" | readonly string[];
  output?: JsonSchema | string | null;
  extends?: string;
  resolvedTools?: readonly string[];
  resolvedModel?: string | readonly string[];
  resolvedThinking?: Thinking;
  /** The same agent in the form that subcrew runs: canonical tool names, inherited fields included. */
  agent?: Agent;
  read?: ReadAgent;
  /** False for a file of a project that is not trusted. */
  trusted?: boolean;
};

/** Converts a found agent to the documented format of oh-my-pi. */
export function configOf({ name, agent, read, trusted, file }: FoundAgent): AgentConfig {
  const { source } = agent;
  const kind =
    source?.kind === "plugin"
      ? (source.pluginScope ?? "user")
      : source?.kind === "inline"
        ? "user"
        : (source?.kind ?? "user");
  const tools = toolsAsWritten(read, source?.dialect);
  const { model, thinking, spawns, output } = read.agent;
  const config: AgentConfig = {
    name,
    description: agent.description,
    systemPrompt: agent.instructions,
    source: kind,
    agent,
    read,
    trusted,
  };
  if (file !== undefined) config.filePath = file;
  if (tools !== undefined) config.tools = tools;
  if (model !== undefined) config.model = model;
  if (thinking !== undefined) config.thinking = config.thinkingLevel = thinking;
  if (spawns !== undefined) config.spawns = spawns;
  if (output !== undefined) config.output = output;
  if (read.agent.extends !== undefined) config.extends = read.agent.extends;
  return config;
}

function toolsAsWritten({ agent, from, raw }: ReadAgent, dialect: string | undefined): readonly string[] | undefined {
  if (agent.tools === undefined) return undefined;
  const written = listOf(raw[from["tools"] ?? ""]) ?? agent.tools;
  return dialect === "omp" ? withCompletion(written) : written;
}

/** The fields that resolving `extends` needs. */
type Extending = Pick<AgentConfig, "name"> & Partial<Pick<AgentConfig, "extends" | "tools" | "model" | "thinking">>;

/** An agent of type `A` after merging it with the agents that it extends. */
export type WithInherited<A> = A & Pick<AgentConfig, "resolvedTools" | "resolvedModel" | "resolvedThinking">;

export type InheritanceFault = Readonly<{ name: string; message: string }>;

/**
 * Resolves `extends`: tools are the union of child and base, model and thinking are the child's or else the base's, the
 * prompt is not inherited. An agent whose base is missing or circular is left out and reported to `onFault`; all other
 * agents are returned.
 */
export function resolveAgentInheritance<A extends Extending>(
  agents: readonly A[],
  onFault?: (fault: InheritanceFault) => void,
): WithInherited<A>[] {
  const heirs = agents.map((config) => ({
    config,
    name: config.name,
    rank: 0,
    ...(config.extends === undefined ? {} : { extends: config.extends }),
  }));
  const lines = lineages(heirs);
  const resolved = new Map<(typeof heirs)[number], WithInherited<A>>();
  const resolve = (heir: (typeof heirs)[number]): WithInherited<A> => {
    const known = resolved.get(heir);
    if (known !== undefined) return known;
    const line = lines.get(heir);
    const base = line !== undefined && "base" in line ? resolve(line.base) : undefined;
    const { config } = heir;
    const tools = unionOfTools(config.tools, base?.resolvedTools);
    const model = config.model ?? base?.resolvedModel;
    const thinking = config.thinking ?? base?.resolvedThinking;
    const made: WithInherited<A> = {
      ...config,
      ...(tools === undefined ? {} : { resolvedTools: tools }),
      ...(model === undefined ? {} : { resolvedModel: model }),
      ...(thinking === undefined ? {} : { resolvedThinking: thinking }),
    };
    resolved.set(heir, made);
    return made;
  };
  return heirs.flatMap((heir) => {
    const line = lines.get(heir);
    if (line === undefined || "base" in line) return [resolve(heir)];
    onFault?.({ name: heir.name, message: line.message });
    return [];
  });
}
