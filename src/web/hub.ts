import type { ServerResponse } from "node:http";
import type { KeptEvent } from "../core/run/event.ts";
import { isCrewError, messageOf } from "../core/schema/error.ts";
import type { Crew } from "../crew.ts";
import type { RunMessage, WebProblem } from "./client/wire.ts";
import { type EventStream, openEventStream } from "./event-stream.ts";
import { messageChanges, messagePieces } from "./message-pieces.ts";
import { openRunChannel, type RunChannel } from "./run-channel.ts";
import { openRunList, type RunList } from "./run-list.ts";

/** All open browser tabs, and the runs that they show. */
export type Hub = Readonly<{
  list: RunList;
  /** The events of a run: from memory when a tab shows the run, otherwise from disk. */
  events(run: string): Promise<readonly KeptEvent[]>;
  /** Serves one tab until it disconnects. `after` is the last event of the run that the tab has received. */
  connect(response: ServerResponse, options: Readonly<{ run: string | undefined; after: number | undefined }>): void;
  close(): void;
}>;

type Tab = {
  readonly stream: EventStream;
  readonly run: string | undefined;
  /** The last event of the run that was sent. */
  seq: number;
  /** True while the whole run is being sent. */
  opening: boolean;
  /** True: the tab was too slow for a change of its run, so the whole run has to be sent again. */
  missed: boolean;
  /** True: the tab missed a change of the list of runs while its own run was being sent. */
  lateList: boolean;
};
type Open = { readonly channel: Promise<RunChannel>; readonly tabs: Set<Tab> };

/** The maximum number of tabs that are served at a time. */
const MOST_TABS = 100;

export async function openHub(crew: Crew): Promise<Hub> {
  const over = new AbortController();
  const tabs = new Set<Tab>();
  const open = new Map<string, Open>();
  const list = await openRunList(crew, {
    signal: over.signal,
    changed: (message) => {
      for (const { stream } of tabs) stream.send("runs", message);
    },
  });

  const channelFor = (id: string): Open => {
    const known = open.get(id);
    if (known) return known;
    const entry: Open = {
      tabs: new Set(),
      channel: openRunChannel(crew, id, {
        changed: (message, seq) => {
          for (const tab of entry.tabs)
            if (tab.stream.send("run", message, `${id}:${seq}`)) tab.seq = seq;
            else tab.missed = true;
        },
        deleted: (error) => {
          if (open.get(id) === entry) open.delete(id);
          for (const tab of entry.tabs) if (!tab.stream.send("gone", problemOf(error))) tab.missed = true;
        },
      }),
    };
    open.set(id, entry);
    return entry;
  };
  const leave = (tab: Tab): void => {
    tabs.delete(tab);
    const entry = tab.run === undefined ? undefined : open.get(tab.run);
    entry?.tabs.delete(tab);
    if (tab.run === undefined || !entry || entry.tabs.size > 0) return;
    open.delete(tab.run);
    entry.channel.then(
      (channel) => channel.close(),
      () => {},
    );
  };
  /** Sends a message as soon as the tab can receive it. Returns false when the tab has disconnected. */
  const deliver = async ({ stream }: Tab, message: RunMessage, id?: string): Promise<boolean> => {
    while (!stream.send("run", message, id)) if (!(await stream.flushed())) return false;
    return true;
  };
  /** Sends the whole run, as fast as the tab reads it, then its changes. */
  const show = async (tab: Tab, id: string, after: number | undefined): Promise<void> => {
    const entry = channelFor(id);
    entry.tabs.delete(tab); // stop sending changes to the tab: changes up to now are part of the snapshot
    tab.opening = true;
    tab.missed = false;
    try {
      const channel = await entry.channel;
      if (!tabs.has(tab)) return leave(tab);
      const message = channel.snapshot(after);
      tab.seq = message.log.at(-1)?.seq ?? after ?? 0;
      const pieces = messagePieces(message);
      for (const piece of pieces.slice(0, -1)) {
        if (!(await deliver(tab, piece)) || !(await tab.stream.flushed())) return;
      }
      const last = [pieces.at(-1)!, `${id}:${tab.seq}`] as const;
      if (pieces.length > 1 || !tab.stream.send("run", ...last)) {
        if (!(await deliver(tab, ...last)) || !(await tab.stream.flushed())) return;
        const missed = messageChanges(message, channel.snapshot(tab.seq)); // the changes that were recorded while the tab was reading the snapshot
        const seq = missed.log.at(-1)?.seq ?? tab.seq;
        if (tab.stream.send("run", missed, `${id}:${seq}`)) tab.seq = seq;
        else tab.missed = true;
      }
      entry.tabs.add(tab);
    } catch (error) {
      open.delete(id);
      tab.stream.send("gone", problemOf(error));
    } finally {
      tab.opening = false;
      if (tab.lateList) tab.stream.send("runs", list.snapshot());
      tab.lateList = false;
    }
  };

  return {
    list,
    events: async (run) => {
      const channel = await open.get(run)?.channel.catch(() => undefined);
      return channel?.events() ?? (await crew.kept.records(run)).events;
    },
    connect: (response, { run, after }) => {
      if (tabs.size >= MOST_TABS) return void response.writeHead(503, { "retry-after": "5" }).end();
      const tab: Tab = {
        run,
        seq: after ?? 0,
        opening: false,
        missed: false,
        lateList: false,
        stream: openEventStream(response, {
          caughtUp: () => {
            if (tab.opening) {
              // this tab is still being opened: the state of its run is sent before the list of runs, which can be long
              tab.lateList = true;
              return;
            }
            tab.stream.send("runs", list.snapshot());
            if (run !== undefined && tab.missed) void show(tab, run, tab.seq);
          },
          closed: () => leave(tab),
        }),
      };
      tabs.add(tab);
      tab.stream.send("runs", list.snapshot());
      if (run !== undefined) void show(tab, run, after);
    },
    close: () => {
      over.abort();
      for (const { stream } of tabs) stream.close();
      for (const { channel } of open.values())
        channel.then(
          (one) => one.close(),
          () => {},
        );
    },
  };
}

function problemOf(error: unknown): WebProblem {
  if (!isCrewError(error)) return { code: "UNEXPECTED", message: messageOf(error), hint: "" };
  const { code, message, hint } = error;
  return { code, message, hint };
}
