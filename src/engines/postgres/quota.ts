import { randomUUID } from "node:crypto";
import { type QuotaEntry, type QuotaLimits, quotaNames, type RequestQuota } from "../../core/model/request-quota.ts";
import { pause } from "../../runtime/async/cancel.ts";
import { onAbort } from "../../runtime/async/on-abort.ts";
import type { Database, RunStatement } from "./database.ts";
import { LIVING, type Presence } from "./presence.ts";

/** The notification channel for changed limits and ended requests. */
const CHANNEL = "sc_quota";
/** The polling interval of a waiting request when no notification arrives. */
const LONGEST_LOOK_MS = 1_000;
/** How often a waiting request reports that it waits. */
const SAY_EVERY_MS = 30_000;

/** The table of limits on model requests, by name. */
export type LimitTable = Readonly<{
  read(): Promise<ReadonlyMap<string, QuotaLimits>>;
  /** Sets the limits of a name; `undefined` removes them. */
  set(name: string, limits: QuotaLimits | undefined): Promise<void>;
}>;

export function limitTable(database: Database): LimitTable {
  return {
    read: async () => {
      const rows = await database.query<{ name: string } & Record<keyof QuotaLimits, number | null>>(
        "select name, concurrency, requests, tokens from subcrew.quota order by name",
      );
      return new Map(
        rows.map(({ name, ...limits }) => [
          name,
          Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== null)) as QuotaLimits,
        ]),
      );
    },
    set: async (name, limits) => {
      if (limits)
        await database.query(
          `with made as (
             insert into subcrew.quota (name, concurrency, requests, tokens) values ($1, $2, $3, $4)
             on conflict (name) do update
             set concurrency = excluded.concurrency, requests = excluded.requests, tokens = excluded.tokens
           )
           select pg_notify($5, 'limits')`,
          [name, limits.concurrency ?? null, limits.requests ?? null, limits.tokens ?? null, CHANNEL],
        );
      else
        await database.query(
          "with gone as (delete from subcrew.quota where name = $1) select pg_notify($2, 'limits')",
          [name, CHANNEL],
        );
    },
  };
}

/**
 * Limits on model requests that all processes of an engine share. A request is counted in a table until 60 seconds
 * after it began, so that no period of 60 seconds exceeds a limit. Requests to which no limit applies need no query.
 */
export function engineQuota(database: Database, presence: Presence): RequestQuota {
  const table = limitTable(database);
  let limits: Promise<ReadonlyMap<string, QuotaLimits>> | undefined;
  let bell = new AbortController();
  let isListening = false;
  const listen = (): void => {
    if (isListening) return;
    isListening = true;
    database.bells.listen(CHANNEL, (payload) => {
      if (payload !== "ended") limits = undefined;
      bell.abort();
      bell = new AbortController();
    });
  };
  /** Queues of requests of this process for the same names; only the first in each queue asks the database. */
  const lines = new Map<string, Promise<unknown>>();

  const enter = async (
    names: readonly string[],
    tokens: number,
    { signal, waits }: Parameters<RequestQuota["enter"]>[1],
  ): Promise<QuotaEntry | undefined> => {
    const id = randomUUID();
    const leave = await presence.enter();
    let said = 0;
    try {
      while (!signal.aborted) {
        const woken = bell.signal;
        const wait = await database.transaction((run) => admit(run, { id, process: presence.id, names, tokens }));
        if (wait === undefined)
          return {
            leave: async (used) => {
              await database.query(LEAVE, [id, used ?? null, CHANNEL]).catch(() => {});
              await leave();
            },
          };
        if (performance.now() - said > SAY_EVERY_MS || said === 0) {
          said = performance.now();
          waits(`A limit of the engine on ${wait.name} is reached (${wait.what}); the request waits.`);
        }
        await pause(Math.min(LONGEST_LOOK_MS, Math.max(10, wait.ms)), AbortSignal.any([signal, woken]));
      }
    } catch (error) {
      await leave();
      throw error;
    }
    await leave();
    return undefined;
  };
  return {
    enter: async (request, options) => {
      listen();
      limits ??= table.read();
      const known = await limits.catch((error: unknown) => {
        limits = undefined;
        throw error;
      });
      const names = quotaNames(request).filter((name) => known.has(name));
      if (names.length === 0) return FREE;
      const line = names.join(" ");
      const before = lines.get(line) ?? Promise.resolve();
      const mine = before.then(() => enter(names, request.tokens, options));
      lines.set(
        line,
        mine.catch(() => {}),
      );
      return orAborted(mine, options.signal);
    },
  };
}

