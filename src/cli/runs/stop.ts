import { onlyRunsPause } from "../../core/run/run-command.ts";
import { CrewError } from "../../core/schema/error.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";
import { printReceipt } from "../terminal/print-receipt.ts";

/** The command `subcrew stop RUN`. */
export const stop: CliCommand = {
  description: "Pauses a run. Finished work is kept, and the run can be resumed.",
  words: "[run]",
  usage: "RUN",
  options: [jsonOption()],
  examples: [["subcrew stop nightly", "`subcrew resume nightly` continues the run"]],
  act: async ([word], flags) => {
    const [name = "", ...path] = word?.split("/") ?? [];
    if (path.length > 0) throw new CrewError("BAD_INPUT", onlyRunsPause(name, path.join("/")), "");
    const { findRun, whichActive } = await import("./find-run.ts");
    const { crew, run } = await findRun(word);
    const receipt = await crew.open(run.id).pause();
    if (receipt.state === "refused") await whichActive(word); // throws with the reason and what to do
    const next = receipt.state === "done" ? `subcrew resume ${run.id}` : `subcrew kill ${run.id}`;
    return printReceipt(run.id, receipt, flags, next);
  },
};
