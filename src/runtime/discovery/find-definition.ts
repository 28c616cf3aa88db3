import { CrewError } from "../../core/schema/error.ts";
import { nearestName } from "../../core/vocabulary/agent-name.ts";
import { distrustText } from "./distrust.ts";
import { whySkipped } from "../../core/delegation/catalog.ts";
import { skippedAgents } from "./listed-agents.ts";
import { type Discovery, type FoundAgent, findAgent } from "./discover.ts";

/** The agent definition that a name means, even if it cannot run, and why it cannot run. */
export type Definition = Readonly<{ found: FoundAgent; state: "ready" | "shadowed" | "untrusted" | "disabled" }>;

/** Finds an agent definition to show; a shadowed definition is found by its qualified name. */
export function findDefinition(discovery: Discovery, name: string): Definition {
  const { agents, shadowed, untrusted, disabled, unlisted } = discovery;
  const found = findAgent({ agents: [...agents, ...disabled, ...untrusted], shadowed, unlisted }, name);
  if (found !== undefined) return { found, state: stateOf(discovery, found) };
  const known = [...agents, ...disabled, ...untrusted, ...shadowed.map((one) => one.found)];
  const close = nearestName(name, known);
  const hint = close === undefined ? "`subcrew agents --all` lists the known agents." : `Did you mean "${close}"?`;
  const why = whySkipped(skippedAgents(discovery.skipped), name);
  throw new CrewError("UNKNOWN_AGENT", `Unknown agent "${name}".`, why ?? hint);
}

function stateOf({ agents, unlisted, untrusted, disabled }: Discovery, found: FoundAgent): Definition["state"] {
  if (agents.includes(found) || unlisted.includes(found)) return "ready";
  if (untrusted.includes(found)) return "untrusted";
  return disabled.includes(found) ? "disabled" : "shadowed";
}

/** Why an existing agent cannot run, as a sentence; empty when it can. */
export function stateText({ found, state }: Definition): string | undefined {
  switch (state) {
    case "ready":
      return undefined;
    case "shadowed":
      return `Another agent of the same name takes precedence; use ${found.agent.source?.kind ?? "inline"}:${found.name} to name this agent.`;
    case "untrusted":
      return `The agent cannot run: ${distrustText[found.distrust ?? "project"]}. See \`subcrew trust\`.`;
    case "disabled":
      return "The agent is disabled, so it cannot run. Enable it with `subcrew agents enable`.";
  }
}
