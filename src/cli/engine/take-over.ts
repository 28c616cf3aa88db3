import type { EngineConnection } from "../../engines/engine-kind.ts";
import { isCrewError, messageOf } from "../../core/schema/error.ts";
import { pause } from "../../runtime/async/cancel.ts";
import type { Run } from "../../runtime/run/run.ts";
import { readRequest } from "../../runtime/background/run-request.ts";
import { foldWhole } from "../../runtime/store/fold-journal.ts";
import { crewFor } from "../launch/start.ts";

const LOOK_EVERY_MS = 1_000;
/** The wait before the next attempt to take over a run; it doubles after each failure. */
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 60_000;

export type TakingOver = Readonly<{
  connection: EngineConnection;
  /** True when this worker also resumes runs whose coordinating process has died. */
  coordinate: boolean;
  say(line: string): void;
  signal: AbortSignal;
}>;

type ResumedRun = Pick<Run, "then" | "kill" | "events">;
/** `after`: the number of the last event before the takeover. */
type Resumed = Readonly<{ run: ResumedRun; after: number }>;

/**
 * Requeues the tasks of dead workers and resumes the runs of dead processes, until the signal aborts. Then it hands the
 * resumed runs over to other workers, or to the next worker that starts.
 */
export async function takeOverDead({ connection, coordinate, say, signal }: TakingOver): Promise<void> {
  const { orphans } = connection;
  const taken = new Map<string, ResumedRun>();
  const working = new Set<Promise<unknown>>();
  const failed = new Map<string, Readonly<{ tries: number; again: number }>>();

  const handOver = (id: string, run: ResumedRun): void => {
    if (!run.kill()) return; // a person paused, cancelled or killed the run
    orphans.handOver(id);
    say(`hands over ${id}`);
  };
  const takeOver = async (id: string): Promise<void> => {
    try {
      const found = await resumed(connection, id);
      if (!found) return;
      const { run } = found;
      say(`takes over ${id}, whose process died`);
      taken.set(id, run);
      if (signal.aborted) handOver(id, run);
      await Promise.all([run, sayMissing(found, say)]);
      failed.delete(id);
    } catch (error) {
      if (isCrewError(error) && error.code === "RUN_BUSY") return; // another process took the run over
      const tries = (failed.get(id)?.tries ?? 0) + 1;
      const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1));
      say(`cannot take over ${id}: ${messageOf(error)} Tries again in ${wait / 1_000} s.`);
      failed.set(id, { tries, again: performance.now() + wait });
    } finally {
      taken.delete(id);
    }
  };
  const beginning = new Set<string>();
  while (await pause(LOOK_EVERY_MS, signal)) {
    await orphans.returnTasks().catch(() => {}); // the database cannot be reached; this is retried in a second
    if (!coordinate) continue;
    const waiting = [...failed].flatMap(([id, { again }]) => (again > performance.now() ? [id] : []));
    const except = [...beginning, ...waiting];
    for (const id of await orphans.list(except).catch(() => [])) {
      beginning.add(id);
      const work = takeOver(id).finally(() => {
        beginning.delete(id);
        working.delete(work);
      });
      working.add(work);
    }
  }
  for (const [id, run] of taken) handOver(id, run);
  await Promise.all(working);
}

/** Names the missing agents of the tasks that park after the takeover. */
async function sayMissing({ run, after }: Resumed, say: TakingOver["say"]): Promise<void> {
  for await (const { run: id, path, seq, waitsFor, why, helps } of run.events("node.parked"))
    if (waitsFor === "agent" && seq > after) say(`${id}/${path} is parked: ${why} ${helps}`);
}

/**
 * Resumes a run with the options requested for it, or else with the recorded options. Returns `undefined` when the run
 * has ended or is paused.
 */
async function resumed(connection: EngineConnection, id: string): Promise<Resumed | undefined> {
  const { store, orphans } = connection;
  const asked = await readRequest(store, id).catch(() => undefined);
  const { cwd, endedAt, status, seq } = await foldWhole(store, id);
  if (endedAt !== undefined || status === "paused") {
    await orphans.release(id, status === "paused" ? "paused" : "ended");
    return undefined;
  }
  const crew = await crewFor({ quiet: true, ...(asked?.crew ?? { cwd }) }, { connection });
  const { options = {} } = asked ?? {};
  orphans.takeOver(id);
  return { run: crew.resume(id, { parkByDefault: true, ...options }), after: seq };
}
