import { Option } from "commander";
import type { CliCommand } from "../base/command.ts";
import { jsonOption, outputOptions, runningOptions } from "../base/flags.ts";

const kept: ReadonlySet<string> = new Set(["--cwd", "--no-color"]);

/** `subcrew trust` */
export const trust: CliCommand = {
  description: "Shows what this project would bring in - agents, skills, commands, settings - and asks whether it may.",
  options: [
    new Option("--yes", "agree without being asked"),
    new Option("--revoke", "take it back"),
    new Option("--list", "the projects that are trusted"),
    ...[...runningOptions(), ...outputOptions()].filter(({ long }) => kept.has(long ?? "")),
    jsonOption(),
  ],
  examples: [
    ["subcrew trust", "look, then say yes or no"],
    ["subcrew trust --yes", "in a script, once you know what is in there"],
    ["subcrew trust --revoke", "stop using the files of this project"],
  ],
  notes: `What is trusted is the project's folder, and in it each file as it is now: a file that changes or comes
later has to be agreed to again. Files of a project that is not trusted are listed and never run.`,
  act: async (_, flags) => (await import("./trust-project.ts")).trustProject(flags),
};
