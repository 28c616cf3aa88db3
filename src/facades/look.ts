import { type Catalog, changesBetween } from "../core/delegation/catalog.ts";
import { type Caller, offered } from "../core/delegation/spawn.ts";
import type { ToolContext } from "../core/task/tool.ts";

/** The available agents at the time of a call, and the changes since the model was last told. */
export type AgentLookup = Readonly<{
  now: Catalog;
  /** A sentence about changes of the agents to add to the answer, or empty. */
  news: string;
}>;

/** Refreshes the agents at every call, since files may have changed after the description was made. */
export function createAgentLookup(caller: Caller): (context: Pick<ToolContext, "agents">) => Promise<AgentLookup> {
  const seen = (catalog: Catalog): Catalog => ({ ...catalog, agents: offered(catalog, caller) });
  let told = seen(caller.catalog);
  return async ({ agents }) => {
    const now = (await agents?.()) ?? caller.catalog;
    const { came, went } = changesBetween(told, seen(now));
    told = seen(now);
    const words = [
      came.length > 0 ? `New agents that you can start now: ${came.join(", ")}.` : "",
      went.length > 0 ? `No longer available: ${went.join(", ")}.` : "",
    ].filter((text) => text !== "");
    return { now, news: words.length === 0 ? "" : `\n\n[Agents have changed. ${words.join(" ")}]` };
  };
}
