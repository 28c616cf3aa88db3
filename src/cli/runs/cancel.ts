import { isEnded } from "../../core/run/run-status.ts";
import { CrewError } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";
import { type NamedRun, findRun } from "./find-run.ts";

/** The time limit for a run to end cleanly. */
const WAIT_MS = 15_000;
const REASON = "cancelled by the user";

/** `subcrew cancel RUN[/TASK]` */
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
    return which.path === undefined ? cancelRun(which, flags) : cancelTask(which, which.path, flags);
  },
};

async function cancelRun({ crew, run }: NamedRun, { json }: { json?: boolean }): Promise<number> {
  const over = AbortSignal.timeout(WAIT_MS);
  if (run.owner === undefined) {
    // No process works on the run, so it is resumed only to be cancelled.
    const ending = crew.resume(run.id, { unattended: true });
    ending.cancel(REASON);
    await ending;
  } else {
    await crew.kept.tell(run.id, { do: "cancel", reason: REASON }, { waitMs: 1_000, signal: over });
  }
  const { life } = await crew.kept.ended(run.id, over);
  const ended = isEnded(life);
  const text = ended
    ? `${run.id} is ${life}.\nnext: subcrew result ${run.id}`
    : `${run.id} has not ended yet.\nnext: subcrew kill ${run.id}`;
  process.stdout.write(json ? `${jsonText({ id: run.id, status: life, ended })}\n` : `${text}\n`);
  return ended ? 0 : 1;
}

async function cancelTask({ crew, run }: NamedRun, path: string, { json }: { json?: boolean }): Promise<number> {
  const over = AbortSignal.timeout(WAIT_MS);
  const command = { do: "cancel" as const, path, reason: REASON };
  const receipt =
    run.owner === undefined
      ? await crew.kept.cancelTask(run.id, path, REASON)
      : await crew.kept.tell(run.id, command, { waitMs: WAIT_MS, signal: over });
  const done = receipt?.done ?? false;
  const text = receipt?.text ?? `${run.id} has not confirmed the cancellation yet.`;
  process.stdout.write(json ? `${jsonText({ id: run.id, path, done, text })}\n` : `${text}\n`);
  return done ? 0 : 1;
}
