import type { Agent } from "../../core/agent/agent.ts";
import { unknownToolsOf } from "../../core/agent/canonical-tools.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { Skill } from "../../core/agent/skill.ts";
import { type Catalog, cardOf, whySkipped } from "../../core/delegation/catalog.ts";
import type { Roster } from "../../core/delegation/roster.ts";
import { usesSkills, withSkills } from "../../core/plan/preload-skills.ts";
import { CrewError } from "../../core/schema/error.ts";
import { type Discovery, type FoundAgent, findAgent } from "../../runtime/discovery/discover.ts";
import { type Distrust, distrustText } from "../../runtime/discovery/distrust.ts";
import { skippedAgents } from "../../runtime/discovery/listed-agents.ts";
import type { Finds } from "./finds.ts";

/** The agents of a run: agents passed in code, and agents of the last discovery. */
export type KnownAgents = Readonly<{
  roster: Roster;
  discovery: Discovery;
  /** The skills; empty unless an agent preloads some. */
  skills: readonly Skill[];
  /** Searches for agent files again, and returns the current catalog. */
  again(): Promise<Catalog>;
}>;

export async function knowAgents(given: readonly Agent[], finds: Finds): Promise<KnownAgents> {
  const look = async (): Promise<Seen> => {
    const discovery = await finds.agents();
    const needsSkills = [...given, ...discovery.agents.map(({ agent }) => agent)].some(usesSkills);
    return { discovery, skills: needsSkills ? (await finds.skills()).all : [] };
  };
  const first = await look();
  let seen = first;
  return {
    ...first,
    roster: rosterOf(given, () => seen),
    again: async () => {
      seen = await look();
      return catalogOf(given, seen.discovery);
    },
  };
}

/** True for the name of a tool that the library user passed. */
export function isOwnTool(tools: readonly Readonly<{ name: string }>[] = []): (tool: string) => boolean {
  const names = new Set(tools.map(({ name }) => name));
  return (tool) => names.has(tool);
}

/** Warnings about missing tools of agents in a plan that were defined in code. */
export function toolNotes(
  { nodes }: Pick<Plan, "nodes">,
  agents: readonly Agent[],
  isOwn: (tool: string) => boolean,
): string[] {
  const used = new Set(Object.values(nodes).flatMap((node) => (node.kind === "task" ? [node.task.agent] : [])));
  return agents.flatMap((agent) =>
    used.has(agent.name)
      ? unknownToolsOf(agent, isOwn).map(
          (tool) => `Unknown tool "${tool}"; the agent "${agent.name}" works without it.`,
        )
      : [],
  );
}

type Seen = Pick<KnownAgents, "discovery" | "skills">;

function rosterOf(given: readonly Agent[], seen: () => Seen): Roster {
  return {
    find: (name) => {
      const { discovery: found, skills } = seen();
      const agent = given.find((one) => one.name === name) ?? findAgent(found, name)?.agent;
      if (agent) return withSkills(agent, skills);
      const untrusted = found.untrusted.find((one) => one.name === name);
      if (untrusted) throw untrustedError(`The agent "${name}"`, untrusted);
      if (found.disabled.some((one) => one.name === name))
        throw new CrewError(
          "DISABLED",
          `The agent "${name}" is disabled.`,
          `Enable it with \`subcrew agents enable ${name}\`.`,
        );
      const why = whySkipped(skippedAgents(found.skipped), name);
      if (why !== undefined) throw new CrewError("UNKNOWN_AGENT", `Unknown agent "${name}".`, why);
      return undefined;
    },
    names: () => [...new Set([...given, ...seen().discovery.agents].map(({ name }) => name))],
    catalog: () => catalogOf(given, seen().discovery),
  };
}

const TRUST_HINTS: Readonly<Partial<Record<Distrust, string>>> = {
  changed: "See the change and trust the file with `subcrew trust`.",
  unchecked: "Move files that the skill does not need out of its folder.",
};

/** The error for an agent, skill or command of an untrusted project, with the specific reason. */
export function untrustedError(what: string, { file = "its file", distrust = "project" }: FoundAgent): CrewError {
  if (distrust === "project")
    return new CrewError(
      "UNTRUSTED",
      `${what} belongs to this project, which is not trusted.`,
      "Look at the project's files and trust them with `subcrew trust`.",
    );
  return new CrewError(
    "UNTRUSTED",
    `${what} cannot run: ${distrustText[distrust].replace(/^it/, file)}${distrust === "new" ? `: ${file}` : ""}.`,
    TRUST_HINTS[distrust] ?? "See the file and trust it with `subcrew trust`.",
  );
}

/**
 * The agents as models see them: each name once. Of several agents with one name, the list has the agent with the
 * highest precedence. Unlisted agents are in it as hidden: a call that names one starts it.
 */
export function catalogOf(
  given: readonly Agent[],
  { agents, unlisted, disabled, otherScopes, skipped }: Discovery,
): Catalog {
  const all = [...given, ...[...agents, ...unlisted].map(({ agent }) => agent)];
  const first = new Map(all.toReversed().map((agent) => [agent.name, agent]));
  const isGiven = new Set(given.map(({ name }) => name));
  const others = otherScopes.filter(({ found }) => !isGiven.has(found.name));
  return {
    agents: all.filter((agent) => first.get(agent.name) === agent).map(cardOf),
    disabled: disabled.map(({ name }) => name),
    ...(skipped.length > 0 && { skipped: skippedAgents(skipped) }),
    ...(others.length > 0 && {
      otherScopes: others.map(({ found, called, scopes }) => ({ ...cardOf(found.agent), called, scopes })),
    }),
  };
}
