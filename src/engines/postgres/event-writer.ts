import type { KeptEvent } from "../../core/run/event.ts";
import type { Journal, JournalListener } from "../../core/run/run-store.ts";
import { CrewError, isCrewError } from "../../core/schema/error.ts";
import { channelName } from "./channel-name.ts";
import type { Database } from "./database.ts";

/** Identifies the event of a worker from which an event of the run was made. */
export type FactSource = Readonly<{ call: string; epoch: number; fact: number }>;

/** A journal whose events can be linked to the workers' events that they were made from. */
export type EventWriter = Journal &
  Readonly<{
    /** Links all events appended during `work` to this event of a worker, in the same statement. */
    during(source: FactSource, work: () => void): void;
    /** Ends the writer, because this process no longer owns the run. */
    lose(error: Error): void;
    epoch: number;
  }>;

/** The parameters of an event writer. `known` holds the events recorded so far. */
export type WriterOptions = Readonly<{
  run: string;
  epoch: number;
  known: readonly KeptEvent[];
  listener: JournalListener;
  /** Gives up the ownership of the run. */
  release(): Promise<void>;
}>;

/**
 * The number of events at which a batch is written at once; otherwise it is written a few milliseconds after its first
 * event.
 */
const BATCH = 64;
const BATCH_MS = 10;

type Waiting = Readonly<{ event: KeptEvent; source: FactSource | undefined }>;

/** Writes the events of a run in batches. If another process took over the run, nothing is written. */
export function createEventWriter(
  database: Database,
  { run, epoch, known, listener, release }: WriterOptions,
): EventWriter {
  const events = [...known];
  let waiting: Waiting[] = [];
  let source: FactSource | undefined;
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failure: Error | undefined;

  const write = async (batch: readonly Waiting[]): Promise<void> => {
    const sources = lastSources(batch);
    const [row] = await database.query<{ held: boolean }>(INSERT, [
      run,
      epoch,
      batch.map(({ event }) => event.seq),
      batch.map(({ event }) => event.path),
      batch.map(({ event }) => JSON.stringify(event)),
      sources.map((source) => source?.call ?? null),
      sources.map((source) => source?.epoch ?? null),
      sources.map((source) => source?.fact ?? null),
      channelName("run", run),
    ]);
    if (!row?.held) throw replaced(run);
    listener.kept(batch.map(({ event }) => event));
  };
  const lose = (error: Error): void => {
    if (failure) return;
    failure = error;
    listener.lost(error);
  };
  const drain = async (): Promise<void> => {
    while (waiting.length > 0 && !failure) {
      const batch = waiting.slice(0, BATCH);
      waiting = waiting.slice(BATCH);
      try {
        await write(batch);
      } catch (error) {
        lose(isCrewError(error) && error.code === "RUN_BUSY" ? error : unwritable(run, error));
      }
    }
    writing = undefined;
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    return (writing ??= drain());
  };
  const durable = async (): Promise<void> => {
    while (!failure && (waiting.length > 0 || writing)) await flush();
    if (failure) throw failure;
  };
  return {
    epoch,
    lose,
    problems: [],
    append: (event) => {
      if (failure) return;
      events.push(event);
      waiting.push({ event, source });
      if (waiting.length >= BATCH) void flush();
      else if (!writing) timer ??= setTimeout(() => void flush(), BATCH_MS);
    },
    during: (made, work) => {
      source = made;
      try {
        work();
      } finally {
        source = undefined;
      }
    },
    durable,
    read: async () => {
      await durable().catch(() => {});
      return [...events];
    },
    close: async () => {
      await durable().catch(() => {});
      clearTimeout(timer);
      await release();
    },
  };
}

/**
 * The last source of each worker in a batch. A batch is written as a whole, so this source alone tells up to which
 * event of a worker everything is recorded. Earlier events need neither a source nor an index entry.
 */
function lastSources(batch: readonly Waiting[]): readonly (FactSource | undefined)[] {
  const seen = new Set<string>();
  return batch
    .toReversed()
    .map(({ source }) => {
      const key = source && `${source.epoch} ${source.call}`;
      if (key === undefined || seen.has(key)) return undefined;
      seen.add(key);
      return source;
    })
    .toReversed();
}

const INSERT = `
  with own as (
    update subcrew.runs set changed = clock_timestamp() where run = $1 and epoch = $2 returning run
  ), added as (
    insert into subcrew.events (run, seq, epoch, path, event, call, call_epoch, fact)
    select own.run, e.seq, $2, e.path, e.event::json, e.call, e.call_epoch, e.fact
    from own, unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[])
      as e (seq, path, event, call, call_epoch, fact)
    on conflict (run, seq) do nothing
  )
  select exists (select from own) as held, pg_notify($9, ($3::bigint[])[1]::text) from (select) as once`;

export const replaced = (run: string): CrewError =>
  new CrewError(
    "RUN_BUSY",
    `Another process took over the run "${run}".`,
    "This process did not reach the database for some time, so the other process continues the run.",
  );

const unwritable = (run: string, cause: unknown): CrewError =>
  isCrewError(cause)
    ? cause
    : new CrewError(
        "STATE_UNWRITABLE",
        `The events of "${run}" cannot be written: ${cause instanceof Error ? cause.message : String(cause)}.`,
        `Make room in the database, then resume the run: \`subcrew resume ${run}\`.`,
        { cause },
      );
