import { hasEnded } from "../core/run/history.ts";
import { CrewError } from "../core/schema/error.ts";
import { drive } from "../runtime/run/drive.ts";
import type { Drive } from "../runtime/run/run.ts";
import { readForResume } from "../runtime/store/journal.ts";
import type { Store } from "../runtime/store/store.ts";
import type { Prepare } from "./prepare.ts";
import type { ResumeOptions } from "./run-options.ts";

/** Goes on where the journal of a run ends; a run that ended is only told again. */
export async function resume(
  it: Drive,
  { retryFailed = false, ...options }: ResumeOptions,
  { store, prepare }: Readonly<{ store: Store; prepare: Prepare }>,
): Promise<void> {
  const { run } = it;
  const { events } = await readForResume(store.folder(run)).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT"
      ? new CrewError("UNKNOWN_RUN", `There is no run "${run}".`, "See `subcrew runs` for those that were kept.")
      : error;
  });
  const started = events[0];
  if (started?.type !== "run.started")
    throw new CrewError("RUN_DAMAGED", `The run "${run}" stopped before it began.`, "Start it again.");
  if (hasEnded(events, { retryFailed })) return events.forEach(it.publish);
  const start = await prepare({ run, plan: started.plan, options, past: events });
  await drive({ ...start, resume: { retryFailed } }, it);
}
