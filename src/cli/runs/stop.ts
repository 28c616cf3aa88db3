import { isEnded } from "../../core/run/run-status.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";
import type { NamedRun } from "./find-run.ts";

/** The time limit for a run to stop cleanly. */
const WAIT_MS = 15_000;
const REASON = "stopped by the user";

/** The command `subcrew stop RUN[/TASK]`. */
export const stop: CliCommand = {
  description:
    "Pauses a run, or one task and the agents that it started. Finished work is kept, and the run can be resumed.",
  words: "[run]",
  usage: "RUN[/TASK]",
  options: [jsonOption()],
  examples: [
    ["subcrew stop nightly", "`subcrew resume nightly` continues the run"],
    ["subcrew stop nightly/docs", "pause one task; tasks that depend on it wait, the others continue"],
  ],
  act: async ([word], flags) => {
    const { findRun, whichActive } = await import("./find-run.ts");
    const { crew, run, path } = await findRun(word);
    // Disowns an interrupted run of an engine; otherwise a worker would resume it.
    const isHeldBack = path === undefined && run.life === "interrupted" && (await crew.kept.disown(run.id));
    const which = isHeldBack ? { crew, run, path } : await whichActive(word);
    return which.path === undefined ? stopRun(which, flags) : stopTask(which, which.path, flags);
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

async function stopTask({ crew, run }: NamedRun, path: string, { json }: { json?: boolean }): Promise<number> {
  const command = { do: "pause" as const, path, reason: REASON };
  const receipt = await crew.kept.tell(run.id, command, { waitMs: WAIT_MS, signal: AbortSignal.timeout(WAIT_MS) });
  const done = receipt?.done ?? false;
  const text = receipt?.text ?? `${run.id} has not confirmed the pause yet.`;
  const next = done ? `\nnext: subcrew resume ${run.id}/${path}` : "";
  process.stdout.write(json ? `${jsonText({ id: run.id, path, done, text })}\n` : `${text}${next}\n`);
  return done ? 0 : 1;
}
