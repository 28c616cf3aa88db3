import { Option } from "commander";
import { agentFor, type Skill, type WorkflowCommand } from "../../core/agent/skill.ts";
import { expandCommand, expandSkill } from "../../core/agent/skill-arguments.ts";
import type { AnyInput } from "../../core/plan/input.ts";
import { CrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { untrustedError } from "../../crew/prepare/known-agents.ts";
import { nearestName } from "../../core/vocabulary/agent-name.ts";
import type { Workflows } from "../../defaults.ts";
import { findAgent } from "../../runtime/discovery/find.ts";
import type { CliCommand } from "../base/command.ts";
import type { Flags } from "../base/flags.ts";
import { running } from "./mode.ts";

const agentOption = (): Option =>
  new Option("--agent <name>", "agent to use instead of the one the file names (default: general)").helpGroup("Work:");

/** The command `subcrew skill NAME ARGUMENTS`. */
export const skillCommand: CliCommand = running({
  mode: "single",
  description: "Runs a skill: its text, with the arguments, is given to the agent that the skill names.",
  words: "[skill] [arguments...]",
  usage: "NAME [ARGUMENTS]",
  options: [agentOption()],
  examples: [
    ["subcrew skill code-review", "review uncommitted changes"],
    ["subcrew skill code-review src/cli --agent reviewer", "with arguments, by an agent of your choice"],
  ],
  notes: "In the text, $ARGUMENTS is everything after the name, $0 the first argument, $1 the second.",
  input: async ([name, ...words], flags) => {
    if (name === undefined) return undefined;
    const found = named(await crewOf(flags, "skills"), name, "skill");
    return inputFor(found, expandSkill(found.instructions, words), flags);
  },
  missing: new CrewError("BAD_INPUT", "No skill given.", "Give the name of a skill; `subcrew skills` lists them."),
});

/** The command `subcrew command NAME ARGUMENTS`. */
export const commandCommand: CliCommand = running({
  mode: "single",
  description: "Runs a workflow command: gives its prompt, with the arguments, to an agent.",
  words: "[workflow] [arguments...]",
  usage: "NAME [ARGUMENTS]",
  options: [agentOption()],
  examples: [["subcrew command init", "write an AGENTS.md for this project"]],
  notes: "In the prompt, $@ and $ARGUMENTS are everything after the name, $1 is the first word.",
  input: async ([name, ...words], flags) => {
    if (name === undefined) return undefined;
    const found = named(await crewOf(flags, "commands"), name, "command");
    return inputFor(found, expandCommand(found.instructions, words), flags);
  },
  missing: new CrewError(
    "BAD_INPUT",
    "No workflow command given.",
    "Give the name of a workflow command; `subcrew commands` lists them.",
  ),
});

async function crewOf<K extends "skills" | "commands">(
  { cwd, trust, deny }: Flags,
  what: K,
): Promise<Workflows<K extends "skills" ? Skill : WorkflowCommand>> {
  const { crewFor } = await import("./start.ts");
  const crew = await crewFor({ quiet: true, ...defined({ cwd, deny }), ...(trust && { trust }) });
  return (await crew[what]()) as Workflows<K extends "skills" ? Skill : WorkflowCommand>;
}

/** Finds a skill or command by its plain or qualified name. */
function named<T extends Pick<Skill, "name" | "file">>(
  { all, discovery }: Workflows<T>,
  name: string,
  what: string,
): T {
  const found = findAgent(discovery.agents, name);
  const one = found && all[discovery.agents.indexOf(found)];
  if (one !== undefined) return one;
  const untrusted = discovery.untrusted.find((each) => each.name === name);
  if (untrusted) throw untrustedError(`The ${what} "${name}"`, untrusted);
  const close = nearestName(name, all);
  const hint = close === undefined ? `\`subcrew ${what}s\` lists the known names.` : `Did you mean "${close}"?`;
  throw new CrewError("BAD_INPUT", `Unknown ${what} "${name}".`, hint);
}

function inputFor(found: Skill | WorkflowCommand, text: string, { agent }: Flags): AnyInput {
  return {
    mode: "single",
    agent: agent ?? agentFor(found),
    task: text,
    ...(found.model === undefined ? {} : { model: found.model }),
  };
}
