import { randomUUID } from "node:crypto";
import type { ChildRequest, FromTask, TaskChannel, ToTask } from "../../runtime/channel/protocol.ts";
import type { Database } from "../postgres/database.ts";
import type { CallEpoch } from "./call-table.ts";
import type { Inbox } from "./inbox.ts";

/** The worker's end of the message channel for one task. */
export type WorkerChannel = TaskChannel &
  Readonly<{
    /** Delivers a message as if the run had sent it. */
    deliver(message: ToTask): void;
    /** True when the task was given to another worker. */
    isFenced(): boolean;
    /** Resolves when everything that was sent so far is stored in the table. */
    flushed(): Promise<void>;
    /** Closes the channel without a result; no further messages are sent. */
    cut(): void;
    /** Calls back when the task waits for an answer of its run, which has had no living process for some time. */
    onOrphaned(listener: () => void): void;
  }>;

/**
 * How long a task waits for its run to be taken over, in multiples of the time after which a process is dead. Then the
 * task is given back, so that other tasks can use its slot.
 */
const ORPHANED = 3;
/** If two checks are further apart than this (in milliseconds), the run had a living process in between. */
const CHECK_GAP_MS = 10_000;
/** Requests that may stay open while the task works. */
const BESIDE_WORK: ReadonlySet<ChildRequest["ask"]> = new Set(["mail", "ended"]);

/** The shortest time between two notifications with live text of a task, and the maximum length of a notification. */
const LIVE_EVERY_MS = 100;
const LIVE_CHARS = 3_000;

/**
 * Writes messages of a worker into a table in batches. If the task was given to another worker meanwhile, the batch is
 * refused, and the worker stops.
 */
export function workerChannel(database: Database, inbox: Inbox, { call, epoch }: CallEpoch): WorkerChannel {
  let receive: ((message: ToTask) => void) | undefined;
  let gone: (() => void) | undefined;
  let early: ToTask[] = [];
  let waiting: FromTask[] = [];
  let sent = 0;
  let flushing: Promise<void> | undefined;
  let isOver = false;
  let isFenced = false;
  const live = createLive((message) =>
    database.query("select pg_notify('sc_p_' || owner, 'd' || $2) from subcrew.calls where call = $1", [
      call,
      JSON.stringify([`${epoch} ${call}`, message]),
    ]),
  );
  const fence = (): void => {
    if (isFenced || isOver) return;
    isFenced = true;
    waiting = [];
    gone?.();
  };
  const deliver = (message: ToTask): void => {
    if (message.type === "answer" || message.type === "broken") asked.delete(message.id);
    if (receive) receive(message);
    else early.push(message);
  };
  /** Requests of the task that its run has not answered. */
  const asked = new Set<number>();
  let giveUp = (): void => {};
  let orphan: { since: number; seen: number } | undefined;
  const subscribed = inbox.subscribe({
    call,
    epoch,
    receive: (messages) => (messages as ToTask[]).forEach(deliver),
    fenced: fence,
    orphaned: (deadMs) => {
      const now = performance.now();
      orphan = { since: orphan && now - orphan.seen < CHECK_GAP_MS ? orphan.since : now, seen: now };
      if (now - orphan.since >= ORPHANED * deadMs && asked.size > 0 && !isOver) giveUp();
    },
  });
  const flush = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve)); // messages of one event loop turn form one batch
    while (waiting.length > 0 && !isFenced) {
      const batch = waiting;
      waiting = [];
      const ends = batch.some(({ type }) => type === "ended");
      const rows = await database.query(ends ? END : PUSH, [call, epoch, sent, JSON.stringify(batch)]);
      sent += batch.length;
      if (rows.length === 0) fence();
    }
    flushing = undefined;
  };
  return {
    deliver,
    isFenced: () => isFenced,
    send: (message) => {
      if (isFenced || isOver) return;
      if (message.type === "live") return live.add(message);
      if (message.type === "request" && !BESIDE_WORK.has(message.request.ask)) asked.add(message.id);
      if (message.type === "drop") asked.delete(message.id);
      waiting.push(message);
      flushing ??= flush().catch(() => fence());
    },
    listen: (heard, ended) => {
      receive = heard;
      gone = ended;
      const before = early;
      early = [];
      before.forEach(deliver);
      if (isFenced) ended();
    },
    flushed: async () => {
      while (flushing) await flushing;
    },
    cut: () => {
      isOver = true;
      waiting = [];
    },
    onOrphaned: (listener) => {
      giveUp = listener;
    },
    close: async () => {
      while (flushing) await flushing;
      isOver = true;
      live.stop();
      subscribed.stop();
    },
  };
}

