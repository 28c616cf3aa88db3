import { randomUUID } from "node:crypto";
import type { Receipt, RunCommand } from "../../core/run/run-command.ts";
import type { RunCommands } from "../../core/run/run-store.ts";
import { channelName } from "./channel-name.ts";
import type { Database } from "./database.ts";
import type { Presence } from "./presence.ts";
import { listenTo } from "./records.ts";

const LOOK_EVERY_MS = 1_000;
/** The delay before a command to a run that cannot be handled yet is tried again. */
const AGAIN_MS = 250;

type CommandRow = { id: string; body: RunCommand };

/** Sends commands to the owner of a run through a table. */
export function runCommands(database: Database, { id: self }: Pick<Presence, "id">): RunCommands {
  const open = (run: string, which: string, ...values: unknown[]): Promise<CommandRow[]> =>
    database.query<CommandRow>(`select id, body from subcrew.commands c where run = $1 and ${which} order by id`, [
      run,
      ...values,
    ]);
  return {
    post: async (run, command, { waitMs, signal, ended }) => {
      const channel = channelName("commands", run);
      const news = listenTo(database, channel);
      const key = randomUUID();
      try {
        await database.query(POST, [run, JSON.stringify(command), key, channel]);
        for (const until = performance.now() + waitMs; ; ) {
          news.reset();
          const over = await ended();
          const [row] = await database.query<{ receipt: Receipt | null }>(
            "select receipt from subcrew.commands where key = $1",
            [key],
          );
          if (row?.receipt) {
            await database.query(`delete from subcrew.commands where key = $1 and not ${LASTING}`, [key]);
            return row.receipt;
          }
          if (over) {
            await database.query("delete from subcrew.commands where key = $1 and receipt is null", [key]);
            return over;
          }
          const left = until - performance.now();
          if (left <= 0 || signal.aborted) return undefined;
          await news.wait(Math.min(left, LOOK_EVERY_MS), signal);
        }
      } finally {
        news.stop();
      }
    },
    waiting: async (run) => (await open(run, "receipt is null")).map(({ body }) => body),
    serve: async (run, handle, signal) => {
      const channel = channelName("commands", run);
      const news = signal.aborted ? undefined : listenTo(database, channel);
      const obeyed = new Set<string>();
      try {
        do {
          news?.reset();
          const commands = await open(run, `(receipt is null or ${LASTING}) and ${isOurs("$2")}`, self);
          let putOff = 0;
          for (const { id, body } of commands) {
            if (obeyed.has(id)) continue;
            const receipt = await handle(body, signal);
            if (receipt) {
              obeyed.add(id);
              await database.query(ANSWER, [id, JSON.stringify(receipt), channel, self]);
            } else putOff += 1;
          }
          if (!signal.aborted) await news?.wait(putOff > 0 ? AGAIN_MS : LOOK_EVERY_MS, signal);
        } while (!signal.aborted);
      } finally {
        news?.stop();
      }
    },
  };
}

/**
 * SQL condition: the command cancels the whole run. The process of the run may die between the receipt and the end of
 * the run, so the command is kept, and the next process carries it out, too.
 */
const LASTING = "(body->>'do' = 'cancel' and body->>'path' is null)";

const POST = `
  with posted as (
    insert into subcrew.commands (run, body, key) values ($1, $2, $3) on conflict (key) do nothing returning 1
  )
  select pg_notify($4, '') from (select count(*) from posted) as once`;

/**
 * SQL condition: no other process owns the run of the command. What a replaced process does is not recorded, so it must
 * leave the command to the new owner.
 */
const isOurs = (self: string): string =>
  `not exists (select from subcrew.runs r where r.run = c.run and r.owner <> ${self})`;

/** Stores a receipt. Receipts that were not fetched within a day are deleted at the same time. */
const ANSWER = `
  with answered as (update subcrew.commands c set receipt = $2 where id = $1 and ${isOurs("$4")}),
  old as (delete from subcrew.commands where receipt is not null and sent < clock_timestamp() - interval '1 day')
  select pg_notify($3, '')`;
