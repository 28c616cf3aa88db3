import { Option } from "commander";
import type { CliCommand } from "../base/command.ts";
import { callOptions, colorOption, type Flags, jsonOption, outputOptions, runningOptions } from "../base/flags.ts";
import { unknownCommand } from "../base/usage.ts";

const PRESETS = ["unified", "omp", "pegasus", "mycode", "pi-parallel", "gemini"];

/** Flags that select where agents are searched for, and the output format. */
export const placeOptions = (): Option[] => [
  ...[...runningOptions(), ...outputOptions()].filter(({ long }) => kept.has(long ?? "")),
  new Option("--agent-scope <scope>", "which agents are used: the user's, the project's or both")
    .choices(["user", "project", "both"])
    .helpGroup("The run:"),
  jsonOption(),
];
const kept: ReadonlySet<string> = new Set(["--cwd", "--trust", "--no-color"]);

const presetOption = (): Option =>
  new Option("--preset <name>", "search for agents where this other program does")
    .choices(PRESETS)
    .helpGroup("The run:");

const dialectOption = (what: string): Option => new Option("--dialect <name>", what);
const userOption = (): Option => new Option("--user", "in the home folder, for every project");
const outOption = (what: string): Option => new Option("--out <file>", what);

type Act = NonNullable<CliCommand["act"]>;

