import type { Crew } from "../../crew/crew-type.ts";
import type { ModelOverview } from "../../models/registry/overview.ts";
import { homes } from "../base/home.ts";
import { type Host, hostsHere } from "./hosts.ts";

/** A provider for which a key is set, and whether the provider accepted the key. */
export type AnsweredKey = Readonly<{ provider: string; because: string; accepted: boolean; why: string }>;
/** A local server that needs no key. `models` lists chat models first. */
export type FoundServer = Readonly<{
  provider: string;
  address: string;
  models: readonly string[];
  /** The model to propose as the default. */
  suggested?: string;
}>;

/** The agents, keys, servers and hosts that `init` found on this machine. */
export type Survey = Readonly<{
  /** The number of agents by origin. */
  agents: Readonly<Record<string, number>>;
  keys: readonly AnsweredKey[];
  servers: readonly FoundServer[];
  hosts: readonly Host[];
  /** The model that runs use by default now. */
  model: string | undefined;
  /** The default model in the settings, if there is one. */
  configured: string | undefined;
}>;

/**
 * Examines agents, keys, local model servers and MCP hosts. Servers are asked for their model lists; no prompt is
 * sent.
 */
export async function survey(crew: Crew, signal: AbortSignal): Promise<Survey> {
  const [{ agents }, overview] = await Promise.all([crew.agents(), crew.models({ probe: signal })]);
  const counts: Record<string, number> = {};
  for (const { agent } of agents) {
    const origin = agent.source?.kind ?? "own";
    counts[origin] = (counts[origin] ?? 0) + 1;
  }
  const { model } = crew.settings.config;
  return {
    agents: counts,
    keys: keysIn(overview),
    servers: serversIn(overview),
    hosts: hostsHere(homes().home, process.env["PATH"]),
    model: overview.default.model,
    configured: typeof model === "string" ? model : model?.[0],
  };
}

function keysIn({ providers }: ModelOverview): AnsweredKey[] {
  return providers.flatMap(({ name, local, keyless, usable, because, probe }) =>
    !local && !keyless && usable && probe
      ? [{ provider: name, because, accepted: probe.state === "answers", why: probe.why }]
      : [],
  );
}

function serversIn({ providers }: ModelOverview): FoundServer[] {
  return providers.flatMap(({ name, local, keyless, baseURL, probe }) => {
    if (!(local || keyless) || probe?.state !== "answers" || probe.models.length === 0) return [];
    const talking = probe.models.filter(canTalk);
    const models = [...talking, ...probe.models.filter((model) => !canTalk(model))];
    return [{ provider: name, address: baseURL, models, ...(talking[0] !== undefined && { suggested: talking[0] }) }];
  });
}

/**
 * True for a chat model. Servers also list models for embeddings, ranking, speech and images; only their names tell
 * them apart.
 */
const canTalk = (model: string): boolean =>
  !/embed|rerank|whisper|\b(?:tts|asr|bge|gte|e5|clip|minilm|stable-diffusion|sdxl|flux)\b/i.test(model);
