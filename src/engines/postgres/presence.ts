import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { version } from "../../core/text/version.ts";
import type { Database } from "./database.ts";

/** The number of the protocol between coordinators and workers. It changes when one of them could misread the other. */
export const PROTOCOL = 1;

/** After this many seconds without a heartbeat, by the database's clock, a process is dead. */
export const DEAD_AFTER_SECONDS = 10;
const BEAT_EVERY_MS = 2_000;

/** The SQL condition that a row of `processes` belongs to a living process. */
export const LIVING = `beat > clock_timestamp() - interval '${DEAD_AFTER_SECONDS} seconds'`;

/**
 * The SQL condition that the database has run long enough for every living process to have shown a sign of life: right after
 * a restart all of them look dead.
 */
export const SETTLED = "clock_timestamp() - pg_postmaster_start_time() > interval '4 seconds'";

/** What a process announces about itself. */
export type Announced = Readonly<{ role: string; class?: string; announcement?: unknown; slots?: number }>;

/** This process in the table of processes. */
export type Presence = Readonly<{
  id: string;
  /** Appears in the table, if that has not happened yet, and shows signs of life until the last user leaves. */
  enter(): Promise<() => Promise<void>>;
  /** True when this process was marked to take no more work. */
  draining(): boolean;
}>;

/** Keeps a process in the table of processes. A worker is in the table until `leave`; other processes while they own runs. */
export function createPresence(database: Database, announced: Announced = { role: "coordinate" }): Presence {
  const id = `${hostname()
    .replace(/[^\w-]/g, "-")
    .slice(0, 24)}.${process.pid}.${randomBytes(6).toString("hex")}`;
  let users = 0;
  let timer: NodeJS.Timeout | undefined;
  let entering: Promise<void> | undefined;
  let isDraining = false;
  const beat = async (): Promise<void> => {
    const [row] = await database.query<{ draining: boolean }>(
      `insert into subcrew.processes as p (id, host, pid, role, class, announcement, slots, version, protocol)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       on conflict (id) do update set beat = clock_timestamp()
       returning draining`,
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
  };
  const leave = async (): Promise<void> => {
    users -= 1;
    if (users > 0) return;
    clearInterval(timer);
    timer = undefined;
    entering = undefined;
    await database.query("delete from subcrew.processes where id = $1", [id]).catch(() => {});
  };
  return {
    id,
    draining: () => isDraining,
    enter: async () => {
      users += 1;
      timer ??= setInterval(() => void beat().catch(() => {}), BEAT_EVERY_MS);
      await (entering ??= beat());
      let left = false;
      return async () => {
        if (left) return;
        left = true;
        await leave();
      };
    },
  };
}
