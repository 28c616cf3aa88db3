import type { Job } from "../../core/task/job.ts";
import type { Database } from "../postgres/database.ts";
import { LIVING, SETTLED } from "../postgres/presence.ts";

/**
 * The states of a task for workers: `asked` by its run, `placed` in the queue of a class of workers (workers with the
 * same capabilities), `taken` by a worker, `parked` because no worker can execute it, `returned` by a draining worker,
 * `stopping` at the request of the run, `stopped` without a valid result, `done`.
 */
export type CallState = "asked" | "placed" | "taken" | "parked" | "returned" | "stopping" | "stopped" | "done";

/**
 * A task (`call`: its key) and its epoch: a number that grows each time the task is given to a worker, so that messages
 * of earlier workers can be refused.
 */
export type CallEpoch = Readonly<{ call: string; epoch: number }>;

/** The process that coordinates the run of a task, and the number of its claim (its ownership of the run). */
export type Coordinator = Readonly<{ owner: string; run: string; runEpoch: number }>;

/** The statements on the table of tasks for workers. Each is safe to repeat. */
export type CallTable = Readonly<{
  /**
   * Begins a new epoch of a task; messages of earlier epochs are refused. A new task is placed at once with the class
   * of workers (workers with the same capabilities) in `to`, and offered to the worker of the task `after`, which has
   * just ended. Returns `undefined` when the task is done or the run has a newer owner.
   */
  ask(
    call: string,
    by: Coordinator,
    to: Readonly<{ needs: unknown; class?: string | undefined; job: Job; after?: string | undefined }>,
  ): Promise<Readonly<{ epoch: number; isPlaced: boolean; isOffered: boolean }> | undefined>;
  state(call: string): Promise<Readonly<{ state: CallState; epoch: number; owner: string }> | undefined>;
  place(at: CallEpoch, to: Readonly<{ class: string; job: Job }>): Promise<boolean>;
  park(at: CallEpoch, why: string): Promise<void>;
  /**
   * Takes a task for a worker; `undefined` when another worker has it, or when it was placed again, possibly with
   * another class of workers.
   */
  take(
    at: CallEpoch,
    by: Readonly<{ worker: string; class: string }>,
  ): Promise<Readonly<{ job: Job; owner: string }> | undefined>;
  /** The tasks that are placed with a class and that no worker has taken, oldest first. */
  placed(name: string, limit: number): Promise<readonly CallEpoch[]>;
  /** Says whether a task waits for its subagents, so that it needs no slot. */
  waits(at: CallEpoch, isWaiting: boolean): Promise<void>;
  /** Returns a task to its run: both a task that was only placed and a task that a worker has taken. */
  giveBack(at: CallEpoch): Promise<void>;
  /** Marks a task as stopped by its run; resolves with its previous state. */
  stop(at: CallEpoch): Promise<CallState | undefined>;
  /** Abandons a task. A worker that still executes it gets its messages refused, and stops. */
  abandon(at: CallEpoch): Promise<void>;
  /**
   * Adds a worker that died, or that gave the task back without progress, to the count of lost workers, or resets the
   * count; resolves with the count.
   */
  barren(call: string, isBarren: boolean): Promise<number>;
  /** The tasks of a coordinator whose workers died or gave them back, and placed tasks that no worker listens for. */
  lost(owner: string): Promise<readonly LostCall[]>;
  /** Deletes the messages of a stopped task, so that a later worker does not find them. */
  forget(at: CallEpoch): Promise<void>;
  /** Deletes the rows of a run's tasks after the run has ended. */
  forgetRun(run: string): Promise<void>;
}>;

/**
 * How a task lost its worker. `died`: its worker shows no sign of life; `returned`: its worker gave it back;
 * `unserved`: no living worker listens to the queue of the task.
 */
export type LostCall = CallEpoch & Readonly<{ how: "died" | "returned" | "unserved" }>;

