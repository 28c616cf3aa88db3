import { Option } from "commander";
import { CrewError } from "../core/error.ts";
import type { CommandDefinition } from "./command.ts";
import { budgetOptions, outputOptions, runningOptions } from "./flags.ts";

/** What was settled when the run began stays as it was. */
const settled: ReadonlySet<string> = new Set(["--name", "--strict"]);

/** `subcrew resume RUN` */
export const resume: CommandDefinition = {
  description:
    "Goes on with a run that was stopped; nothing that is done is done again. Of a run that has ended, shows the result.",
  words: "[run]",
  usage: "RUN",
  options: [
    new Option("--retry-failed", "try again what failed, too").helpGroup("The run:"),
    ...runningOptions().filter(({ long }) => !settled.has(long ?? "")),
    ...budgetOptions(),
    ...outputOptions(),
  ],
  examples: [
    ["subcrew resume run_4k2x", "the beginning of an id is enough"],
    ["subcrew resume nightly --retry-failed", "by its name, and with another try for what failed"],
  ],
  act: async ([word], flags) => {
    if (word === undefined)
      throw new CrewError(
        "BAD_INPUT",
        "Which run to resume was not said.",
        "Give its id, the beginning of it, or its name; `subcrew runs` lists them.",
      );
    const [{ attend }, { crewFor, runOptionsOf }, { terminal }] = await Promise.all([
      import("./attend.ts"),
      import("./start.ts"),
      import("./terminal.ts"),
    ]);
    const place = terminal(flags);
    const id = await (await crewFor({})).findRun(word);
    const { cwd } = await (await crewFor({})).record(id);
    const crew = await crewFor({ ...(cwd !== "" && { cwd }), ...flags });
    const run = crew.resume(id, { ...runOptionsOf(flags, place), retryFailed: flags.retryFailed ?? false });
    return attend(run, flags, place);
  },
};
