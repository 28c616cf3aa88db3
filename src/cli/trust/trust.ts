import { Option } from "commander";
import type { CliCommand } from "../base/command.ts";
import { jsonOption, outputOptions, runningOptions } from "../base/flags.ts";

const kept: ReadonlySet<string> = new Set(["--cwd", "--no-color"]);

/** The command `subcrew trust`. */
export const trust: CliCommand = {
  description:
    "Shows what this project would add - agents, skills, commands, settings - and asks whether you trust it.",
  options: [
    new Option("--yes", "do not ask for confirmation"),
    new Option("--revoke", "stop trusting this project"),
    new Option("--list", "list trusted projects"),
    ...[...runningOptions(), ...outputOptions()].filter(({ long }) => kept.has(long ?? "")),
    jsonOption(),
  ],
  examples: [
    ["subcrew trust", "review the files, then answer yes or no"],
    ["subcrew trust --yes", "in a script, after a review"],
    ["subcrew trust --revoke", "stop using the files of this project"],
  ],
  notes: `Trust applies to the project's folder and to each file in its current state: a file that changes or is added
later must be trusted again. Files of a project that is not trusted are listed and never run.`,
  act: async (_, flags) => (await import("./trust-project.ts")).trustProject(flags),
};
