import type { CliCommand } from "../base/command.ts";
import { steps } from "./chain.ts";
import { printing } from "./mode.ts";
import { tasks } from "./parallel.ts";
import { contest } from "./race.ts";
import { runCommand } from "./run.ts";
import { group } from "./team.ts";

/** The command `subcrew plan MODE ...`. */
export const planCommand: CliCommand = {
  description:
    "Prints the plan that a command line compiles to, and runs nothing: as a tree on a terminal, as JSON where it is piped or with --json. Each mode takes its usual arguments and flags.",
  usage: "MODE ...",
  options: [],
  examples: [
    ['subcrew plan parallel explore="a" explore="b"', "see the graph"],
    ['subcrew plan chain explore="a" explore="b" --mermaid', "a flowchart for a document"],
    ["subcrew plan team --input team.yaml > plan.json && subcrew run --plan plan.json", "edit the plan before it runs"],
  ],
  commands: {
    run: { ...printing(runCommand), alias: "single" },
    parallel: printing(tasks),
    chain: printing(steps),
    race: printing(contest),
    team: printing(group),
  },
};
