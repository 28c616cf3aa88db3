import { randomUUID } from "node:crypto";
import { type Hold, parseHold } from "../../core/model/hold.ts";
import { defined } from "../../core/text/defined.ts";
import { pause } from "../../runtime/async/cancel.ts";
import type { ProviderHolds } from "../../runtime/ledgers/provider-holds.ts";
import type { Database } from "./database.ts";
import { LIVING, type Presence } from "./presence.ts";

/** The notification channel on which new and lifted holds (bans on API keys that a provider refused) are announced. */
const CHANNEL = "sc_holds";
const LOOK_EVERY_MS = 250;
/** After this time without a result, a task's test of a refused key no longer keeps other tasks from testing it. */
const PROBE_SECONDS = 120;

type HoldRow = { key: string; hold: Hold; now: number };

/**
 * The API keys that providers refuse now, shared by all processes of an engine. Times in the table use the database's
 * clock. A lookup needs no query: notifications keep the list current, and it is read once a second.
 */
export function engineHolds(database: Database, presence: Presence): ProviderHolds {
  let known: Promise<ReadonlyMap<string, Hold>> | undefined;
  let isListening = false;
  const read = async (): Promise<ReadonlyMap<string, Hold>> => {
    const rows = await database.query<HoldRow>(`select key, hold, ${NOW} as now from subcrew.holds`);
    return new Map(rows.map(({ key, hold, now }) => [key, shifted(hold, Date.now() - now)]));
  };
  const current = (): Promise<ReadonlyMap<string, Hold>> => {
    if (!isListening) {
      isListening = true;
      database.bells.listen(CHANNEL, () => (known = undefined));
    }
    const reading = (known ??= read());
    reading.catch(() => (known = undefined));
    return reading;
  };
  const look: ProviderHolds["look"] = async (key) => {
    const hold = (await current()).get(key);
    return hold && parseHold(JSON.stringify(hold), Date.now());
  };
  return {
    look,
    lookLater: async (key) => {
      await pause(LOOK_EVERY_MS, new AbortController().signal);
      return look(key);
    },
    put: async (key, change) => {
      await database.transaction(async (run) => {
        await run("select pg_advisory_xact_lock(hashtext($1))", [`hold ${key}`]);
        const [row] = await run<{ hold: Hold | null; now: number }>(
          `select (select hold from subcrew.holds where key = $1) as hold, ${NOW} as now`,
          [key],
        );
        const ahead = Date.now() - (row?.now ?? Date.now());
        const before = row?.hold ? shifted(row.hold, ahead) : undefined;
        const after = shifted(change(before && parseHold(JSON.stringify(before), Date.now())), -ahead);
        await run(
          `with put as (
             insert into subcrew.holds (key, hold) values ($1, $2) on conflict (key) do update set hold = excluded.hold
           ) select pg_notify($3, '')`,
          [key, JSON.stringify(after), CHANNEL],
        );
      });
      known = undefined;
    },
    lift: async (key) => {
      await database.query("with gone as (delete from subcrew.holds where key = $1) select pg_notify($2, '')", [
        key,
        CHANNEL,
      ]);
      known = undefined;
    },
    claimProbe: async (key) => {
      const token = randomUUID();
      const leave = await presence.enter();
      const rows = await database
        .query(CLAIM, [key, presence.id, token])
        .catch(async (error: unknown) => leave().then(() => Promise.reject(error)));
      if (rows.length === 0) {
        await leave();
        return undefined;
      }
      return {
        release: async () => {
          await database
            .query("delete from subcrew.probes where key = $1 and token = $2", [key, token])
            .catch(() => {});
          await leave();
        },
      };
    },
  };
}

const NOW = "(extract(epoch from clock_timestamp()) * 1000)::float8";

const CLAIM = `
  insert into subcrew.probes as p (key, process, token) values ($1, $2, $3::uuid)
  on conflict (key) do update set process = excluded.process, token = excluded.token, at = clock_timestamp()
  where p.token = excluded.token or p.at < clock_timestamp() - interval '${PROBE_SECONDS} seconds'
     or not exists (select from subcrew.processes o where o.id = p.process and o.${LIVING})
  returning 1`;

/**
 * Shifts the times of a hold (a ban on a refused API key) by the difference between the clocks of the database and this
 * machine.
 */
const shifted = (hold: Hold, ms: number): Hold => ({
  ...hold,
  seen: hold.seen + ms,
  probeAt: hold.probeAt + ms,
  ...defined({
    began: hold.began === undefined ? undefined : hold.began + ms,
    until: hold.until === undefined ? undefined : hold.until + ms,
  }),
});
