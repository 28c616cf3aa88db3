import { isEnded } from "../../core/run/run-status.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";

/** How long a run has to stop in order. */
const WAIT_MS = 15_000;

/** `subcrew stop RUN` */
export const stop: CliCommand = {
  description: "Pauses a run: it stops in order, keeps what is done, and can be resumed.",
  words: "[run]",
  usage: "RUN",
  options: [jsonOption()],
  examples: [["subcrew stop nightly", "`subcrew resume nightly` goes on with it"]],
  act: async ([word], flags) => {
    const { whichActive } = await import("./find-run.ts");
    const { crew, run } = await whichActive(word);
    const over = AbortSignal.timeout(WAIT_MS);
    await crew.kept.tell(run.id, { do: "pause", reason: "stopped by the user" }, { waitMs: 1_000, signal: over });
    const { life, owner } = await crew.kept.ended(run.id, over);
    const stopped = owner === undefined || life === "paused" || isEnded(life);
    const next = isEnded(life) ? `subcrew result ${run.id}` : `subcrew resume ${run.id}`;
    const text = stopped
      ? `${run.id} is ${life}.\nnext: ${next}`
      : `${run.id} has not stopped yet.\nnext: subcrew kill ${run.id}`;
    process.stdout.write(flags.json ? `${jsonText({ id: run.id, status: life, stopped })}\n` : `${text}\n`);
    return stopped ? 0 : 1;
  },
};
