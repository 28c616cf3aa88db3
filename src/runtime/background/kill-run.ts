import { doneWith, type Receipt, refusedWith } from "../../core/run/run-command.ts";
import { isEnded } from "../../core/run/run-status.ts";
import type { RunOwner } from "../../core/run/run-store.ts";
import { pause } from "../async/cancel.ts";
import { signalAll, signalGroup } from "../commands/process-tree.ts";
import type { KeptRun } from "./kept-run.ts";
import type { KeptRuns } from "./stored-runs.ts";

const WAIT_MS = 5_000;

/**
 * Ends the work on a run at once. A process that exists only for the run is killed; a process that works on other
 * things, too, is told to end its work on the run. `undefined`: no process works on the run.
 */
export async function killRun(
  kept: KeptRuns,
  { id, life, background }: KeptRun,
  signal: AbortSignal,
): Promise<Receipt | undefined> {
  const owner = await kept.owner(id); // read just before the kill, because the system may reuse the pid of an ended process
  const isTaken = !isEnded(life) && life !== "paused" && (await kept.disown(id));
  if (!isTaken && owner === undefined) return undefined;
  const over = (): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]);
  const how = await endWork(kept, { id, background, owner, isTaken }, over);
  if (how === "elsewhere") return refusedWith("ELSEWHERE", `The run "${id}" runs on the machine "${owner?.host}".`);
  const until = over();
  while ((await kept.owner(id)) !== undefined && (await pause(20, until)));
  if ((await kept.owner(id)) === undefined) return doneWith(`${id} was killed.`);
  return how === "told"
    ? refusedWith(
        "NO_REPLY",
        `The server that works on ${id} does not answer. It was not killed, because it may work on other runs.`,
      )
    : refusedWith("NO_REPLY", `The process of ${id} is still running.`);
}

type Killed = Readonly<{ id: string; background: boolean; owner: RunOwner | undefined; isTaken: boolean }>;

/** Kills the process of a run, or tells it to end its work on the run if it also works on other things. */
async function endWork(
  kept: KeptRuns,
  { id, background, owner, isTaken }: Killed,
  over: () => AbortSignal,
): Promise<"killed" | "told" | "elsewhere"> {
  if (owner?.pid === undefined) return "killed";
  const { pid, host, pidNamespace } = owner;
  const sole = owner.sole === true && pidNamespace === undefined; // a pid of another namespace means nothing here
  // the run was taken away from its process, which notices that and stops its work on the run
  if (isTaken && (host !== undefined || !sole)) return "killed";
  if (host !== undefined) return "elsewhere";
  if (!sole) {
    await kept.tell(id, { do: "kill", pid }, { waitMs: WAIT_MS, signal: over() });
    return "told";
  }
  if (background) signalGroup(pid, "SIGKILL");
  else signalAll([pid], "SIGKILL");
  const until = over();
  while (isAlive(pid) && (await pause(20, until)));
  return "killed";
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
