import type { PerformContext } from "../../core/task/engine.ts";
import type { Job } from "../../core/task/job.ts";
import type { Sameness } from "../../runtime/cassette/cassette.ts";
import type { Deck } from "../../runtime/cassette/deck.ts";
import { recordingOn } from "../../runtime/cassette/record.ts";
import { replayingFrom } from "../../runtime/cassette/replay.ts";
import { remoteTape } from "../../runtime/cassette/tape.ts";

/** Access to the run's recording (cassette), which is on the machine that coordinates the run. */
export function deckOfJob(
  { tape, workspace }: Job,
  { tape: ask }: PerformContext,
  same: Sameness,
): Pick<Deck, "models" | "runner" | "peers" | "acceptance"> | undefined {
  if (tape === undefined || !ask) return undefined;
  const places = { from: workspace.id, to: same.cwd };
  const { records, replays } = remoteTape(ask, places);
  return tape === "records" ? recordingOn(records, same) : replayingFrom(replays, same);
}
