import { randomBytes } from "node:crypto";
import type { Database } from "./database.ts";

/** How long to wait for a notification before it counts as lost. */
const LONGEST_MS = 2_000;

/** The warning where database notifications get lost. */
export const POLLING =
  "Announcements of the database do not arrive, as behind a pooler: changes are noticed once a second.";

/**
 * Whether announcements of the database reach this process. A pooler that shares connections takes them without an error and
 * delivers none; everything works then, because all readers also look once a second, and it takes longer.
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
        // The first look comes before the connection listens, later ones after it does.
        else query("select pg_notify($1, 'x')", [channel]).catch(reject);
      });
    });
  } finally {
    clearTimeout(late);
    stop();
  }
}
