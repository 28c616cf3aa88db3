import { channelName } from "../postgres/channel-name.ts";
import type { Database } from "../postgres/database.ts";
import type { FromTask } from "../../runtime/channel/protocol.ts";
import { heardLive } from "./heard.ts";
import { DEAD_MS, LIVING, SETTLED } from "../postgres/presence.ts";

/** A subscription of this process to the messages about one epoch of a task. */
export type Subscription = Readonly<{
  call: string;
  epoch: number;
  /** Receives messages in order, with the number of the first. It is not called again before it has returned. */
  receive(messages: unknown, number: number): void;
  /** Called with text that is only shown live and not recorded. */
  live?(message: FromTask): void;
  /** Called when the epoch is over because the task was given to another worker. */
  fenced?(): void;
  /**
   * Called once a second while the run has no living process. `deadMs`: the time after which a silent process counts as
   * dead.
   */
  orphaned?(deadMs: number): void;
}>;

/**
 * Reads the messages of other processes to this process. Notifications tell which tasks have messages; once a second
 * all tasks are read.
 */
export type Inbox = Readonly<{
  subscribe(subscription: Subscription): Subscribed;
  /** Calls the listener when a worker gives a task back, and once a second. */
  onReturned(listener: () => void): () => void;
  /**
   * Calls the listener with a task that is offered to this process. A listener that takes the task returns true, and no
   * other listener is called.
   */
  onOffer(listener: (offered: Readonly<{ call: string; epoch: number }>) => boolean): () => void;
}>;

export type Subscribed = Readonly<{
  /** Resolves when everything that was sent so far has been received. */
  drained(): Promise<void>;
  stop(): void;
}>;

type Open = { readonly subscription: Subscription; after: string };
type MessageRow = { call: string; epoch: string; number: string; body: unknown };

/** Creates an inbox. `table` is `facts` (events of workers) for a coordinator and `mail` for a worker. */
export function createInbox(database: Database, process: string, table: "facts" | "mail"): Inbox {
  const open = new Map<string, Open>();
  const dirty = new Set<string>();
  const returned = new Set<() => void>();
  const offers = new Set<Parameters<Inbox["onOffer"]>[0]>();
  let reading: Promise<void> | undefined;
  let stop: (() => void) | undefined;
  const keyOf = ({ call, epoch }: Pick<Subscription, "call" | "epoch">): string => `${epoch} ${call}`;

  const readOnce = async (keys: readonly string[]): Promise<void> => {
    const asked = keys.flatMap((key) => open.get(key) ?? []);
    if (asked.length === 0) return;
    const rows = await database.query<MessageRow>(
      `select m.call, m.epoch, m.number, m.body
       from unnest($1::text[], $2::bigint[], $3::bigint[]) as w (call, epoch, after)
       join subcrew.${table} m on m.call = w.call and m.epoch = w.epoch and m.number > w.after
       order by m.call, m.number`,
      [
        asked.map(({ subscription }) => subscription.call),
        asked.map(({ subscription }) => subscription.epoch),
        asked.map(({ after }) => after),
      ],
    );
    for (const { call, epoch, number, body } of rows) {
      const one = open.get(keyOf({ call, epoch: Number(epoch) }));
      if (!one || BigInt(number) <= BigInt(one.after)) continue;
      one.after = number;
      one.subscription.receive(body, Number(number));
    }
  };
  const read = (): Promise<void> =>
    (reading ??= (async () => {
      while (dirty.size > 0) {
        const keys = [...dirty];
        dirty.clear();
        await readOnce(keys).catch(() => {}); // the next notification or poll tries again
      }
      reading = undefined;
    })());
  const checkFences = async (): Promise<void> => {
    const watched = [...open.values()].filter(({ subscription }) => subscription.fenced);
    if (watched.length === 0) return;
    const rows = await database.query<{ call: string; epoch: string; held: boolean; dead: number }>(
      `select w.call, w.epoch, c.call is not null as held, ${DEAD_MS} as dead from unnest($1::text[], $2::bigint[]) as w (call, epoch)
       left join subcrew.calls c on c.call = w.call and c.epoch = w.epoch and c.state in ('taken', 'stopping')
       where c.call is null
          or (${SETTLED} and not exists (select from subcrew.processes p where p.id = c.owner and p.${LIVING}))`,
      [watched.map(({ subscription }) => subscription.call), watched.map(({ subscription }) => subscription.epoch)],
    );
    for (const { call, epoch, held, dead } of rows) {
      const subscription = open.get(keyOf({ call, epoch: Number(epoch) }))?.subscription;
      if (held) subscription?.orphaned?.(dead);
      else subscription?.fenced?.();
    }
  };
  const ring = (payload: string | undefined): void => {
    if (payload === undefined) {
      for (const key of open.keys()) dirty.add(key);
      for (const listener of returned) listener();
      checkFences().catch(() => {});
    } else if (payload.startsWith("m")) dirty.add(payload.slice(1));
    else if (payload.startsWith("d")) showLive(payload.slice(1));
    else if (payload.startsWith("r")) for (const listener of returned) listener();
    else if (payload.startsWith("x")) checkFences().catch(() => {});
    else if (payload.startsWith("o")) offer(payload.slice(1));
    if (dirty.size > 0) void read();
  };
  const showLive = (text: string): void => {
    const live = heardLive(text);
    if (live) open.get(live.key)?.subscription.live?.(live.message);
  };
  const offer = (key: string): void => {
    const cut = key.indexOf(" ");
    const offered = { call: key.slice(cut + 1), epoch: Number(key.slice(0, cut)) };
    if (!Number.isSafeInteger(offered.epoch)) return;
    for (const take of offers) if (take(offered)) return;
  };
  const listen = (): void => {
    stop ??= database.bells.listen(channelName("process", process), ring);
  };
  const registered = <T>(all: Set<T>, listener: T): (() => void) => {
    all.add(listener);
    listen();
    return () => {
      all.delete(listener);
      leave();
    };
  };
  const leave = (): void => {
    if (open.size > 0 || returned.size > 0 || offers.size > 0) return;
    stop?.();
    stop = undefined;
  };
  return {
    subscribe: (subscription) => {
      const key = keyOf(subscription);
      open.set(key, { subscription, after: "-1" });
      listen();
      return {
        drained: async () => {
          dirty.add(key);
          await read();
          if (dirty.has(key)) await read();
        },
        stop: () => {
          open.delete(key);
          leave();
        },
      };
    },
    onReturned: (listener) => registered(returned, listener),
    onOffer: (listener) => registered(offers, listener),
  };
}
