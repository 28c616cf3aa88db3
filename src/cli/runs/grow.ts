import { CrewError } from "../../core/schema/error.ts";
import { change } from "../../core/schedule/change.ts";
import { parseAs } from "../../core/schema/parse.ts";
import type { CliCommand } from "../base/command.ts";
import { inputOption, jsonOption } from "../base/flags.ts";
import { printReceipt } from "../terminal/print-receipt.ts";

/** The command `subcrew grow RUN --input FILE`. */
export const growCommand: CliCommand = {
  description:
    "Changes the plan of a run that is running, also in the background: adds tasks, changes dependencies of waiting tasks, cancels tasks. An invalid change changes nothing.",
  words: "[run]",
  usage: "RUN --input FILE",
  options: [inputOption(), jsonOption()],
  examples: [["subcrew grow nightly --input more.json", "add the tasks of a file"]],
  notes: `The file, as JSON or YAML:
  newTasks             nodes to add, by id, as in a plan: {"docs": {"kind": "task", "task": {"agent": "general", "prompt": "..."}}}
  into                 the join node that collects the new tasks (default: the output of the plan)
  updateDependencies   new dependencies of tasks that have not started: {"docs": ["build"]}
  markFailed           tasks to cancel, with the reason: {"build": "not needed"}`,
  act: async ([word], flags) => {
    const [{ whichActive }, { readData }] = await Promise.all([
      import("./find-run.ts"),
      import("../launch/read-input.ts"),
    ]);
    const { crew, run } = await whichActive(word);
    if (flags.input === undefined)
      throw new CrewError(
        "BAD_INPUT",
        "No change given.",
        `Give the change as a file: \`subcrew grow ${word} --input FILE\`.`,
      );
    const asked = parseAs(change, await readData(flags.input), { code: "BAD_INPUT", what: "change" });
    return printReceipt(run.id, await crew.open(run.id).change(asked), flags);
  },
};
