import type { RunOwner } from "../../core/run/run-store.ts";
import { isEnded } from "../../core/run/run-status.ts";
import { CrewError } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { Crew } from "../../crew/crew-type.ts";
import { pause } from "../../runtime/async/cancel.ts";
import { signalAll, signalGroup } from "../../runtime/commands/process-tree.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";

const WAIT_MS = 5_000;

/** The command `subcrew kill RUN`. */
export const kill: CliCommand = {
  description:
    "Ends a run's processes at once. Recorded work is kept and the run can be resumed. A server that works on other runs too is not killed.",
  words: "[run]",
  usage: "RUN",
  options: [jsonOption()],
  examples: [["subcrew kill run_4k2x", "when `subcrew stop` takes too long"]],
  act: async ([word], flags) => {
    const { findRun, whichActive } = await import("./find-run.ts");
    const { crew, run } = await findRun(word);
    const { id, background } = run;
    const owner = await crew.kept.owner(id); // read just before the kill, because the system may reuse the pid of an ended process
    const isTaken = !isEnded(run.life) && run.life !== "paused" && (await crew.kept.disown(id));
    if (!isTaken) await whichActive(word);
    const shared = await endWork(crew, { id, background, owner, isTaken });
    const over = AbortSignal.timeout(WAIT_MS);
    while ((await crew.kept.owner(id)) !== undefined && (await pause(20, over)));
    const gone = (await crew.kept.owner(id)) === undefined;
    const text = gone
      ? `${id} was killed.\nnext: subcrew resume ${id}`
      : shared
        ? `The server that works on ${id} does not answer. It was not killed, because it may work on other runs.`
        : `The process of ${id} is still running.`;
    process.stdout.write(flags.json ? `${jsonText({ id, killed: gone })}\n` : `${text}\n`);
    return gone ? 0 : 1;
  },
};

/**
 * Kills the process of a run. A process that also works on other things is told to end its work on the run instead;
 * returns true for such a process.
 */
async function endWork(
  { kept }: Crew,
  {
    id,
    background,
    owner,
    isTaken,
  }: Readonly<{ id: string; background: boolean; owner: RunOwner | undefined; isTaken: boolean }>,
): Promise<boolean> {
  if (owner?.pid === undefined) return false;
  const { pid, host, pidNamespace } = owner;
  const sole = owner.sole === true && pidNamespace === undefined; // a pid of another namespace means nothing here
  // the run was taken away from its process, which notices that and stops its work on the run
  if (isTaken && (host !== undefined || !sole)) return false;
  if (host !== undefined)
    throw new CrewError(
      "RUN_BUSY",
      `The run "${id}" runs on the machine "${host}".`,
      `Kill the run on that machine: \`subcrew kill ${id}\`.`,
    );
  if (!sole) await kept.tell(id, { do: "kill", pid }, { waitMs: WAIT_MS, signal: AbortSignal.timeout(WAIT_MS) });
  else if (background) signalGroup(pid, "SIGKILL");
  else signalAll([pid], "SIGKILL");
  if (!sole) return true;
  const over = AbortSignal.timeout(WAIT_MS);
  while (isAlive(pid) && (await pause(20, over)));
  return false;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
