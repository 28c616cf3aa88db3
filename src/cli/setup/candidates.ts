import type { Option } from "commander";
import { configVariables } from "../../core/config/variables.ts";
import { foreignTools, ownRunners } from "../../core/vocabulary/runner-name.ts";
import { shortcuts, tierNames } from "../../core/vocabulary/tiers.ts";
import type { Crew } from "../../crew/crew-type.ts";
import type { CliCommand } from "../base/command.ts";
import { crewFor } from "../launch/start.ts";

/** One completion for the word at the cursor. */
export type Candidate = Readonly<{ value: string; about: string }>;

/** Names and summaries of all commands. */
export type CommandTable = Readonly<
  Record<string, Readonly<{ summary: string; hidden?: true; load(): Promise<CliCommand> }>>
>;

/**
 * The completions for the word at the cursor: commands, flags, and values such as agents, models, runs and tasks.
 * `before` holds the words between `subcrew` and the cursor. An empty list leaves the completion of file names to the
 * shell.
 */
export async function candidatesFor(
  table: CommandTable,
  before: readonly string[],
  current: string,
): Promise<readonly Candidate[]> {
  const [name, ...rest] = before;
  if (name === undefined || (name === "help" && rest.length === 0)) {
    const rows = Object.entries(table).filter(([, { hidden }]) => !hidden);
    return starting(
      current,
      rows.map(([value, { summary }]) => ({ value, about: summary })),
    );
  }
  const row = Object.hasOwn(table, name) ? table[name] : undefined;
  return row === undefined ? [] : inCommand(await row.load(), rest, current);
}

async function inCommand(
  command: CliCommand,
  before: readonly string[],
  current: string,
): Promise<readonly Candidate[]> {
  const { commands = {} } = command;
  const [first, ...rest] = before;
  if (first !== undefined && Object.hasOwn(commands, first)) return inCommand(commands[first]!, rest, current);
  const asked = command.options.find((option) => takesValue(option) && isNamed(option, before.at(-1)));
  if (asked) return values(asked.argChoices ?? [], optionSource(asked), current);
  if (current.startsWith("-")) {
    const flags = command.options.filter((option) => !option.hidden && option.long);
    return starting(current, [...flags.map(({ long, description }) => ({ value: long!, about: description })), HELP]);
  }
  const below =
    before.length === 0
      ? Object.entries(commands).map(([value, { description }]) => ({ value, about: description }))
      : [];
  const place = placeholder(command.words, positionals(command, before));
  return [...starting(current, below), ...(await values([], SOURCES[place], current))];
}

const HELP: Candidate = { value: "--help", about: "show help" };
const takesValue = ({ required, optional }: Option): boolean => required || optional;
const isNamed = ({ long, short }: Option, word = ""): boolean => word !== "" && (word === long || word === short);
const starting = (current: string, all: readonly Candidate[]): Candidate[] =>
  all.filter(({ value }) => value.startsWith(current));

/** The number of words before the cursor that are neither flags nor values of flags. */
function positionals({ options }: CliCommand, before: readonly string[]): number {
  const isValue = (at: number): boolean =>
    options.some((option) => takesValue(option) && isNamed(option, before[at - 1]));
  return before.filter((word, at) => !word.startsWith("-") && !isValue(at)).length;
}

/**
 * The placeholder of a command's n-th argument in its usage line: the first of `[run] [message...]` is `run`. The last
 * argument may repeat.
 */
function placeholder(words: string | undefined, at: number): string {
  const names = Array.from((words ?? "").matchAll(/[<[](\w+)(\.\.\.)?[>\]]/g), ([, name = "", dots]) => ({
    name,
    repeats: dots !== undefined,
  }));
  const last = names.at(-1);
  return names[at]?.name ?? (last?.repeats ? last.name : "");
}

type Source = (crew: Crew, current: string) => Promise<readonly Candidate[]>;

async function values(
  choices: readonly string[],
  source: Source | undefined,
  current: string,
): Promise<readonly Candidate[]> {
  if (choices.length > 0)
    return starting(
      current,
      choices.map((value) => ({ value, about: "" })),
    );
  if (source === undefined) return [];
  // In a comma-separated list, the part after the last comma is completed.
  const head = /^(?:.*,)?/.exec(current)?.[0] ?? "";
  const found = await source(await crewFor({ quiet: true }), current.slice(head.length));
  return found
    .map(({ value, about }) => ({ value: `${head}${value}`, about }))
    .filter(({ value }) => value.startsWith(current));
}

const agentNames: Source = async (crew) =>
  (await crew.agents()).agents.map(({ name, agent }) => ({ value: name, about: crew.masked(agent.description) }));

/** Agents with an equals sign, `explore=`, because the prompt follows. */
const assignments: Source = async (crew, current) =>
  current.includes("=") ? [] : (await agentNames(crew, "")).map(({ value, about }) => ({ value: `${value}=`, about }));

const modelNames: Source = async () => [
  ...tierNames.map((value) => ({ value, about: "tier" })),
  ...Object.keys(shortcuts).map((value) => ({ value, about: "shortcut" })),
  { value: "offline", about: "the built-in model without a network" },
];

/** Runs by name or id; after a slash, the tasks of that run. */
const runNames: Source = async (crew, current) => {
  const cut = current.indexOf("/");
  if (cut >= 0) {
    const word = current.slice(0, cut);
    const { state } = await crew.kept.look(await crew.findRun(word));
    return [...state.nodes.values()].map(({ path, status, agent }) => ({
      value: `${word}/${path}`,
      about: [agent, status].filter(Boolean).join(" "),
    }));
  }
  const kept = (await crew.kept.list({ all: true })).slice(0, MOST_RUNS);
  return kept.map(({ id, life, state: { name } }) => ({
    value: name ?? id,
    about: name === undefined ? life : `${id} ${life}`,
  }));
};
const MOST_RUNS = 50;

const serverNames: Source = async ({ settings }) =>
  Object.keys(settings.config.mcpServers ?? {}).map((value) => ({ value, about: "MCP server" }));
const settingKeys: Source = async () => configVariables().map(({ path }) => ({ value: path.join("."), about: "" }));

/** The candidates for an argument of a command, by its name in the usage line. */
const SOURCES: Readonly<Record<string, Source>> = {
  agent: agentNames,
  tasks: assignments,
  steps: assignments,
  run: runNames,
  runs: runNames,
  server: serverNames,
  key: settingKeys,
  skill: async (crew) =>
    (await crew.skills()).all.map(({ name, description }) => ({ value: name, about: description })),
  workflow: async (crew) =>
    (await crew.commands()).all.map(({ name, description }) => ({ value: name, about: description })),
};

/** Candidates for the value of a flag, by the name of the value. */
function optionSource({ long }: Option): Source | undefined {
  return OPTION_SOURCES[long ?? ""];
}

const OPTION_SOURCES: Readonly<Record<string, Source>> = {
  "--agent": agentNames,
  "--agents": agentNames,
  "--from": agentNames,
  "--model": modelNames,
  "--models": modelNames,
  "--runner": async () => [...ownRunners, ...foreignTools].map((value) => ({ value, about: "runner" })),
  "--resume": runNames,
};
