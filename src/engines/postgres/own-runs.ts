import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { KeptEvent } from "../../core/run/event.ts";
import type { JournalListener, JournalOpening, RunOwner, RunOwnership } from "../../core/run/run-store.ts";
import { CrewError } from "../../core/schema/error.ts";
import { channelName } from "./channel-name.ts";
import type { Database } from "./database.ts";
import { createEventWriter, type EventWriter } from "./event-writer.ts";
import { LIVING, type Presence } from "./presence.ts";

/**
 * Ownership of runs: each owner has a row with a number that grows with every new owner. The row is valid while the
 * process of the owner is alive.
 */
export type PostgresOwnership = Omit<RunOwnership, "open"> &
  Readonly<{
    open(run: string, listener: JournalListener, options?: JournalOpening): Promise<EventWriter>;
    /** The event writer of a run that this process owns. */
    writer(run: string): EventWriter | undefined;
    /**
     * Marks a run of this process: when its journal is closed, the run counts as one whose process died, so that a
     * worker takes it over at once. A run that has ended or is paused is released as usual.
     */
    handOver(run: string): void;
  }>;

export function ownRuns(
  database: Database,
  presence: Presence,
  eventsOf: (run: string) => Promise<readonly KeptEvent[]>,
): PostgresOwnership {
  const writers = new Map<string, EventWriter>();
  const handedOver = new Set<string>();
  const owner = async (run: string): Promise<RunOwner | undefined> => {
    const [row] = await database.query<{ pid: number; host: string; sole: boolean }>(
      `select p.pid, p.host, r.sole from subcrew.runs r join subcrew.processes p on p.id = r.owner
       where r.run = $1 and p.${LIVING}`,
      [run],
    );
    if (!row) return undefined;
    const { pid, host, sole } = row;
    return host === hostname() ? { pid, ...(sole && { sole: true }) } : { pid, host };
  };
  return {
    owner,
    writer: (run) => writers.get(run),
    handOver: (run) => void handedOver.add(run),
    open: async (run, listener, { known, sole = false } = {}) => {
      const leave = await presence.enter();
      try {
        const epoch = await claim(database, { run, sole, id: presence.id, token: randomUUID() });
        if (epoch === undefined) throw busy(run, await owner(run));
        const have = known?.events ?? [];
        const more = await eventsOf(run);
        const release = async (): Promise<void> => {
          if (writers.get(run)?.epoch === epoch) writers.delete(run);
          const next = handedOver.delete(run) && isUnderWay(await writer.read()) ? HANDED_OVER : null;
          await database.query(RELEASE, [run, epoch, channelName("run", run), next]).catch(() => {});
          await leave();
        };
        const events = more.length === have.length ? have : more;
        const writer = createEventWriter(database, { run, epoch, known: events, listener, release });
        writers.set(run, writer);
        return writer;
      } catch (error) {
        await leave();
        throw error;
      }
    },
    disown: async (run, pid) => {
      await database.query(DISOWN, [run, pid, hostname(), channelName("run", run)]);
    },
    announce: async (run) => {
      const leave = await presence.enter();
      await database.query(
        `insert into subcrew.runs (run, starting) values ($1, $2)
         on conflict (run) do update set starting = excluded.starting`,
        [run, presence.id],
      );
      return async () => {
        await database.query(WITHDRAW, [run, presence.id]);
        await leave();
      };
    },
    isAnnounced: async (run) => {
      const rows = await database.query(
        `select 1 from subcrew.runs r join subcrew.processes p on p.id = r.starting where r.run = $1 and p.${LIVING}`,
        [run],
      );
      return rows.length > 0;
    },
  };
}

type Claim = Readonly<{ run: string; sole: boolean; id: string; token: string }>;

/**
 * Claims a run and returns the number of its ownership; `undefined` when a living process owns the run. `token` makes
 * the statement safe to repeat.
 */
async function claim(database: Database, { run, sole, id, token }: Claim): Promise<number | undefined> {
  const [row] = await database.query<{ epoch: string }>(
    `insert into subcrew.runs as r (run, owner, sole, claim, epoch) values ($1, $2, $3, $4, 1)
     on conflict (run) do update
     set owner = excluded.owner, sole = excluded.sole, claim = excluded.claim, epoch = r.epoch + 1
     where r.owner is null or r.claim = excluded.claim
        or not exists (select from subcrew.processes p where p.id = r.owner and p.${LIVING})
     returning epoch`,
    [run, id, sole, token],
  );
  return row === undefined ? undefined : Number(row.epoch);
}

/** The owner of a run that waits for a worker: no process has this id, so the run counts as one whose process died. */
const HANDED_OVER = "handed over";

/** False for the events of a run that has ended or is paused. */
const isUnderWay = (events: readonly KeptEvent[]): boolean => {
  const last = events.findLast(({ type }) => type.startsWith("run."))?.type;
  return last !== "run.ended" && last !== "run.paused";
};

/** A run that was taken away from this process, because a person killed it, keeps no owner. */
const RELEASE = `
  with freed as (
    update subcrew.runs set owner = case when owner is null then null else $4 end, sole = false
    where run = $1 and epoch = $2 returning run
  )
  select pg_notify($3, '') from freed`;

/** Workers stop the tasks of the run when they see that the calls are stopped. */
const DISOWN = `
  with freed as (
    update subcrew.runs r set owner = null, sole = false from subcrew.processes p
    where r.run = $1 and p.id = r.owner and p.pid = $2 and p.host = $3 returning r.run
  ), stopped as (
    update subcrew.calls c set state = 'stopped', changed = clock_timestamp() from freed
    where c.run = freed.run and c.state <> 'done'
  )
  select pg_notify($4, '') from freed`;

/** Deletes the row of a run that never started. */
const WITHDRAW = `
  with begun as (
    select exists (select from subcrew.events where run = $1)
        or exists (select from subcrew.documents where run = $1)
        or exists (select from subcrew.runs where run = $1 and (owner is not null or epoch > 0)) as yes
  ), kept as (
    update subcrew.runs set starting = null where run = $1 and starting = $2 and (select yes from begun)
  )
  delete from subcrew.runs where run = $1 and starting = $2 and not (select yes from begun)`;

function busy(run: string, owner: RunOwner | undefined): CrewError {
  const who = owner?.host === undefined ? `process ${owner?.pid ?? ""}` : `process ${owner.pid} on "${owner.host}"`;
  return new CrewError(
    "RUN_BUSY",
    `Another process is working on the run "${run}": ${who.trim()}.`,
    "Wait for the run to end, or stop it, then try again.",
  );
}
