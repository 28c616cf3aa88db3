import type { Agent, AgentInput, AgentSource } from "../agent/agent.ts";
import { isInScope, type SourceScope } from "../agent/source-scope.ts";
import { isFinishTool } from "../policy/permit.ts";
import { defined } from "../text/defined.ts";
import { isRecord, parseJson } from "../text/json.ts";
import { READ_ONLY_TOOLS } from "../vocabulary/tool-names.ts";

/** An agent as shown to agents that may start it: JSON, so that it can be sent to another process. */
export type AgentCard = Readonly<{
  name: string;
  /** The qualified name that selects the agent, if its name alone selects another agent. */
  called?: string;
  description: string;
  /** Where the agent comes from. */
  source?: AgentSource["kind"];
  /** For an agent of a plugin: the scope that the plugin was installed for. */
  pluginScope?: AgentSource["pluginScope"];
  /** True: the agent cannot change anything. */
  readOnly: boolean;
  /** True: the agent can be started by name but is not listed. */
  hidden?: boolean;
  /** True: the agent's result has a fixed schema, so callers should not ask for another format. */
  structured?: boolean;
  /** True: the agent runs in the background by default. */
  background?: boolean;
  /** True for a remote agent. */
  remote?: boolean;
  inputs?: Readonly<Record<string, AgentInput>>;
}>;

/** A file that could be an agent and is not used: the names under which it may be asked for, and why it is skipped. */
export type SkippedAgent = Readonly<{ names: readonly string[]; why: string }>;

/** Why there is no agent with this name although there is a file for it; `undefined`: there is no such file. */
export function whySkipped(skipped: readonly SkippedAgent[] = [], name: string): string | undefined {
  return skipped.find(({ names }) => names.includes(name))?.why;
}

/** The answer to a call that names no known agent, with the reason if a file of that name was skipped. */
export function withWhySkipped(
  text: string,
  { skipped }: Pick<Catalog, "skipped">,
  ...names: readonly string[]
): string {
  return [text, ...names.flatMap((name) => whySkipped(skipped, name) ?? [])].join("\n");
}

/** The available agents at one moment, and the disabled ones. */
export type Catalog = Readonly<{
  agents: readonly AgentCard[];
  disabled: readonly string[];
  skipped?: readonly SkippedAgent[];
  /** The agents that a call with another scope uses, each with the qualified name that selects it. */
  otherScopes?: readonly ScopedCard[];
}>;

/** An agent that its plain name selects only in these scopes. */
export type ScopedCard = AgentCard & Readonly<{ scopes: readonly SourceScope[] }>;

export const emptyCatalog: Catalog = Object.freeze({ agents: [], disabled: [] });

/** Tools that change nothing but the task's own state, in addition to the read-only tools. */
const HARMLESS: ReadonlySet<string> = new Set([
  "get_env",
  "set_env",
  "sleep",
  "json_stringify",
  "base64_encode",
  "report_finding",
  "send_message",
]);

/** The description of an agent for other agents (its card). */
export function cardOf(agent: Agent): AgentCard {
  const { name, description, whenToUse, tools, hidden, output, background, remote, inputs } = agent;
  return {
    name,
    description: [whenToUse ?? description, skillsText(remote?.cardJson)].filter(Boolean).join(" "),
    readOnly:
      tools?.every((tool) => READ_ONLY_TOOLS.includes(tool) || HARMLESS.has(tool) || isFinishTool(tool)) ?? false,
    ...(agent.source && { source: agent.source.kind }),
    ...(agent.source?.pluginScope && { pluginScope: agent.source.pluginScope }),
    ...(hidden && { hidden }),
    ...(isRecord(output) && { structured: true }),
    ...(background && { background }),
    ...(remote && { remote: true }),
    ...defined({ inputs }),
  };
}

/** The skills of a remote agent whose card is in its file, in one line; empty if there are none. */
function skillsText(cardJson: string | undefined): string {
  const card = cardJson === undefined ? undefined : parsed(cardJson);
  const skills: unknown = isRecord(card) ? card["skills"] : undefined;
  const lines = (Array.isArray(skills) ? skills : []).flatMap((skill: unknown) => {
    if (!isRecord(skill) || typeof skill["name"] !== "string") return [];
    const { name, description } = skill;
    return [typeof description === "string" ? `${name}: ${description}` : name];
  });
  return lines.length === 0 ? "" : `Skills: ${lines.join("; ").replace(/\s+/g, " ")}`;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined; // the agent's file is checked elsewhere
  }
}

/**
 * The agents of a catalog in a scope. Of several agents with the same name, it contains only the agent that the scope
 * uses.
 */
export function inScope({ agents, otherScopes = [] }: Catalog, scope: SourceScope): readonly AgentCard[] {
  const others = otherScopes.filter(({ scopes }) => scopes.includes(scope));
  const replaced = new Set(others.map(({ name }) => name));
  const stay = agents.filter(
    ({ name, source, pluginScope }) =>
      !replaced.has(name) && isInScope(source && { kind: source, ...(pluginScope && { pluginScope }) }, scope),
  );
  return [...stay, ...others];
}

/** The agents that were added and removed between two catalogs. */
export function changesBetween(before: Catalog, now: Catalog): Readonly<{ came: string[]; went: string[] }> {
  const names = ({ agents }: Catalog): string[] => agents.filter(({ hidden }) => !hidden).map(({ name }) => name);
  const [old, fresh] = [names(before), names(now)];
  return { came: fresh.filter((name) => !old.includes(name)), went: old.filter((name) => !fresh.includes(name)) };
}
