import { isEnded } from "../../core/run/run-status.ts";
import { CrewError } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { cancelRun, cancelTask } from "../../runtime/background/cancel-run.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";
import { type NamedRun, findRun } from "./find-run.ts";

/** The time limit for a run to end cleanly. */
const WAIT_MS = 15_000;
const REASON = "cancelled by the user";

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
    return which.path === undefined ? endRun(which, flags) : endTask(which, which.path, flags);
  },
};

async function endRun({ crew, run: { id } }: NamedRun, { json }: { json?: boolean }): Promise<number> {
  const life = await cancelRun(crew, { id, reason: REASON, signal: AbortSignal.timeout(WAIT_MS) });
  const ended = isEnded(life);
  const text = ended
    ? `${id} is ${life}.\nnext: subcrew result ${id}`
    : `${id} has not ended yet.\nnext: subcrew kill ${id}`;
  process.stdout.write(json ? `${jsonText({ id, status: life, ended })}\n` : `${text}\n`);
  return ended ? 0 : 1;
}

async function endTask({ crew, run: { id } }: NamedRun, path: string, { json }: { json?: boolean }): Promise<number> {
  const receipt = await cancelTask(crew, { id, path, reason: REASON, signal: AbortSignal.timeout(WAIT_MS) });
  const done = receipt?.done ?? false;
  const text = receipt?.text ?? `${id} has not confirmed the cancellation yet.`;
  process.stdout.write(json ? `${jsonText({ id, path, done, text })}\n` : `${text}\n`);
  return done ? 0 : 1;
}
