import { onlyRunsPause } from "../../core/run/run-command.ts";
import { isEnded } from "../../core/run/run-status.ts";
import { CrewError } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";
import type { NamedRun } from "./find-run.ts";

/** The time limit for a run to stop cleanly. */
const WAIT_MS = 15_000;
const REASON = "stopped by the user";

/** The command `subcrew stop RUN`. */
export const stop: CliCommand = {
  description: "Pauses a run. Finished work is kept, and the run can be resumed.",
  words: "[run]",
  usage: "RUN",
  options: [jsonOption()],
  examples: [["subcrew stop nightly", "`subcrew resume nightly` continues the run"]],
  act: async ([word], flags) => {
    const [name = "", ...path] = word?.split("/") ?? [];
    if (path.length > 0) throw new CrewError("BAD_INPUT", onlyRunsPause(name, path.join("/")), "");
    const { findRun, whichActive } = await import("./find-run.ts");
    const found = await findRun(word);
    // Disowns an interrupted run of an engine; otherwise a worker would resume it.
    const isHeldBack = found.run.life === "interrupted" && (await found.crew.kept.disown(found.run.id));
    return stopRun(isHeldBack ? found : await whichActive(word), flags);
  },
};

async function stopRun({ crew, run }: NamedRun, { json }: { json?: boolean }): Promise<number> {
  const over = AbortSignal.timeout(WAIT_MS);
  if (run.owner !== undefined)
    await crew.kept.tell(run.id, { do: "pause", reason: REASON }, { waitMs: 1_000, signal: over });
  const { life, owner } = await crew.kept.ended(run.id, over);
  const stopped = owner === undefined || life === "paused" || isEnded(life);
  const next = isEnded(life) ? `subcrew result ${run.id}` : `subcrew resume ${run.id}`;
  const text = stopped
    ? `${run.id} is ${life}.\nnext: ${next}`
    : `${run.id} has not stopped yet.\nnext: subcrew kill ${run.id}`;
  process.stdout.write(json ? `${jsonText({ id: run.id, status: life, stopped })}\n` : `${text}\n`);
  return stopped ? 0 : 1;
}
