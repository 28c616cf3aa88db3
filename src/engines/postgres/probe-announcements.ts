import { randomBytes } from "node:crypto";
import type { Database } from "./database.ts";

/** How long to wait for a notification before it counts as lost. */
const LONGEST_MS = 2_000;

/** The warning for a connection that loses notifications. */
export const POLLING =
  "Notifications of the database (LISTEN/NOTIFY) do not arrive, as behind a connection pooler: changes are noticed once a second.";

/**
 * True when database notifications reach this process. A connection pooler accepts LISTEN without an error but delivers
 * nothing. Everything still works, but slower, because all readers also poll once a second.
 */
export async function announcementsArrive({ bells, query }: Pick<Database, "bells" | "query">): Promise<boolean> {
  const channel = `sc_probe_${randomBytes(8).toString("hex")}`;
  let stop = (): void => {};
  let late: NodeJS.Timeout | undefined;
  try {
    return await new Promise<boolean>((resolve, reject) => {
      late = setTimeout(() => resolve(false), LONGEST_MS);
      stop = bells.listen(channel, (payload) => {
        if (payload !== undefined) resolve(true);
        // The first callback comes before the connection listens, so the test notification is sent at a later callback.
        else query("select pg_notify($1, 'x')", [channel]).catch(reject);
      });
    });
  } finally {
    clearTimeout(late);
    stop();
  }
}
