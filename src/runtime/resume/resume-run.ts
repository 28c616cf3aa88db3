import { hasEnded } from "../../core/run/history.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { CrewError } from "../../core/schema/error.ts";
import { drive, type Start } from "../run/drive.ts";
import type { Drive } from "../run/run.ts";
import type { RecordedRun } from "./recorded-run.ts";

/** How a recorded run is resumed; `prepare` makes everything that the rest of its plan needs. */
export type ResumeParts = Readonly<{ retryFailed: boolean; prepare(plan: Plan): Promise<Start> }>;

/** Continues a run where its journal ends. Of a run that has ended, the events are published again and nothing is done. */
export async function resumeRun(
  it: Drive,
  { id, journal: { events } }: RecordedRun,
  { retryFailed, prepare }: ResumeParts,
): Promise<void> {
  const started = events[0];
  if (started?.type !== "run.started")
    throw new CrewError("RUN_DAMAGED", `The run "${id}" stopped before it began.`, "Start it again.");
  if (hasEnded(events, { retryFailed })) return events.forEach(it.publish);
  const start = await prepare(started.plan);
  await drive({ ...start, resume: { retryFailed } }, it);
}
