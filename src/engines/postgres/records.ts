import type { KeptEvent } from "../../core/run/event.ts";
import type { RunRecords } from "../../core/run/run-store.ts";
import { CrewError } from "../../core/schema/error.ts";
import { pause } from "../../runtime/async/cancel.ts";
import { channelName } from "./channel-name.ts";
import type { Database } from "./database.ts";

type EventRow = { event: KeptEvent };

/** The number of events that one statement reads. */
const PIECE = 1_000;
/** How often a reader that follows a run polls. The condition that ends it may become true without a notification. */
const LOOK_EVERY_MS = 1_000;

/** Reads the records of runs from the table of events. */
export function recordedEvents(database: Database): Omit<RunRecords, "place"> {
  const piece = async (run: string, after: number): Promise<KeptEvent[]> => {
    const rows = await database.query<EventRow>(
      "select event from subcrew.events where run = $1 and seq > $2 order by seq limit $3",
      [run, after, PIECE],
    );
    return rows.map(({ event }) => event);
  };
  const last: RunRecords["last"] = async (run) => {
    const [row] = await database.query<EventRow>(
      "select event from subcrew.events where run = $1 order by seq desc limit 1",
      [run],
    );
    return row?.event;
  };
  const demand = async (run: string): Promise<void> => {
    const found = await database.query("select 1 from subcrew.events where run = $1 limit 1", [run]);
    if (found.length === 0) throw unknown(run);
  };
  const read = async function* (run: string): ReturnType<RunRecords["read"]> {
    await demand(run);
    for (let seq = 0; ; ) {
      const events = await piece(run, seq);
      yield { events, damage: gaps(events, seq === 0 ? undefined : seq), tornBytes: 0 };
      if (events.length < PIECE) return;
      seq = events.at(-1)!.seq;
    }
  };
  return {
    list: async () => {
      const rows = await database.query<{ run: string }>("select run from subcrew.runs order by changed desc, run");
      return rows.map(({ run }) => run);
    },
    first: async (run) => (await piece1(database, run))?.event,
    last,
    read,
    readWhole: async (run) => {
      const events: KeptEvent[] = [];
      for await (const part of read(run)) for (const event of part.events) events.push(event);
      const [damage] = gaps(events, 0);
      if (damage !== undefined)
        throw new CrewError("RUN_DAMAGED", damage, "Read the run with `subcrew logs`; it cannot be resumed.");
      return { events, problems: [] };
    },
    follow: async function* (run, { after = 0, until, signal }) {
      await demand(run);
      const news = listenTo(database, channelName("run", run));
      try {
        let seq = after;
        for (let over = false; !signal.aborted; ) {
          news.reset();
          const fresh = await piece(run, seq);
          for (const event of fresh) {
            seq = event.seq;
            yield event;
          }
          if (fresh.length > 0) continue;
          if (over) return;
          over = await until(await last(run)); // the condition is checked before the last read, so that no event is missed
          if (!over) await news.wait(LOOK_EVERY_MS, signal);
        }
      } finally {
        news.stop();
      }
    },
    measure: async (run) => {
      const [row] = await database.query<{ bytes: string; changed: Date }>(
        `select (select coalesce(sum(length(event::text)), 0) from subcrew.events e where e.run = r.run)
              + (select coalesce(sum(a.bytes), 0) from subcrew.outputs o join subcrew.artifacts a using (hash) where o.run = r.run)
              as bytes, r.changed
         from subcrew.runs r where r.run = $1`,
        [run],
      );
      if (!row) throw unknown(run);
      return { bytes: Number(row.bytes), changedAt: row.changed.getTime() };
    },
  };
}

async function piece1(database: Database, run: string): Promise<EventRow | undefined> {
  const [row] = await database.query<EventRow>("select event from subcrew.events where run = $1 order by seq limit 1", [
    run,
  ]);
  return row;
}

/** Describes gaps in the numbers of records, as sentences. */
function gaps(events: readonly KeptEvent[], before: number | undefined): string[] {
  const found: string[] = [];
  let last = before;
  for (const { seq } of events) {
    if (last !== undefined && seq !== last + 1)
      found.push(
        seq === last + 2 ? `Record ${last + 1} is missing.` : `Records ${last + 1} to ${seq - 1} are missing.`,
      );
    last = seq;
  }
  return found;
}

/** Waits for notifications on a channel. */
export function listenTo(
  database: Database,
  channel: string,
): Readonly<{ reset(): void; wait(ms: number, signal: AbortSignal): Promise<void>; stop(): void }> {
  let rung = false;
  let bell: AbortController | undefined;
  const stop = database.bells.listen(channel, () => {
    rung = true;
    bell?.abort();
  });
  return {
    reset: () => {
      rung = false;
    },
    wait: async (ms, signal) => {
      if (rung) return;
      bell = new AbortController();
      await pause(ms, AbortSignal.any([bell.signal, signal]));
      bell = undefined;
    },
    stop,
  };
}

export const unknown = (run: string): CrewError =>
  new CrewError("UNKNOWN_RUN", `The run "${run}" does not exist.`, "`subcrew runs` lists the runs.");
