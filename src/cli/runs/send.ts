import { Option } from "commander";
import { CrewError } from "../../core/schema/error.ts";
import { shownNodes } from "../../core/view/nodes.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";
import { printReceipt } from "../terminal/print-receipt.ts";

/** The command `subcrew send RUN[/TASK] "message"`. */
export const send: CliCommand = {
  description: "Sends a message to a running task. The task reads it before its next turn.",
  words: "[run] [message...]",
  usage: 'RUN[/TASK] "MESSAGE"',
  options: [
    new Option("--interrupt", "interrupt the model's current answer, so that it reads the message at once"),
    jsonOption(),
  ],
  examples: [
    ['subcrew send nightly "Leave the tests alone."', "to the only running task"],
    ['subcrew send run_4k2x/build "Stop, and build it for Node 20." --interrupt', "to one of several tasks, at once"],
  ],
  act: async ([word, ...words], flags) => {
    const { whichActive } = await import("./find-run.ts");
    const { crew, run, path } = await whichActive(word);
    const text = words.join(" ").trim();
    if (text === "")
      throw new CrewError(
        "BAD_INPUT",
        "No message given.",
        `Give the message after the run, as in \`subcrew send ${word} "..."\`.`,
      );
    const running = shownNodes(run.state).filter(({ status, kind }) => status === "running" && kind === "task");
    const [only, ...others] = path === undefined ? running.map((view) => view.path) : [path];
    if (only === undefined)
      throw new CrewError(
        "RUN_BUSY",
        `The message cannot be delivered: no task of "${run.id}" is running.`,
        `See \`subcrew status ${run.id}\`.`,
      );
    if (others.length > 0)
      throw new CrewError(
        "BAD_INPUT",
        `Several tasks of "${run.id}" are running.`,
        `Name one of: ${[only, ...others]
          .slice(0, 5)
          .map((each) => `${run.id}/${each}`)
          .join(", ")}.`,
      );
    const receipt = await crew.open(run.id).send(only, text, flags.interrupt ? "interrupt" : "steer");
    return printReceipt(run.id, receipt, flags);
  },
};
