import type { Agent, AgentInput, AgentSource } from "../agent/agent.ts";
import { isFinishTool } from "../policy/permit.ts";
import { defined } from "../text/defined.ts";
import { READ_ONLY_TOOLS } from "../vocabulary/tool-names.ts";

/** An agent as somebody sees it who may start it: JSON, so that it also goes to a task in another process. */
export type AgentCard = Readonly<{
  name: string;
  description: string;
  /** Where it comes from. */
  source?: AgentSource["kind"];
  /** It cannot change anything. */
  readOnly: boolean;
  /** It can be started by its name and is not offered. */
  hidden?: boolean;
  /** It has a result of a fixed shape, so nobody should ask it for another one. */
  structured?: boolean;
  /** It works in the background unless the caller says otherwise. */
  background?: boolean;
  /** It works on another machine. */
  remote?: boolean;
  inputs?: Readonly<Record<string, AgentInput>>;
}>;

/** The agents there are at one moment, and those that are switched off. */
export type Catalog = Readonly<{ agents: readonly AgentCard[]; disabled: readonly string[] }>;

export const emptyCatalog: Catalog = Object.freeze({ agents: [], disabled: [] });

/** Tools that touch nothing outside of the task, besides those that only look. */
const HARMLESS: ReadonlySet<string> = new Set([
  "get_env",
  "set_env",
  "sleep",
  "json_stringify",
  "base64_encode",
  "report_finding",
  "send_message",
]);

/** The card of an agent. */
export function cardOf(agent: Agent): AgentCard {
  const { name, description, whenToUse, tools, hidden, output, background, remote, inputs } = agent;
  return {
    name,
    description: whenToUse ?? description,
    readOnly:
      tools?.every((tool) => READ_ONLY_TOOLS.includes(tool) || HARMLESS.has(tool) || isFinishTool(tool)) ?? false,
    ...(agent.source && { source: agent.source.kind }),
    ...(hidden && { hidden }),
    ...(output && { structured: true }),
    ...(background && { background }),
    ...(remote && { remote: true }),
    ...defined({ inputs }),
  };
}

/** Which agents are there now that were not before, and the other way round. */
export function changesBetween(before: Catalog, now: Catalog): Readonly<{ came: string[]; went: string[] }> {
  const names = ({ agents }: Catalog): string[] => agents.filter(({ hidden }) => !hidden).map(({ name }) => name);
  const [old, fresh] = [names(before), names(now)];
  return { came: fresh.filter((name) => !old.includes(name)), went: old.filter((name) => !fresh.includes(name)) };
}
