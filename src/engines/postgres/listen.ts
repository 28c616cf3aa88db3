import { pause } from "../../runtime/async/cancel.ts";
import type { Client } from "./driver.ts";

/** Database notifications (LISTEN/NOTIFY). They are only hints: the data is always in a table. */
export type Bells = Readonly<{
  /**
   * Calls `ring` with the payload of each notification. It is also called with `undefined` once a second, after a
   * reconnect and at the beginning, which tells the listener to read the tables itself. Returns a function that stops
   * listening.
   */
  listen(channel: string, ring: (payload: string | undefined) => void): () => void;
  /** False while notifications cannot be received, as behind a connection pooler. Listeners then only poll. */
  live(): boolean;
  close(): Promise<void>;
}>;

const CHECK_EVERY_MS = 1_000;
const RECONNECT_MS = 200;
/** How long an unused connection stays open for the next listener. */
const LINGER_MS = 2_000;

/** Uses one connection for all listeners of this process; it is closed when there are none. */
export function createBells({ open }: { open(lost: () => void): Promise<Client> }): Bells {
  const rings = new Map<string, Set<(payload: string | undefined) => void>>();
  const closing = new AbortController();
  let client: Promise<Client> | undefined;
  let isLive = false;
  let timer: NodeJS.Timeout | undefined;
  let idle: NodeJS.Timeout | undefined;
  /** Runs LISTEN and UNLISTEN statements one after the other. */
  let saying: Promise<void> = Promise.resolve();

  const ringAll = (): void => {
    for (const all of rings.values()) for (const ring of all) ring(undefined);
  };
  const connect = async (): Promise<Client> => {
    for (;;) {
      try {
        let isOpen = false;
        const made = await open(() => {
          if (isOpen) lose(made); // a client that fails while it connects reports that error itself
        });
        isOpen = true;
        made.on("notification", ({ channel, payload }) => {
          for (const ring of rings.get(channel) ?? []) ring(payload ?? "");
        });
        for (const channel of rings.keys()) await made.query(`listen ${quoted(channel)}`);
        unref(made);
        isLive = true;
        return made;
      } catch (error) {
        if (closing.signal.aborted || rings.size === 0) throw error;
        await pause(RECONNECT_MS, closing.signal);
      }
    }
  };
  const start = (): void => {
    client ??= connect();
    client.then(ringAll, () => {});
  };
  const lose = (which: Client | undefined): void => {
    if (!isLive) return;
    isLive = false;
    client = undefined;
    which?.end().catch(() => {});
    if (rings.size > 0 && !closing.signal.aborted) start();
  };
  const say = (command: "listen" | "unlisten", channel: string): void => {
    if (!isLive) return; // a new connection listens to every channel again
    saying = saying
      .then(async () => {
        await (await client)?.query(`${command} ${quoted(channel)}`);
      })
      .catch(() => {});
  };
  const leave = (): void => {
    idle = setTimeout(() => {
      if (rings.size > 0) return;
      const made = client;
      isLive = false;
      client = undefined;
      made?.then((one) => one.end()).catch(() => {});
    }, LINGER_MS);
    idle.unref();
  };
  return {
    listen: (channel, ring) => {
      clearTimeout(idle);
      const known = rings.get(channel);
      if (known) known.add(ring);
      else {
        rings.set(channel, new Set([ring]));
        say("listen", channel);
      }
      start();
      if (!timer) {
        timer = setInterval(ringAll, CHECK_EVERY_MS);
        timer.unref();
      }
      ring(undefined);
      return () => {
        const all = rings.get(channel);
        all?.delete(ring);
        if (all?.size !== 0) return;
        rings.delete(channel);
        say("unlisten", channel);
        if (rings.size > 0) return;
        clearInterval(timer);
        timer = undefined;
        leave();
      };
    },
    live: () => isLive,
    close: async () => {
      closing.abort();
      clearInterval(timer);
      clearTimeout(idle);
      rings.clear();
      isLive = false;
      const made = await client?.catch(() => undefined);
      client = undefined;
      await made?.end().catch(() => {});
    },
  };
}

const quoted = (channel: string): string => `"${channel.replaceAll('"', '""')}"`;

/** A waiting listener alone does not keep the process alive. */
function unref(client: Client): void {
  const { connection } = client as unknown as { connection?: { stream?: { unref?(): void } } };
  connection?.stream?.unref?.();
}
