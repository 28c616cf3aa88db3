import type { RetryConfig } from "../../core/plan/retry.ts";
import type { ResourceLimits } from "../../core/vocabulary/limits.ts";
import type { Thinking } from "../../core/vocabulary/thinking.ts";
import { type Findable, findAgent } from "../../runtime/discovery/find.ts";
import type { AgentConfig, WithInherited } from "../omp/agent-config.ts";

/** Settings that a caller gives with one call; they override the settings of the agent. */
export type InlineSettings = {
  model?: string;
  tools?: readonly string[];
  systemPrompt?: string;
  thinking?: Thinking;
  resourceLimits?: ResourceLimits;
  retry?: RetryConfig;
};

export type ResolvedSettings<A> = Omit<InlineSettings, "model"> & { model?: string | readonly string[]; agent?: A };

type Configured = Findable & Partial<WithInherited<AgentConfig>>;

/**
 * How pi-parallel-agents combines settings: the agent's own and inherited values are defaults; values of the call take
 * precedence.
 */
export function resolveAgentSettings<A extends Configured>(
  agents: readonly A[],
  name: string | undefined | null,
  overrides: InlineSettings = {},
): ResolvedSettings<A> {
  const agent = name === undefined || name === null ? undefined : findAgent(agents, name);
  if (agent === undefined) return { ...overrides };
  const model = agent.resolvedModel ?? agent.model;
  const tools = agent.resolvedTools ?? agent.tools;
  const thinking = agent.resolvedThinking ?? agent.thinking;
  return {
    ...(model === undefined ? {} : { model }),
    ...(tools === undefined ? {} : { tools }),
    ...(agent.systemPrompt === undefined ? {} : { systemPrompt: agent.systemPrompt }),
    ...(thinking === undefined ? {} : { thinking }),
    ...overrides,
    agent,
  };
}
