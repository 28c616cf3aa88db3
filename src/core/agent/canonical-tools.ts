import { facadeOf } from "../vocabulary/delegation-names.ts";
import { DELEGATION_TOOL, isKnownTool, toolsNamed } from "../vocabulary/tool-names.ts";
import type { Agent } from "./agent.ts";

/**
 * An agent written in code, with tool names of other programs replaced by subcrew's names, as for agent files. `isOwn`:
 * true for a tool that the caller provides; it keeps its name.
 */
export function withCanonicalTools(agent: Agent, isOwn: (tool: string) => boolean = () => false): Agent {
  const { tools, disallowedTools, spawns, delegation } = agent;
  if (tools === undefined && disallowedTools === undefined) return agent;
  const names = (list: readonly string[]): readonly string[] => [
    ...new Set(list.flatMap((entry) => (isOwn(entry) ? [entry] : canonical(entry)))),
  ];
  const listed = tools && names(tools);
  const spelled = (tools ?? []).filter(
    (tool) => tool !== DELEGATION_TOOL && !isOwn(tool) && facadeOf(tool) !== undefined,
  );
  return Object.freeze({
    ...agent,
    ...(listed && { tools: listed }),
    ...(disallowedTools && { disallowedTools: names(disallowedTools) }),
    ...(spelled.length > 0 && delegation === undefined && { delegation: spelled }),
    ...(listed?.includes(DELEGATION_TOOL) && spawns === undefined && { spawns: "*" as const }),
  });
}

/** The tools of an agent that are neither tools of subcrew nor tools of the library user. */
export function unknownToolsOf({ tools = [] }: Agent, isOwn: (tool: string) => boolean): readonly string[] {
  return tools.filter((tool) => !isOwn(tool) && !isKnownTool(nameOf(tool)));
}

const nameOf = (entry: string): string => entry.replace(/\(.*\)$/s, "");

function canonical(entry: string): readonly string[] {
  const name = nameOf(entry);
  const found = toolsNamed(name);
  return found.length === 0 ? [entry] : found.map((tool) => tool + entry.slice(name.length));
}
