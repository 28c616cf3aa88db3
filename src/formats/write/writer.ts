import type { Agent } from "../../core/agent/agent.ts";
import type { ReadAgent } from "../../core/agent/dialect.ts";
import { namesOnly } from "../../core/vocabulary/spawn-list.ts";
import { ALL_MCP_TOOLS, ALL_TOOLS, DELEGATION_TOOL, toolMatches } from "../../core/vocabulary/tool-names.ts";
import { type Spelling, spelled } from "./spelling.ts";

/** Writes agents in one file format. Unsupported fields are left out and reported. */
export type Writer = Readonly<{
  /** The folder in a project that contains the agent files of this format. */
  folder: string;
  /** The path of an agent's file, below that folder. */
  file(name: string): string;
  /** The text of the file; `extra` are copied keys without effect in subcrew. */
  write(read: ReadAgent, extra: Readonly<Record<string, unknown>>): string;
  /** Keys without effect in subcrew that files of this format can contain. */
  carries: readonly string[];
  /** Why a field is lost, where there is a more specific reason than a missing counterpart. */
  notes?: Readonly<Partial<Record<keyof Agent, string>>>;
}>;

/** An agent with its tools as a file format spells them. */
export type Form = Readonly<{
  agent: Agent;
  read: ReadAgent;
  /** The tools; `undefined`: every tool. */
  tools: readonly string[] | undefined;
  denied: readonly string[];
}>;

type Holds = Readonly<{
  denies?: boolean;
  /** True: the format can express rules about tool calls. */
  rules?: boolean;
}>;

/**
 * Prepares an agent for a file format. If the file format has no deny-list, the tools are written as a full list
 * without the denied tools. If it has no rules about calls, a tool that rules allow only for some calls is left out.
 */
export function formOf(read: ReadAgent, spelling: Spelling, { denies = false, rules = false }: Holds = {}): Form {
  const denied = [...(read.agent.disallowedTools ?? []), ...(rules ? [] : mostlyDenied(read.agent))];
  const isDenied = (tool: string): boolean => denied.some((pattern) => toolMatches(pattern, tool));
  // a denied pattern without a name in the file format, such as `*`, is expressed by listing the remaining tools
  const holds = denies && denied.every((entry) => !entry.includes("*") || spelled([entry], spelling).length > 0);
  const listed =
    holds || denied.length === 0 || !hasAllTools(read.agent) ? read.agent.tools : everyTool(read.agent, spelling);
  const left = holds ? listed : listed?.filter((tool) => !isDenied(tool));
  const agent = listed === read.agent.tools ? read.agent : { ...read.agent, tools: left ?? [] };
  const words = left === undefined ? undefined : spelled(left, spelling);
  return { agent, read, tools: words, denied: denies ? spelled(denied, spelling) : [] };
}

/** The list of all tools that have a name in the format. */
const everyTool = ({ tools = [] }: Agent, { names, allMcp }: Spelling): readonly string[] => [
  ...Object.keys(names).filter((name) => name !== DELEGATION_TOOL || tools.includes(name)),
  ...(allMcp === undefined ? [] : [ALL_MCP_TOOLS]),
];

/** Tools whose calls are all denied, except for calls that another rule allows. */
const mostlyDenied = ({ rules = [] }: Agent): readonly string[] =>
  rules.flat().flatMap(({ tool, pattern, says }) => (says === "deny" && pattern === undefined ? [tool] : []));

/** True when all tools of an agent are read-only. */
export function onlyLooks({ tools }: Agent, readOnly: readonly string[]): boolean {
  return tools !== undefined && tools.every((tool) => readOnly.includes(tool));
}

/** True when an agent may use every tool. */
export const hasAllTools = ({ tools }: Agent): boolean => tools === undefined || tools.includes(ALL_TOOLS);

/** The agents that an agent may start, for formats that support only `*` and names. */
export const plainSpawns = ({ spawns }: Agent): Agent["spawns"] =>
  spawns === undefined || spawns === "*" ? spawns : namesOnly(spawns);

/** The delegation tool with the agents that may be started: `Agent(a, b)`. */
export function withSpawns(
  words: readonly string[] | undefined,
  { tools, spawns }: Agent,
  word: string,
): readonly string[] | undefined {
  if (words === undefined || !tools?.includes(DELEGATION_TOOL) || spawns === undefined || spawns === "*") return words;
  return words.map((each) => (each === word ? `${word}(${namesOnly(spawns).join(", ")})` : each));
}

/** The description, for file formats that require a description. */
export const described = ({ description, whenToUse, displayName, name }: Agent): string =>
  [description, whenToUse, displayName].find((text) => text !== undefined && text.trim() !== "") ??
  `The agent ${name}.`;

/** The words in one text, separated by commas; an empty list stays a list. */
export const csv = (words: readonly string[] | undefined): string | readonly string[] | undefined =>
  words === undefined || words.length === 0 ? words : words.join(", ");

/** The list, or `undefined` if it is empty. */
export const some = <T>(list: readonly T[] | undefined): readonly T[] | undefined =>
  list === undefined || list.length === 0 ? undefined : list;

/** The keys that have a value; keys without a value are left out. */
export function writtenKeys(keys: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined));
}

/** A name that is valid as a file name on every system. */
export const fileName = (name: string): string => name.replaceAll(":", "-");
