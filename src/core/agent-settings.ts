import type { Agent } from "./agent.ts";
import type { Origins } from "./provenance.ts";

/** What a user's settings may say about one agent, wherever its file lies. */
export type AgentSettings = Readonly<
  Partial<Pick<Agent, "model" | "thinking" | "limits" | "tools" | "disallowedTools" | "temperature" | "topP">> & {
    enabled?: boolean;
  }
>;

const FIELDS = ["model", "thinking", "limits", "tools", "disallowedTools", "temperature", "topP"] as const;

/** The agent as its user wants it, and which fields that decided. */
export function applySettings(agent: Agent, settings: AgentSettings | undefined): { agent: Agent; origins: Origins } {
  if (settings === undefined) return { agent, origins: {} };
  const given = FIELDS.filter((field) => settings[field] !== undefined);
  if (given.length === 0) return { agent, origins: {} };
  const values = Object.fromEntries(given.map((field) => [field, settings[field]]));
  const limits = settings.limits === undefined ? {} : { limits: { ...agent.limits, ...settings.limits } };
  return {
    agent: Object.freeze({ ...agent, ...values, ...limits }),
    origins: Object.fromEntries(
      given.map((field) => [field, { from: "settings", key: `${agent.name}.${field}` } as const]),
    ),
  };
}
