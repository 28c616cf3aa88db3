import type { Receipt } from "../../core/run/run-command.ts";
import { isEnded } from "../../core/run/run-status.ts";
import { isCrewError } from "../../core/schema/error.ts";
import { pause } from "../async/cancel.ts";
import type { Run } from "../run/run.ts";
import type { KeptRun } from "./kept-run.ts";
import type { KeptRuns } from "./stored-runs.ts";

type Cancellation = Readonly<{ id: string; reason: string; signal: AbortSignal }>;

/**
 * Ends a run for good, and returns its status afterwards. If a process works on the run, that process is told to end
 * it; otherwise the run is resumed only to be cancelled. A process can take the run over, or die, at any moment: then
 * the other way is tried, until the signal is aborted.
 */
export async function cancelRun(
  { kept, resume }: Readonly<{ kept: KeptRuns; resume(id: string, options: { unattended: true }): Run }>,
  { id, reason, signal }: Cancellation,
): Promise<KeptRun["life"]> {
  const before = await kept.look(id);
  if (isEnded(before.life)) return before.life;
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
  { kept }: Readonly<{ kept: KeptRuns }>,
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