/** `subcrew agents` and its subcommands. */
export const agents: CliCommand = {
  description: "Lists the agents that can run here and where each comes from.",
  words: "[command]",
  usage: "[COMMAND]",
  options: [
    new Option("--all", "also list agents of other systems, and shadowed, disabled and broken agents, with the reason"),
    presetOption(),
    ...placeOptions(),
  ],
  examples: [
    ["subcrew agents --all", "every definition found, and why some are not used"],
    ["subcrew agents explain explore", "the permissions of an agent, and why"],
    ["subcrew agents --json", "for a program"],
  ],
  commands: {
    list: {
      description:
        "Lists the agents that can run here, as `subcrew agents` does. Words filter by name, description and origin.",
      words: "[words...]",
      usage: "[WORDS]",
      options: [
        new Option(
          "--all",
          "also list agents of other systems, and shadowed, disabled and broken agents, with the reason",
        ),
        presetOption(),
        ...placeOptions(),
      ],
      examples: [
        ["subcrew agents list review", "agents whose name, description or origin contains this word"],
        ["subcrew agents list --all", "every definition found, and why some are not used"],
      ],
      act: later(async () => {
        const { listAgents } = await import("./list.ts");
        return (words, flags) => listAgents(flags, words);
      }),
    },
    sources: {
      description: "Lists the places where agents are searched for, in order of precedence, and what was found there.",
      options: [presetOption(), ...placeOptions()],
      examples: [["subcrew agents sources", "which of two agents with the same name wins"]],
      act: later(async () => (await import("./sources.ts")).sources),
    },
    show: {
      description: "Prints the definition of an agent as it would run.",
      words: "<agent>",
      usage: "AGENT",
      options: [new Option("--raw", "print the text of the file"), presetOption(), ...placeOptions()],
      examples: [
        [
          "subcrew agents show claude:reviewer",
          "the agent of Claude Code, even if another agent with this name takes precedence",
        ],
      ],
      act: later(async () => (await import("./show.ts")).show),
    },
    explain: {
      description: "Says where each field of an agent comes from, which tools and which model result, and why.",
      words: "<agent>",
      usage: "AGENT",
      options: [...callOptions(), presetOption(), ...placeOptions()],
      examples: [
        ["subcrew agents explain explore", "everything about one agent"],
        ["subcrew agents explain explore --model fast --tools read_file", "how these flags of a run would change it"],
      ],
      act: later(async () => (await import("./explain.ts")).explainAgentCommand),
    },
    lint: {
      description: "Finds mistakes in agent files. Without paths, checks every agent file that is found.",
      words: "[paths...]",
      usage: "[PATHS]",
      options: [
        new Option("--format <format>", "output format").choices(["text", "json"]).default("text"),
        new Option("--strict", "treat warnings as errors"),
        new Option("--all", "also report notes that are neither errors nor warnings"),
        new Option("--fix", "correct quotes, lists and names of keys: shows the diff, then asks"),
        new Option("--yes", "with --fix: do not ask"),
        dialectOption("dialect of the files (default: determined by their path)"),
        ...placeOptions().filter(({ long }) => long !== "--json"),
      ],
      examples: [
        ["subcrew agents lint .claude/agents", "the files of one folder"],
        ["subcrew agents lint --fix .claude/agents", "correct them after showing the diff"],
        ["subcrew agents lint --format json", "for a program"],
      ],
      notes: "Exit codes: 0 no errors, 1 errors, 2 a path does not exist.",
      act: later(async () => (await import("./lint.ts")).lint),
    },
    convert: {
      description: "Converts an agent file for another agent program and reports what the other format cannot express.",
      words: "<file>",
      usage: "FILE --to DIALECT",
      options: [
        new Option(
          "--to <dialect>",
          "dialect to convert to: own, claude, codex, gemini, copilot, opencode, cursor, omp, pi, subagent, ...",
        ),
        outOption("write to this file instead of standard output; in a folder, under the usual name"),
        new Option("--check", "write nothing, only report"),
        new Option("--strict", "exit with 1 when something cannot be converted"),
        dialectOption("dialect of the file (default: determined by its path)"),
        jsonOption(),
        colorOption(),
      ],
      examples: [
        ["subcrew agents convert .claude/agents/critic.md --to codex", "what Codex would get"],
        ["subcrew agents convert critic.md --to gemini --out .", "as .gemini/agents/critic.md"],
      ],
      act: later(async () => (await import("./convert.ts")).convertFile),
    },
    new: {
      description: "Creates an agent file in .agents/agents of this project.",
      words: "<name>",
      usage: "NAME",
      options: [
        userOption(),
        new Option("--from <agent>", "start from a copy of this agent"),
        ...placeOptions().filter(({ long }) => long !== "--agent-scope"),
      ],
      examples: [
        ["subcrew agents new critic", "a file to fill in"],
        ["subcrew agents new my-explore --from explore --user", "a variant of a bundled agent"],
      ],
      act: later(async () => (await import("./new.ts")).newAgent),
    },
    eject: {
      description: "Copies an agent to a file that you can edit; the copy takes precedence from then on.",
      words: "<agent>",
      usage: "AGENT",
      options: [userOption(), ...placeOptions().filter(({ long }) => long !== "--agent-scope")],
      examples: [["subcrew agents eject reviewer", "change a bundled agent for this project"]],
      act: later(async () => (await import("./new.ts")).eject),
    },
    enable: {
      description: "Enables an agent in your settings.",
      words: "<agent>",
      usage: "AGENT",
      options: placeOptions(),
      examples: [["subcrew agents enable reviewer", "let it run again"]],
      act: later(async () => (await import("./switch.ts")).enable),
    },
    disable: {
      description: "Disables an agent in your settings: it stays listed and cannot be started.",
      words: "<agent>",
      usage: "AGENT",
      options: placeOptions(),
      examples: [["subcrew agents disable reviewer", "in every project"]],
      act: later(async () => (await import("./switch.ts")).disable),
    },
  },
  act: async ([word], flags) => {
    if (word !== undefined) throw unknownCommand(word, Object.keys(agents.commands ?? {}), "subcrew agents");
    return (await import("./list.ts")).listAgents(flags);
  },
};

/** Imports the code of a subcommand when it is run. */
function later(load: () => Promise<(words: readonly string[], flags: Flags) => Promise<number>>): Act {
  return async (words, flags) => (await load())(words, flags);
}
