import { jsonText } from "../../core/text/json-text.ts";
import { pause } from "../../runtime/async/cancel.ts";
import { signalAll, signalGroup } from "../../runtime/commands/process-tree.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";

const WAIT_MS = 5_000;

/** `subcrew kill RUN` */
export const kill: CliCommand = {
  description: "Ends the process that works on a run, at once. What is recorded is kept, and the run can be resumed.",
  words: "[run]",
  usage: "RUN",
  options: [jsonOption()],
  examples: [["subcrew kill run_4k2x", "when `subcrew stop` takes too long"]],
  act: async ([word], flags) => {
    const { whichActive } = await import("./find-run.ts");
    const { crew, run } = await whichActive(word);
    const pid = (await crew.kept.owner(run.id))?.pid; // asked again: a number is used for another process as soon as it is free
    if (pid !== undefined) {
      if (run.background) signalGroup(pid, "SIGKILL");
      else signalAll([pid], "SIGKILL");
    }
    const over = AbortSignal.timeout(WAIT_MS);
    while ((await crew.kept.owner(run.id)) !== undefined && (await pause(20, over)));
    const gone = (await crew.kept.owner(run.id)) === undefined;
    const text = gone
      ? `${run.id} was killed.\nnext: subcrew resume ${run.id}`
      : `The process of ${run.id} is still running.`;
    process.stdout.write(flags.json ? `${jsonText({ id: run.id, killed: gone })}\n` : `${text}\n`);
    return gone ? 0 : 1;
  },
};
