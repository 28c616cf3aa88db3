import { isEnded } from "../../core/run/run-status.ts";
import { CrewError } from "../../core/schema/error.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";
import { findRun } from "./find-run.ts";
import { printReceipt } from "../terminal/print-receipt.ts";

/** The command `subcrew cancel RUN[/TASK]`. */
export const cancel: CliCommand = {
  description: "Ends a run, or one task of it, for good. Finished work is kept; the run cannot be resumed.",
  words: "[run]",
  usage: "RUN[/TASK]",
  options: [jsonOption()],
  examples: [
    ["subcrew cancel nightly", "`subcrew stop` pauses a run instead"],
    ["subcrew cancel nightly/docs", "end one task; tasks that depend on it are skipped"],
  ],
  act: async ([word], flags) => {
    const which = await findRun(word);
    const { id, life } = which.run;
    if (isEnded(life))
      throw new CrewError("RUN_BUSY", `The run "${id}" has ended (${life}).`, `See \`subcrew result ${id}\`.`);
    const receipt = await which.crew.open(id).cancel(which.path === undefined ? {} : { task: which.path });
    if (which.path !== undefined) return printReceipt(id, receipt, flags);
    return printReceipt(id, receipt, flags, receipt.state === "done" ? `subcrew result ${id}` : `subcrew kill ${id}`);
  },
};
