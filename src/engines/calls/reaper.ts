import { callTable } from "./call-table.ts";
import type { Database, RunStatement } from "../postgres/database.ts";
import { LIVING, SETTLED } from "../postgres/presence.ts";

/** The number of the advisory lock that lets only one process at a time look for dead workers. */
const REAPER_LOCK = 7_302_263;
/** How long the row of a dead process without work stays visible. */
const REMEMBERED = "interval '10 minutes'";

/** Access to the tasks that a dead worker had taken from the queue; see `engines/dbos`. */
export type ReaperQueue = Readonly<{
  heldBy(worker: string): Promise<readonly Readonly<{ call: string; epoch: number; token: string }>[]>;
  putBack(placed: readonly Readonly<{ call: string; epoch: number; token: string; class: string }>[]): Promise<void>;
  drop(at: Readonly<{ call: string; epoch: number }>): Promise<void>;
}>;

/**
 * Looks for dead workers, unless another process does so now. Tasks that a dead worker had taken but not begun go back
 * to the queue; tasks that it had begun are placed again by their runs.
 */
export async function reap(database: Database, queue: ReaperQueue): Promise<void> {
  await database.transaction(async (run) => {
    const [lock] = await run<{ held: boolean }>("select pg_try_advisory_xact_lock($1) as held", [REAPER_LOCK]);
    if (!lock?.held) return;
    const dead = await run<{ id: string }>(
      `select id from subcrew.processes where class is not null and not (${LIVING}) and ${SETTLED} limit 20`,
    );
    for (const { id } of dead) await handOver(run, queue, id);
    await run(`delete from subcrew.processes where beat < clock_timestamp() - ${REMEMBERED}`);
  });
}

/**
 * The runs whose process died, starting with the process that has been silent for longest. If several processes can
 * continue runs, only the share of this process is returned.
 */
export async function orphanedRuns(database: Database, except: readonly string[]): Promise<readonly string[]> {
  const rows = await database.query<{ run: string; takers: number }>(
    `select r.run, (select count(*)::integer from subcrew.processes p
       where p.class is not null and p.role like '%coordinate%' and not p.draining and p.${LIVING}) as takers
     from subcrew.runs r
     where r.owner is not null and ${SETTLED} and not (r.run = any($1))
       and not exists (select from subcrew.processes p where p.id = r.owner and p.${LIVING})
     order by r.changed limit ${MOST_AT_ONCE}`,
    [except],
  );
  const share = Math.ceil(rows.length / Math.max(1, rows[0]?.takers ?? 1));
  return shuffled(rows.map(({ run }) => run)).slice(0, share);
}

const MOST_AT_ONCE = 20;

/** Shuffles runs, so that processes that look at the same time try different runs. */
const shuffled = (runs: readonly string[]): readonly string[] =>
  runs
    .map((run) => ({ run, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ run }) => run);

/**
 * Releases a run that has ended or is paused, if its process died before it released the run. The tasks of a paused run
 * keep their rows for the process that resumes it.
 */
export async function releaseStopped(database: Database, run: string, how: "ended" | "paused"): Promise<void> {
  if (how === "ended") await callTable(database).forgetRun(run);
  await database.query(
    `update subcrew.runs r set owner = null, sole = false where run = $1
     and not exists (select from subcrew.processes p where p.id = r.owner and p.${LIVING})`,
    [run],
  );
}

async function handOver(run: RunStatement, queue: ReaperQueue, worker: string): Promise<void> {
  const held = await queue.heldBy(worker);
  const open = await run<{ call: string; epoch: string; class: string }>(
    "select call, epoch, class from subcrew.calls where call = any($1) and state = 'placed'",
    [held.map(({ call }) => call)],
  );
  const placed = held.flatMap((one) => {
    const row = open.find(({ call, epoch }) => call === one.call && Number(epoch) === one.epoch);
    return row ? [{ ...one, class: row.class }] : [];
  });
  await queue.putBack(placed);
  for (const one of held)
    if (!placed.some(({ call, epoch }) => call === one.call && epoch === one.epoch)) await queue.drop(one);
  await run("delete from subcrew.processes where id = $1", [worker]);
}
