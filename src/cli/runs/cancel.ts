import type { Receipt } from "../../core/run/run-command.ts";
import { isEnded } from "../../core/run/run-status.ts";
import { CrewError, isCrewError } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { Crew } from "../../crew.ts";
import { pause } from "../../runtime/async/cancel.ts";
import type { KeptRun } from "../../runtime/background/stored-runs.ts";
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

type Cancellation = Readonly<{ id: string; reason: string; signal: AbortSignal }>;

/**
 * Ends a run for good, and returns its status afterwards. If a process works on the run, that process is told to end
 * it; otherwise the run is resumed only to be cancelled. A process can take the run over, or die, at any moment: then
 * the other way is tried, until the signal is aborted.
 */
export async function cancelRun(
  { kept, resume }: Pick<Crew, "kept" | "resume">,
  { id, reason, signal }: Cancellation,
): Promise<KeptRun["life"]> {
  for (;;) {
    const taken = (await kept.owner(id)) !== undefined;
    if (taken) await kept.tell(id, { do: "cancel", reason }, { waitMs: ANSWER_MS, signal });
    else
      await unlessTaken(signal, async () => {
        const ending = resume(id, { unattended: true });
        ending.cancel(reason);
        await ending;
      });
    const { life } = taken ? await kept.ended(id, signal) : await kept.look(id);
    if (isEnded(life) || !(await pause(RETRY_MS, signal))) return life;
  }
}

/**
 * Ends one task of a run for good: records its end if no process works on the run, and otherwise tells that process to
 * end it; `undefined`: the process has not confirmed it.
 */
export async function cancelTask(
  { kept }: Pick<Crew, "kept">,
  { id, path, reason, signal }: Cancellation & Readonly<{ path: string }>,
): Promise<Receipt | undefined> {
  for (;;) {
    const receipt =
      (await kept.owner(id)) === undefined
        ? await unlessTaken(signal, () => kept.cancelTask(id, path, reason))
        : await kept.tell(id, { do: "cancel", path, reason }, { waitMs: 5 * ANSWER_MS, signal });
    if (receipt !== undefined || !(await pause(RETRY_MS, signal))) return receipt;
  }
}

const ANSWER_MS = 1_000;
const RETRY_MS = 20;

/** The result of work on a run without an owner; `undefined` if a process has taken the run over meanwhile. */
async function unlessTaken<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isCrewError(error) && error.code === "RUN_BUSY" && !signal.aborted) return undefined;
    throw error;
  }
}
