import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { version } from "../../core/text/version.ts";
import type { Database } from "./database.ts";

/**
 * The version of the protocol between coordinators and workers. It changes whenever a coordinator and a worker of
 * different versions could misunderstand each other's messages.
 */
export const PROTOCOL = 2;

/**
 * The SQL interval after which a process without a heartbeat counts as dead, by the database's clock. It is a database
 * setting, so that it is the same for all processes (`alter database NAME set subcrew.dead_after = '5s'`).
 */
const DEAD_AFTER = "coalesce(nullif(current_setting('subcrew.dead_after', true), ''), '10s')::interval";
/** SQL for the interval `DEAD_AFTER` in milliseconds. */
export const DEAD_MS = `(extract(epoch from ${DEAD_AFTER}) * 1000)::float8`;
/** The number of heartbeats within the interval `DEAD_AFTER`. */
const BEATS = 5;
const FIRST_BEAT_MS = 2_000;

/** SQL condition: a row of `processes` belongs to a living process. */
export const LIVING = `beat > clock_timestamp() - ${DEAD_AFTER}`;

/**
 * SQL condition: the database has run long enough for every living process to have sent a heartbeat. Without this
 * condition, all processes look dead right after a restart.
 */
export const SETTLED = `clock_timestamp() - pg_postmaster_start_time() > 2 * ${DEAD_AFTER} / ${BEATS}`;

/** The row that a process writes into the table of processes. */
export type Announced = Readonly<{ role: string; class?: string; announcement?: unknown; slots?: number }>;

/** The entry of this process in the table of processes. */
export type Presence = Readonly<{
  id: string;
  /** Adds the entry, if it is missing, and sends heartbeats until every caller of `enter` has left. */
  enter(): Promise<() => Promise<void>>;
  /** True when this process was told to take no more tasks. */
  draining(): boolean;
}>;

/**
 * Maintains the entry of a process. A worker has an entry until `leave`; other processes have an entry while they own
 * runs.
 */
export function createPresence(database: Database, announced: Announced = { role: "coordinate" }): Presence {
  const id = `${hostname()
    .replace(/[^\w-]/g, "-")
    .slice(0, 24)}.${process.pid}.${randomBytes(6).toString("hex")}`;
  let users = 0;
  let timer: NodeJS.Timeout | undefined;
  let entering: Promise<void> | undefined;
  let isDraining = false;
  let isBeating = false;
  let beatMs = FIRST_BEAT_MS;
  const beatEvery = (ms: number): void => {
    beatMs = ms;
    if (timer === undefined) return;
    clearInterval(timer);
    timer = setInterval(beatAgain, ms);
  };
  /** Heartbeats and the deletion run one after the other, so that an early deletion cannot remove a later heartbeat. */
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work, work);
    turn = mine.catch(() => {});
    return mine;
  };
  const beat = async (): Promise<void> => {
    const [row] = await database.query<{ draining: boolean; every: number }>(
      `insert into subcrew.processes as p (id, host, pid, role, class, announcement, slots, version, protocol)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       on conflict (id) do update set beat = clock_timestamp()
       returning draining, ${DEAD_MS} / ${BEATS} as every`,
      [
        id,
        hostname(),
        process.pid,
        announced.role,
        announced.class ?? null,
        announced.announcement === undefined ? null : JSON.stringify(announced.announcement),
        announced.slots ?? 0,
        version,
        PROTOCOL,
      ],
    );
    isDraining = row?.draining ?? false;
    if (row && row.every !== beatMs) beatEvery(row.every);
  };
  /** After an outage a single heartbeat is sent, instead of all that were missed. */
  const beatAgain = (): void => {
    if (isBeating) return;
    isBeating = true;
    inTurn(async () => (users > 0 ? beat() : undefined)).then(
      () => (isBeating = false),
      () => (isBeating = false),
    );
  };
  const leave = async (): Promise<void> => {
    users -= 1;
    if (users > 0) return;
    clearInterval(timer);
    timer = undefined;
    entering = undefined;
    await inTurn(async () => {
      if (users === 0) await database.query("delete from subcrew.processes where id = $1", [id]);
    }).catch(() => {});
  };
  return {
    id,
    draining: () => isDraining,
    enter: async () => {
      users += 1;
      timer ??= setInterval(beatAgain, beatMs);
      const mine = (entering ??= inTurn(beat));
      let left = false;
      const once = async (): Promise<void> => {
        if (left) return;
        left = true;
        await leave();
      };
      try {
        await mine;
      } catch (error) {
        if (entering === mine) entering = undefined; // the next caller tries again
        await once();
        throw error;
      }
      return once;
    },
  };
}
