import type { Agent } from "../agent/agent.ts";
import type { Task } from "../plan/task.ts";
import { ALL_TOOLS } from "../vocabulary/tool-names.ts";
import type { Catalog } from "./catalog.ts";

/** The agents that a run may use: found when it starts, and again whenever an agent asks for other agents. */
export type Roster = Readonly<{
  find(name: string): Agent | undefined;
  names(): readonly string[];
  /** The agents as a model sees them in the list of agents that it may start. */
  catalog?(): Catalog;
}>;

/** Why the agent of a task is missing, and what a person can do. */
export type MissingAgent = Readonly<{ why: string; helps: string }>;

/** The agent of a task that does not name an agent. */
export const DEFAULT_AGENT = "general";

/** The default agents, in order of preference, if there is no agent named `general`. Some presets have none. */
const OTHERS = ["task", "general-purpose"];

/** The agent of a task: the agent that it names, or the default agent. */
export const agentNameOf = ({ agent }: Pick<Task, "agent">, roster: Pick<Roster, "find">): string =>
  agent ?? [DEFAULT_AGENT, ...OTHERS].find((name) => roster.find(name) !== undefined) ?? DEFAULT_AGENT;

/**
 * The agent name that spawn policies refer to. It is the agent's own name, even if the task selects the agent by a
 * qualified name.
 */
export function policyNameOf(task: Pick<Task, "agent">, roster: Pick<Roster, "find">): string {
  const name = agentNameOf(task, roster);
  return (name.includes(":") ? roster.find(name)?.name : undefined) ?? name;
}

/**
 * The definition of a task's agent. A task that names no agent gets every tool, including the caller's own tools,
 * although the bundled default agent lists fewer tools. A file that replaces the default agent is used unchanged.
 */
export function agentOf(task: Pick<Task, "agent">, roster: Pick<Roster, "find">): Agent | undefined {
  const found = roster.find(agentNameOf(task, roster));
  return found && task.agent === undefined && found.source?.kind === "bundled" ? withAllTools(found) : found;
}

/** Returns the same object for the same agent, because caches of derived data use this object as their key. */
function withAllTools(agent: Agent): Agent {
  const made = unlimited.get(agent) ?? { ...agent, tools: [ALL_TOOLS] };
  unlimited.set(agent, made);
  return made;
}

const unlimited = new WeakMap<Agent, Agent>();