/** Waits for a place in the queue, and stops waiting when the request is aborted. */
function orAborted(entering: Promise<QuotaEntry | undefined>, signal: AbortSignal): Promise<QuotaEntry | undefined> {
  return new Promise((resolve, reject) => {
    const deaf = onAbort(signal, () => resolve(undefined));
    entering.then((entry) => {
      deaf();
      if (signal.aborted) void entry?.leave(0);
      resolve(signal.aborted ? undefined : entry);
    }, reject);
  });
}

const FREE: QuotaEntry = { leave: async () => {} };

type Wish = Readonly<{ id: string; process: string; names: readonly string[]; tokens: number }>;
type Use = { name: string; wait: number; what: string };

/**
 * Admits and counts a request if it exceeds no limit; otherwise returns the exceeded limit and the time of the next
 * try.
 */
async function admit(
  run: RunStatement,
  { id, process, names, tokens }: Wish,
): Promise<Readonly<{ name: string; what: string; ms: number }> | undefined> {
  // Locks the rows: only one process at a time may count, because the counts below must include those of the previous
  // process.
  await run("select 1 from subcrew.quota where name = any($1) order by name for update", [names]);
  const [full] = await run<Use>(FULL, [names, tokens, id]);
  if (full) return { name: full.name === "*" ? "all models" : full.name, what: full.what, ms: full.wait };
  await run(
    `with old as (delete from subcrew.model_requests where began < clock_timestamp() - interval '60 seconds'
       and (ended or not exists (select from subcrew.processes p where p.id = process)))
     insert into subcrew.model_requests (name, id, process, tokens) select name, $2, $3, $4 from unnest($1::text[]) as name
     on conflict (name, id) do nothing`,
    [names, id, process, tokens],
  );
  return undefined;
}

/**
 * SQL for the exceeded limits. A request that is larger than a whole limit is admitted when no other request is
 * counted; it would wait for ever otherwise.
 */
const FULL = `
  select q.name,
    case when u.open >= q.concurrency then q.concurrency || ' at once'
         when u.requests >= q.requests then q.requests || ' requests per minute'
         else q.tokens || ' tokens per minute' end as what,
    case when u.open >= q.concurrency then 1000::float8
         else coalesce(extract(epoch from u.oldest + interval '60 seconds' - clock_timestamp()) * 1000, 1000)::float8 end as wait
  from subcrew.quota q, lateral (
    select count(*) filter (where not m.ended and exists (
             select from subcrew.processes p where p.id = m.process and p.${LIVING})) as open,
      count(*) filter (where m.began > clock_timestamp() - interval '60 seconds') as requests,
      coalesce(sum(m.tokens) filter (where m.began > clock_timestamp() - interval '60 seconds'), 0) as tokens,
      min(m.began) filter (where m.began > clock_timestamp() - interval '60 seconds') as oldest
    from subcrew.model_requests m where m.name = q.name and m.id <> $3
  ) u
  where q.name = any($1) and (u.open >= q.concurrency or u.requests >= q.requests
    or (u.tokens > 0 and u.tokens + $2 > q.tokens))
  order by wait desc limit 1`;

const LEAVE = `
  with done as (
    update subcrew.model_requests set ended = true, tokens = coalesce($2, tokens) where id = $1 and not ended
  )
  select pg_notify($3, 'ended')`;
