import type { Database, RunStatement } from "../postgres/database.ts";
import { LIVING, SETTLED } from "../postgres/presence.ts";

/** The number of the advisory lock that lets one process look for the dead at a time. */
const REAPER_LOCK = 7_302_263;
/** How long the row of a dead process that had nothing to hand over stays visible. */
const REMEMBERED = "interval '10 minutes'";

/** What a dead worker had taken out of the queue; see `engines/dbos`. */
export type ReaperQueue = Readonly<{
  heldBy(worker: string): Promise<readonly Readonly<{ call: string; epoch: number; token: string }>[]>;
  putBack(placed: readonly Readonly<{ call: string; epoch: number; token: string; class: string }>[]): Promise<void>;
  drop(at: Readonly<{ call: string; epoch: number }>): Promise<void>;
}>;

/**
 * Looks for dead workers and for runs without an owner, if no other process does. What a dead worker had taken from the queue
 * and not begun goes back; calls that it had begun are placed again by their runs. Resolves with runs to take over.
 */
export async function reap(database: Database, queue: ReaperQueue): Promise<readonly string[]> {
  return database.transaction(async (run) => {
    const [lock] = await run<{ held: boolean }>("select pg_try_advisory_xact_lock($1) as held", [REAPER_LOCK]);
    if (!lock?.held) return [];
    const dead = await run<{ id: string; class: string }>(
      `select id, class from subcrew.processes where class is not null and not (${LIVING}) and ${SETTLED} limit 20`,
    );
    for (const { id } of dead) await handOver(run, queue, id);
    await run(`delete from subcrew.processes where beat < clock_timestamp() - ${REMEMBERED}`);
    const orphans = await run<{ run: string }>(
      `select r.run from subcrew.runs r
       where r.owner is not null and ${SETTLED}
         and not exists (select from subcrew.processes p where p.id = r.owner and p.${LIVING})
       order by r.changed limit 20`,
    );
    return orphans.map((one) => one.run);
  });
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
