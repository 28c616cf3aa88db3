import type { Agent } from "../core/agent.ts";
import type { Catalog } from "../core/catalog.ts";

/** The agents that a run may use: found when it starts, and again whenever an agent asks for others. */
export type Roster = Readonly<{
  find(name: string): Agent | undefined;
  names(): readonly string[];
  /** What an agent sees of them. */
  catalog?(): Catalog;
}>;

/** The agent of a task that names none. */
export const DEFAULT_AGENT = "general";
