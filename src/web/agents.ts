import { jsonText } from "../core/text/json-text.ts";
import { describeOrigin, type FieldOrigin } from "../core/vocabulary/provenance.ts";
import { reachOf } from "../crew/explain/explain-reach.ts";
import type { Crew } from "../crew/crew-type.ts";
import { dialects } from "../formats/table.ts";
import { convert } from "../formats/write/convert.ts";
import { writers } from "../formats/write/table.ts";
import { findDefinition } from "../runtime/discovery/find-definition.ts";
import { lintDiscovery } from "../runtime/discovery/lint.ts";
import { type AgentListing, listedAgents } from "../runtime/discovery/listed-agents.ts";
import type { AgentPage, AgentProblem, Conversion } from "./client/wire.ts";
import { badInput } from "./responses.ts";

/** All agents, including agents that cannot run, as in `subcrew agents list --all`. */
export async function agentRows(crew: Crew): Promise<readonly AgentListing[]> {
  return listedAgents(await crew.agents());
}

/** One agent as it would run, with the origin of each setting, as in `subcrew agents explain`. */
export async function agentPage(crew: Crew, name: string): Promise<AgentPage> {
  if (name === "") throw badInput("No agent was named.", "Choose an agent from the list.");
  const discovery = await crew.agents();
  const { found, state } = findDefinition(discovery, name);
  const { agent, fields, limits, tools, model, problems } = await crew.explain(found);
  const all = discovery.agents.map((each) => each.agent);
  const allowed = tools.filter(({ missing }) => !missing).map((tool) => tool.name);
  const row = (
    each: Readonly<{ field: string; value: unknown; origin: FieldOrigin }>,
  ): AgentPage["fields"][number] => ({
    field: each.field,
    value: fieldText(each.value),
    from: describeOrigin(each.origin),
  });
  return {
    name: found.name,
    state,
    ...(found.file !== undefined && { file: found.file }),
    fields: fields.map(row),
    limits: limits.map(row),
    tools: tools
      .toSorted((a, b) => Number(b.allowed) - Number(a.allowed))
      .map((tool) => ({ name: tool.name, allowed: tool.allowed, rule: tool.rule, from: describeOrigin(tool.origin) })),
    models: model.candidates.map((each) => ({ name: each.name, why: each.why })),
    reach: reachOf(agent, all, allowed).map((each) => ({ name: each.name, adds: each.adds })),
    problems,
    dialects: Object.keys(writers),
  };
}

/** The problems of the agent files, as in `subcrew agents lint`. */
export async function lintReport(crew: Crew): Promise<readonly AgentProblem[]> {
  return lintDiscovery(await crew.agents(), dialects).problems;
}

/** An agent converted to the file format of another agent program, and the fields that are lost. */
export async function conversion(crew: Crew, name: string, to: string): Promise<Conversion> {
  if (!Object.hasOwn(writers, to))
    throw badInput(`Unknown dialect "${to}".`, `Use one of: ${Object.keys(writers).join(", ")}.`);
  const { found } = findDefinition(await crew.agents(), name);
  const { path, text, losses } = convert(found.read, to);
  return { path, text, losses: losses.map(({ kind, field, note }) => ({ kind, field, note })) };
}

/** Formats the value of a field for a person; lists of words have no brackets and quotes. */
export function fieldText(value: unknown): string {
  if (typeof value === "string") return value;
  const words = Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string");
  return words ? value.join(", ") : jsonText(value);
}
