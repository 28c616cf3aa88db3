import { CrewError } from "../../core/schema/error.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";
import { printReceipt } from "../terminal/print-receipt.ts";

/** The command `subcrew kill RUN`. */
export const kill: CliCommand = {
  description:
    "Ends a run's processes at once. Recorded work is kept and the run can be resumed. A server that works on other runs too is not killed.",
  words: "[run]",
  usage: "RUN",
  options: [jsonOption()],
  examples: [["subcrew kill run_4k2x", "when `subcrew stop` takes too long"]],
  act: async ([word], flags) => {
    const { findRun, whichActive } = await import("./find-run.ts");
    const { crew, run } = await findRun(word);
    const { id } = run;
    const receipt = await crew.open(id).kill();
    if (receipt.code === "ELSEWHERE")
      throw new CrewError("RUN_BUSY", receipt.text, `Kill the run on that machine: \`subcrew kill ${id}\`.`);
    if (receipt.state === "refused" && receipt.code !== "NO_REPLY") await whichActive(word); // throws with the reason
    return printReceipt(id, receipt, flags, receipt.state === "done" ? `subcrew resume ${id}` : undefined);
  },
};