export function callTable(database: Database): CallTable {
  return {
    ask: async (call, { owner, run, runEpoch }, { needs, class: name, job, after }) => {
      const [row] = await database.query<{ epoch: string; state: CallState; offered: boolean }>(ASK, [
        call,
        run,
        owner,
        runEpoch,
        JSON.stringify(needs),
        name ?? null,
        name === undefined ? null : JSON.stringify(job),
        after ?? null,
      ]);
      return row && { epoch: Number(row.epoch), isPlaced: row.state === "placed", isOffered: row.offered };
    },
    state: async (call) => {
      const [row] = await database.query<{ state: CallState; epoch: string; owner: string }>(
        "select state, epoch, owner from subcrew.calls where call = $1",
        [call],
      );
      return row && { ...row, epoch: Number(row.epoch) };
    },
    place: async ({ call, epoch }, { class: name, job }) => {
      const rows = await database.query(
        `update subcrew.calls set state = 'placed', class = $3, job = $4, why = null, changed = clock_timestamp()
         where call = $1 and epoch = $2 and state in ('asked', 'parked', 'placed') returning 1`,
        [call, epoch, name, JSON.stringify(job)],
      );
      return rows.length > 0;
    },
    park: async ({ call, epoch }, why) => {
      await database.query(
        `update subcrew.calls set state = 'parked', class = null, why = $3, changed = clock_timestamp()
         where call = $1 and epoch = $2 and state in ('asked', 'parked')`,
        [call, epoch, why],
      );
    },
    take: async ({ call, epoch }, { worker, class: name }) => {
      const [row] = await database.query<{ job: Job; owner: string }>(
        `update subcrew.calls set state = 'taken', worker = $3, changed = clock_timestamp()
         where call = $1 and epoch = $2 and class = $4 and (state = 'placed' or (state = 'taken' and worker = $3))
         returning job, owner`,
        [call, epoch, worker, name],
      );
      return row;
    },
    placed: async (name, limit) => {
      const rows = await database.query<{ call: string; epoch: string }>(
        "select call, epoch from subcrew.calls where class = $1 and state = 'placed' order by changed limit $2",
        [name, limit],
      );
      return rows.map(({ call, epoch }) => ({ call, epoch: Number(epoch) }));
    },
    waits: async ({ call, epoch }, isWaiting) => {
      await database.query("update subcrew.calls set waits = $3 where call = $1 and epoch = $2", [
        call,
        epoch,
        isWaiting,
      ]);
    },
    giveBack: async ({ call, epoch }) => {
      await database.query(
        `with back as (
           update subcrew.calls set state = 'returned', changed = clock_timestamp()
           where call = $1 and epoch = $2 and state in ('placed', 'taken') returning owner
         )
         select pg_notify('sc_p_' || owner, 'r') from back`,
        [call, epoch],
      );
    },
    stop: async ({ call, epoch }) => {
      const [row] = await database.query<{ before: CallState }>(
        `update subcrew.calls c
         set state = case when old.state in ('taken', 'stopping') then 'stopping' when old.state = 'done' then 'done' else 'stopped' end
         from (select call, state from subcrew.calls where call = $1 for update) old
         where c.call = old.call and c.epoch = $2 returning old.state as before`,
        [call, epoch],
      );
      return row?.before;
    },
    abandon: async ({ call, epoch }) => {
      await database.query(
        "update subcrew.calls set state = 'stopped', changed = clock_timestamp() where call = $1 and epoch = $2 and state <> 'done'",
        [call, epoch],
      );
    },
    barren: async (call, isBarren) => {
      const [row] = await database.query<{ barren: number }>(
        "update subcrew.calls set barren = case when $2 then barren + 1 else 0 end where call = $1 returning barren",
        [call, isBarren],
      );
      return row?.barren ?? 0;
    },
    lost: async (owner) => {
      const rows = await database.query<{ call: string; epoch: string; how: LostCall["how"] }>(LOST, [owner]);
      return rows.map((row) => ({ ...row, epoch: Number(row.epoch) }));
    },
    forget: async ({ call, epoch }) => {
      // Messages of a later epoch are kept, because a process that lost the run also stops its tasks.
      await database.query(
        `with c as (select call from subcrew.calls where call = $1 and epoch = $2 and state <> 'done'),
         f as (delete from subcrew.facts using c where facts.call = c.call)
         delete from subcrew.mail using c where mail.call = c.call`,
        [call, epoch],
      );
    },
    forgetRun: async (run) => {
      await database.query(
        `with c as (delete from subcrew.calls where run = $1 returning call),
         t as (delete from subcrew.timers where starts_with(key, $1 || '/')),
         f as (delete from subcrew.facts using c where facts.call = c.call)
         delete from subcrew.mail using c where mail.call = c.call`,
        [run],
      );
    },
  };
}

/**
 * The SQL that begins a new epoch of a task. It has no effect when another coordinator has a newer claim on the run.
 */
const ASK = `
  with asked as (insert into subcrew.calls as c (call, run, owner, run_epoch, state, needs, class, job)
  select $1, $2, $3, $4::bigint, case when $6::text is null then 'asked' else 'placed' end, $5::json, $6::text, $7::json
  where not exists (select from subcrew.runs where run = $2 and epoch > $4::bigint)
  on conflict (call) do update
  set owner = excluded.owner, run_epoch = excluded.run_epoch, epoch = c.epoch + 1, state = 'asked', worker = null,
      class = null, job = null, why = null, waits = false, needs = excluded.needs, changed = clock_timestamp()
  where c.state <> 'done' and c.run_epoch <= excluded.run_epoch
  returning epoch, state
  ), offered as (
    select pg_notify('sc_p_' || before.worker, 'o' || asked.epoch || ' ' || $1) from asked, subcrew.calls before
    where asked.state = 'placed' and before.call = $8 and before.class = $6 and before.state = 'done'
  )
  select epoch, state, exists (select from offered) as offered from asked`;

const LOST = `
  select c.call, c.epoch,
    case when c.state = 'returned' then 'returned' when c.state = 'placed' then 'unserved' else 'died' end as how
  from subcrew.calls c
  where c.owner = $1 and c.state in ('placed', 'taken', 'stopping', 'returned') and (
    c.state = 'returned'
    or (c.state = 'placed' and ${SETTLED}
        and not exists (select from subcrew.processes p where p.class = c.class and not p.draining and p.${LIVING}))
    or (c.state in ('taken', 'stopping') and ${SETTLED}
        and not exists (select from subcrew.processes p where p.id = c.worker and p.${LIVING})))`;
