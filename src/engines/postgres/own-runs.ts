import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { KeptEvent } from "../../core/run/event.ts";
import type { JournalListener, JournalOpening, RunOwner, RunOwnership } from "../../core/run/run-store.ts";
import { CrewError } from "../../core/schema/error.ts";
import { channelName } from "./channel-name.ts";
import type { Database } from "./database.ts";
import { createEventWriter, type EventWriter, replaced } from "./event-writer.ts";
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
     * Marks a run of this process: when its journal is closed, the run is treated like a run whose process died, so
     * that a worker takes it over at once. A run that has ended or is paused is released as usual.
     */
    handOver(run: string): void;
    /**
     * Marks a run for a takeover: this process can open it only while it has a dead owner. A run that a person killed
     * or paused meanwhile has no owner.
     */
    takeOver(run: string): void;
  }>;

export function ownRuns(
  database: Database,
  presence: Presence,
  eventsOf: (run: string) => Promise<readonly KeptEvent[]>,
): PostgresOwnership {
  const writers = new Map<string, EventWriter>();
  const handedOver = new Set<string>();
  const takenOver = new Set<string>();
  const watch = watchOwnership(database, presence, writers);
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
    takeOver: (run) => void takenOver.add(run),
    open: async (run, listener, { known, sole = false } = {}) => {
      const leave = await presence.enter();
      try {
        const claimed = await claim(database, {
          ...{ run, sole, id: presence.id, token: randomUUID() },
          onlyOrphaned: takenOver.delete(run),
        });
        if (claimed === undefined) throw busy(run, await owner(run));
        const { epoch, isOrphaned } = claimed;
        const have = known?.events ?? [];
        const more = await eventsOf(run);
        const events = more.length === have.length ? have : more;
        if (events.length > 0 && !isUnderWay(events)) await database.query(FORGET_OBEYED, [run]);
        const release = async (): Promise<void> => {
          if (writers.get(run)?.epoch === epoch) writers.delete(run);
          const all = await writer.read();
          // A process that only added a record to a run that waits for a worker does not end this wait.
          const isTouched = isOrphaned && !all.slice(events.length).some(({ type }) => type === "run.resumed");
          const next = (handedOver.delete(run) || isTouched) && isUnderWay(all) ? HANDED_OVER : null;
          await database.query(RELEASE, [run, epoch, channelName("run", run), next]).catch(() => {});
          await leave();
        };
        const writer = createEventWriter(database, { run, epoch, known: events, listener, release });
        writers.set(run, writer);
        watch();
        return writer;
      } catch (error) {
        await leave();
        throw error;
      }
    },
    disown: async (run) => {
      const [row] = await database.query<{ taken: boolean }>(DISOWN, [run, channelName("run", run)]);
      return row?.taken ?? false;
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

/**
 * Reports to the writers of this process when their run belongs to another process, or was killed. A process that only
 * waits for its tasks writes nothing, and would otherwise never find out. The returned function starts these checks.
 */
function watchOwnership(database: Database, presence: Presence, writers: ReadonlyMap<string, EventWriter>): () => void {
  let stop: (() => void) | undefined;
  const look = async (): Promise<void> => {
    if (writers.size === 0) {
      stop?.();
      stop = undefined;
      return;
    }
    const rows = await database.query<{ run: string; epoch: string; owner: string | null }>(
      "select run, epoch, owner from subcrew.runs where run = any($1)",
      [[...writers.keys()]],
    );
    for (const { run, epoch, owner } of rows) {
      const writer = writers.get(run);
      if (writer && writer.epoch < Number(epoch)) writer.lose(owner === null ? takenAway(run) : replaced(run));
    }
  };
  return () => {
    stop ??= database.bells.listen(channelName("process", presence.id), (payload) => {
      if (payload === undefined || payload.startsWith("x")) look().catch(() => {}); // the check is repeated in a second
    });
  };
}

type Claim = Readonly<{ run: string; sole: boolean; id: string; token: string; onlyOrphaned: boolean }>;

/**
 * Claims a run and returns the number of its ownership, and whether its previous owner was dead; `undefined` when a
 * living process owns the run. `token` makes the statement safe to repeat.
 */
async function claim(
  database: Database,
  { run, sole, id, token, onlyOrphaned }: Claim,
): Promise<Readonly<{ epoch: number; isOrphaned: boolean }> | undefined> {
  const [row] = await database.query<{ epoch: string; orphaned: boolean }>(
    `with before as (select owner from subcrew.runs where run = $1 for update)
     insert into subcrew.runs as r (run, owner, sole, claim, epoch)
     select $1::text, $2::text, $3::boolean, $4::uuid, 1
     where (select count(*) from before) >= case when $5::boolean then 1 else 0 end -- reads the owner before it changes
     on conflict (run) do update
     set owner = excluded.owner, sole = excluded.sole, claim = excluded.claim, epoch = r.epoch + 1
     where (r.owner is null and not $5) or r.claim = excluded.claim
        or (r.owner is not null and not exists (select from subcrew.processes p where p.id = r.owner and p.${LIVING}))
     returning epoch, coalesce((select owner <> $2 from before), false) as orphaned`,
    [run, id, sole, token, onlyOrphaned],
  );
  return row && { epoch: Number(row.epoch), isOrphaned: row.orphaned };
}

/**
 * The owner of a run that waits for a worker. No process has this id, so the run is treated like a run whose process
 * died.
 */
const HANDED_OVER = "handed over";

/** False for the events of a run that has ended or is paused. */
const isUnderWay = (events: readonly KeptEvent[]): boolean => {
  const last = events.findLast(({ type }) => type.startsWith("run."))?.type;
  return last !== "run.ended" && last !== "run.paused";
};

const RELEASE = `
  with freed as (
    update subcrew.runs set owner = $4, sole = false where run = $1 and epoch = $2 returning run
  )
  select pg_notify($3, '') from freed`;

/**
 * SQL that takes a run away from its owner. The higher epoch makes every later write of the owner fail, also of a
 * process that is just taking the run over. The owner and the workers are notified; without the notification, they
 * notice it within a second.
 */
const DISOWN = `
  with before as (select owner from subcrew.runs where run = $1 and owner is not null for update), freed as (
    update subcrew.runs set owner = null, sole = false, epoch = epoch + 1
    where run = $1 and exists (select from before) returning run
  ), stopped as (
    update subcrew.calls c set state = 'stopped', changed = clock_timestamp() from freed
    where c.run = freed.run and c.state <> 'done' returning c.worker
  ), told as (
    select pg_notify('sc_p_' || id, 'x') from (select owner as id from before union select worker from stopped) as one
    where id is not null
  )
  select exists (select from freed) as taken, (select count(*) from told) as told, pg_notify($2, '') from (select) as once`;

/**
 * SQL that deletes the commands that a run has carried out, so that a cancelled run that is started again is not
 * cancelled by the same command.
 */
const FORGET_OBEYED = "delete from subcrew.commands where run = $1 and receipt is not null";

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

const takenAway = (run: string): CrewError =>
  new CrewError("RUN_BUSY", `"${run}" was killed.`, `Resume it: \`subcrew resume ${run}\`.`);

function busy(run: string, owner: RunOwner | undefined): CrewError {
  const who = owner?.host === undefined ? `process ${owner?.pid ?? ""}` : `process ${owner.pid} on "${owner.host}"`;
  return new CrewError(
    "RUN_BUSY",
    `Another process is working on the run "${run}": ${who.trim()}.`,
    "Wait for the run to end, or stop it, then try again.",
  );
}
