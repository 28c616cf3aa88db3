import { CrewError } from "../../core/schema/error.ts";
import type { Crew } from "../../crew/crew-type.ts";
import type { KeptRun } from "../../runtime/background/kept-run.ts";
import { terminalLine } from "../../core/view/words.ts";
import { hasTask, unknownTask } from "../../runtime/resume/recorded-run.ts";
import { asPath } from "../../modes/names.ts";
import { crewFor } from "../launch/start.ts";

/** A run, and a task of it as `run/path` if a task was given. */
export type NamedRun = Readonly<{ crew: Crew; run: KeptRun; path: string | undefined }>;

/**
 * Finds a run by id, by the beginning of its id, by name or by `last`. Each of these may be followed by a task path.
 */
export async function findRun(word: string | undefined, what = "No run given."): Promise<NamedRun> {
  if (word === undefined || word === "")
    throw new CrewError(
      "BAD_INPUT",
      what,
      "Give the id of the run, the beginning of the id, the name of the run, or `last` for the newest run; `subcrew ps` lists them.",
    );
  const crew = await crewFor({});
  const cut = word.indexOf("/");
  const id = await crew.findRun(cut < 0 ? word : word.slice(0, cut));
  const run = await crew.kept.look(id);
  if (run.life === "damaged" && run.state.seq === 0)
    throw new CrewError(
      "RUN_DAMAGED",
      `The run "${id}" is damaged. ${run.problems.join(" ")}`,
      `Look at the files in ${run.place}.`,
    );
  const typed = cut < 0 ? undefined : word.slice(cut + 1);
  const path = typed === undefined ? undefined : asPath(typed);
  if (typed !== undefined && path !== undefined && !hasTask(run.state, path)) throw unknownTask(run.state, typed);
  return { crew, run, path };
}

/** Reports the unreadable parts of a journal, so that the readable rest is not mistaken for the whole. */
export function warnOfDamage({ problems }: Pick<KeptRun, "problems">): void {
  for (const problem of problems) process.stderr.write(`warning: ${terminalLine(problem)}\n`);
}

/** Like {@link findRun}, but throws when no process works on the run. */
export async function whichActive(word: string | undefined): Promise<NamedRun> {
  const which = await findRun(word);
  const { id, life } = which.run;
  if (life === "damaged")
    throw new CrewError(
      "RUN_DAMAGED",
      `The journal of "${id}" is damaged: ${which.run.problems.join(" ")}`,
      `Print its readable part: \`subcrew logs ${id}\`.`,
    );
  if (life === "interrupted" || (life === "paused" && which.run.owner === undefined))
    throw new CrewError(
      "RUN_BUSY",
      `The run "${id}" is ${life}: no process is running it.`,
      `Resume the run: \`subcrew resume ${id}\`.`,
    );
  if (which.run.owner === undefined)
    throw new CrewError("RUN_BUSY", `The run "${id}" has ended (${life}).`, `See \`subcrew result ${id}\`.`);
  return which;
}
