import type { Agent } from "../core/agent.ts";

/** The agents that a run may use, found once when it starts. */
export type Roster = Readonly<{ find(name: string): Agent | undefined; names(): readonly string[] }>;

/** The agent of a task that names none. */
export const DEFAULT_AGENT = "general";
