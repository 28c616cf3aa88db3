import type { Agent } from "../../core/agent/agent.ts";
import { cardOf, type Catalog } from "../../core/delegation/catalog.ts";
import { reachableAgents } from "../../core/delegation/reachable-agents.ts";
import { agentNameOf, type MissingAgent, type Roster } from "../../core/delegation/roster.ts";
import type { Body } from "../../core/plan/plan.ts";
import type { Task } from "../../core/plan/task.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import type { RunAgents } from "../../core/run/run-store.ts";
import { isCrewError } from "../../core/schema/error.ts";
import type { Redactor } from "../../core/secrets/redact.ts";
import { parseJson } from "../../core/text/json.ts";
import { stableText } from "../../core/text/stable-text.ts";
import { sha256, withoutAuth } from "./recorded-agent.ts";

/** The hashes of the agents that a run carries, by the name that selects each agent. */
export type AgentHashes = Readonly<Record<string, string>>;

type Definition = Readonly<{ text: string; hash: string }>;
const definitions = new WeakMap<Redactor, WeakMap<Agent, Definition>>();

/** An agent as a run carries it: without secrets, as a text that does not depend on the order of its fields. */
function definitionOf(agent: Agent, redactor: Redactor): Definition {
  const known = definitions.get(redactor) ?? new WeakMap<Agent, Definition>();
  definitions.set(redactor, known);
  const made = known.get(agent);
  if (made) return made;
  const text = stableText(redactor.deep(withoutAuth(agent)));
  const definition = { text, hash: sha256(text) };
  known.set(agent, definition);
  return definition;
}

export type CarrierParts = Readonly<{ store: RunAgents; run: string; roster: Roster; redactor: Redactor }>;

/**
 * Stores the definitions of the agents of a plan and of those that they may start, so that any process can continue the
 * run. `stored` resolves when they are stored.
 */
export function carryAgents(
  body: Pick<Body, "nodes">,
  { store, run, roster, redactor }: CarrierParts,
): Readonly<{ agents: AgentHashes; stored: Promise<void> }> {
  const carried = [...reachableAgents(body, roster)].map(
    ([name, agent]) => [name, definitionOf(agent, redactor)] as const,
  );
  const agents = Object.fromEntries(carried.map(([name, { hash }]) => [name, hash]));
  const texts = new Map(carried.map(([, { hash, text }]) => [hash, text]));
  return { agents, stored: texts.size === 0 ? Promise.resolve() : store.keepAgents(run, texts) };
}

/**
 * The agents that a run carries. An agent that this process finds with the same definition is used as found, because
 * the definitions in the store have no secrets.
 */
export async function carriedAgents(
  events: readonly KeptEvent[],
  { store, roster, redactor }: Omit<CarrierParts, "run">,
): Promise<ReadonlyMap<string, Agent>> {
  const hashes = new Map(
    events.flatMap((event) =>
      event.type === "run.started" || event.type === "plan.changed" ? Object.entries(event.agents ?? {}) : [],
    ),
  );
  const same = new Map<string, Agent>();
  for (const [name, hash] of hashes) {
    const found = search(name, roster);
    if ("agent" in found && definitionOf(found.agent, redactor).hash === hash) same.set(name, found.agent);
  }
  const others = [...hashes].filter(([name]) => !same.has(name));
  if (others.length === 0) return same;
  const texts = await store.agentTexts([...new Set(others.map(([, hash]) => hash))]);
  const recorded = others.flatMap(([name, hash]) => {
    const text = texts.get(hash);
    return text === undefined ? [] : [[name, parseJson(text) as Agent] as const];
  });
  return new Map([...same, ...recorded]);
}

type Search = Readonly<{ agent: Agent }> | Readonly<{ why: string; helps?: string }>;

/** Searches for an agent. An agent that is disabled or not trusted here is not found, with the reason. */
function search(name: string, roster: Roster): Search {
  try {
    const agent = roster.find(name);
    return agent ? { agent } : { why: `The agent "${name}" cannot be found.` };
  } catch (error) {
    if (!isCrewError(error)) throw error;
    return { why: error.message, helps: error.hint };
  }
}

/** The roster of a resumed run: agents that this process does not find are those that the run recorded. */
export type ResumedRoster = Roster &
  Readonly<{
    missing(task: Task): MissingAgent | undefined;
    /** A catalog of this process with the agents that only the run has. */
    completed(catalog: Catalog): Catalog;
  }>;

export function resumedRoster(
  now: Roster,
  { carried, named }: Readonly<{ carried: ReadonlyMap<string, Agent>; named(name: string): Agent | undefined }>,
): ResumedRoster {
  const found = (name: string): Search => {
    const here = search(name, now);
    const agent = "agent" in here ? here.agent : named(name);
    return agent ? { agent } : here;
  };
  const find: Roster["find"] = (name) => {
    const result = found(name);
    return "agent" in result ? result.agent : undefined;
  };
  const completed = (catalog: Catalog): Catalog => {
    const cards = new Map(catalog.agents.map((card) => [card.name, card]));
    for (const [name, agent] of carried) {
      const here = search(name, now);
      if (!name.includes(":") && !("agent" in here && here.agent === agent)) cards.set(name, cardOf(agent));
    }
    return { ...catalog, agents: [...cards.values()] };
  };
  return {
    find,
    names: () => [...new Set([...now.names(), ...carried.keys()])],
    ...(now.catalog && { catalog: () => completed(now.catalog!()) }),
    completed,
    missing: (task) => {
      const result = found(agentNameOf(task, { find }));
      return "agent" in result ? undefined : { why: result.why, helps: result.helps ?? HELPS };
    },
  };
}

const HELPS = "Create its agent file again, or cancel the task.";