const PUSH = `
  with held as (
    select owner from subcrew.calls where call = $1 and epoch = $2 and state in ('taken', 'stopping')
  ), added as (
    insert into subcrew.facts (call, epoch, number, body) select $1, $2, $3::bigint, $4::json from held
    on conflict (call, epoch, number) do nothing
  )
  select pg_notify('sc_p_' || owner, 'm' || $2 || ' ' || $1) from held`;

/**
 * Stores the outcome and the last events in one statement. A stopped task gets no outcome. The job is deleted because
 * it is no longer needed; this keeps the row and the database log small.
 */
const END = `
  with held as (
    update subcrew.calls set state = case state when 'stopping' then 'stopped' else 'done' end, job = null, changed = clock_timestamp()
    where call = $1 and epoch = $2
      and (state in ('taken', 'stopping')
        or (state = 'done' and exists (select from subcrew.facts where call = $1 and epoch = $2 and number = $3)))
    returning owner
  ), added as (
    insert into subcrew.facts (call, epoch, number, body) select $1, $2, $3::bigint, $4::json from held
    on conflict (call, epoch, number) do nothing
  )
  select pg_notify('sc_p_' || owner, 'm' || $2 || ' ' || $1) from held`;

type LiveMessage = Extract<FromTask, { type: "live" }>;

/** Joins pieces of live text of the same kind and sends them at intervals. */
function createLive(send: (message: LiveMessage) => Promise<unknown>): {
  add(message: LiveMessage): void;
  stop(): void;
} {
  let waiting: LiveMessage[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    const batch = waiting;
    waiting = [];
    for (const message of batch) send(message).catch(() => {}); // the recorded event that follows contains lost live text, too
  };
  return {
    add: (message) => {
      const last = waiting.at(-1);
      const { text, ...kind } = message.delta;
      const { text: before, ...lastKind } = last?.delta ?? { text: "" };
      const joined = before + text;
      if (last && JSON.stringify(kind) === JSON.stringify(lastKind) && joined.length <= LIVE_CHARS)
        waiting[waiting.length - 1] = { ...message, delta: { ...message.delta, text: joined } };
      else
        for (let at = 0; at < text.length; at += LIVE_CHARS)
          waiting.push({ ...message, delta: { ...message.delta, text: text.slice(at, at + LIVE_CHARS) } });
      timer ??= setTimeout(flush, LIVE_EVERY_MS);
    },
    stop: () => clearTimeout(timer),
  };
}

/**
 * The coordinator's end of the channel. Messages to the worker are written into a table, one statement at a time, in
 * order.
 */
export function mailTo(
  database: Database,
  { call, epoch }: CallEpoch,
): { send(message: ToTask): void; sent(): Promise<void> } {
  let waiting: ToTask[] = [];
  let flushing: Promise<void> | undefined;
  const flush = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await database.query(MAIL, [call, epoch, JSON.stringify(batch), randomUUID()]);
    }
    flushing = undefined;
  };
  return {
    send: (message) => {
      waiting.push(message);
      flushing ??= flush().catch(() => {
        flushing = undefined; // without the database the worker is lost anyway, and the task is placed again
      });
    },
    sent: async () => {
      while (flushing) await flushing;
    },
  };
}

const MAIL = `
  with held as (select worker from subcrew.calls where call = $1 and epoch = $2),
  added as (
    insert into subcrew.mail (call, epoch, body, key) select $1, $2, $3::json, $4::uuid from held on conflict (key) do nothing
  )
  select pg_notify('sc_p_' || worker, 'm' || $2 || ' ' || $1) from held where worker is not null`;
