import type { ServerResponse } from "node:http";
import type { KeptEvent } from "../core/run/event.ts";
import { isCrewError, messageOf } from "../core/schema/error.ts";
import type { Crew } from "../crew/crew-type.ts";
import type { RunMessage, WebProblem } from "./client/wire.ts";
import { type EventStream, openEventStream } from "./event-stream.ts";
import { messageChanges, messagePieces } from "./message-pieces.ts";
import { RunChannel } from "./run-channel.ts";
import { openRunList, type RunList } from "./run-list.ts";

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

/** All open browser tabs, and the runs that they show. */
export class Hub {
  readonly #crew: Crew;
  readonly #over: AbortController;
  readonly #tabs: Set<Tab>;
  readonly #open = new Map<string, Open>();
  readonly list: RunList;

  static async open(crew: Crew): Promise<Hub> {
    const over = new AbortController();
    const tabs = new Set<Tab>();
    const list = await openRunList(crew, {
      signal: over.signal,
      changed: (message) => {
        for (const { stream } of tabs) stream.send("runs", message);
      },
    });
    return new Hub(crew, list, tabs, over);
  }

  private constructor(crew: Crew, list: RunList, tabs: Set<Tab>, over: AbortController) {
    this.#crew = crew;
    this.#tabs = tabs;
    this.#over = over;
    this.list = list;
  }

  /** The events of a run: from memory when a tab shows the run, otherwise from disk. */
  async events(run: string): Promise<readonly KeptEvent[]> {
    const channel = await this.#open.get(run)?.channel.catch(() => undefined);
    return channel?.events() ?? (await this.#crew.kept.records(run)).events;
  }

  /** Serves one tab until it disconnects. `after` is the last event of the run that the tab has received. */
  connect(
    response: ServerResponse,
    { run, after }: Readonly<{ run: string | undefined; after: number | undefined }>,
  ): void {
    if (this.#tabs.size >= MOST_TABS) return void response.writeHead(503, { "retry-after": "5" }).end();
    const tab: Tab = {
      run,
      seq: after ?? 0,
      opening: false,
      missed: false,
      lateList: false,
      stream: openEventStream(response, {
        caughtUp: () => this.#catchUp(tab),
        closed: () => this.#leave(tab),
      }),
    };
    this.#tabs.add(tab);
    tab.stream.send("runs", this.list.snapshot());
    if (run !== undefined) void this.#show(tab, run, after);
  }

  close(): void {
    this.#over.abort();
    for (const { stream } of this.#tabs) stream.close();
    for (const { channel } of this.#open.values()) closeWhenOpen(channel);
  }

  /** Sends what a tab missed while it was too slow. */
  #catchUp(tab: Tab): void {
    if (tab.opening) {
      tab.lateList = true; // the state of its run is sent before the list of runs, which can be long
      return;
    }
    tab.stream.send("runs", this.list.snapshot());
    if (tab.run !== undefined && tab.missed) void this.#show(tab, tab.run, tab.seq);
  }

  #channelFor(id: string): Open {
    const known = this.#open.get(id);
    if (known) return known;
    const entry: Open = {
      tabs: new Set(),
      channel: RunChannel.open(this.#crew, id, {
        changed: (message, seq) => {
          for (const tab of entry.tabs)
            if (tab.stream.send("run", message, `${id}:${seq}`)) tab.seq = seq;
            else tab.missed = true;
        },
        deleted: (error) => {
          if (this.#open.get(id) === entry) this.#open.delete(id);
          for (const tab of entry.tabs) if (!tab.stream.send("gone", problemOf(error))) tab.missed = true;
        },
      }),
    };
    this.#open.set(id, entry);
    return entry;
  }

  #leave(tab: Tab): void {
    this.#tabs.delete(tab);
    const entry = tab.run === undefined ? undefined : this.#open.get(tab.run);
    entry?.tabs.delete(tab);
    if (tab.run === undefined || !entry || entry.tabs.size > 0) return;
    this.#open.delete(tab.run);
    closeWhenOpen(entry.channel);
  }

  /** Sends the whole run, as fast as the tab reads it, then its changes. */
  async #show(tab: Tab, id: string, after: number | undefined): Promise<void> {
    const entry = this.#channelFor(id);
    entry.tabs.delete(tab); // stop sending changes to the tab: changes up to now are part of the snapshot
    tab.opening = true;
    tab.missed = false;
    try {
      const channel = await entry.channel;
      if (!this.#tabs.has(tab)) return this.#leave(tab);
      if (await sendRun(tab, id, channel, after)) entry.tabs.add(tab);
    } catch (error) {
      this.#open.delete(id);
      tab.stream.send("gone", problemOf(error));
    } finally {
      tab.opening = false;
      if (tab.lateList) tab.stream.send("runs", this.list.snapshot());
      tab.lateList = false;
    }
  }
}

/** Sends the whole run in pieces. Returns false when the tab has disconnected. */
async function sendRun(tab: Tab, id: string, channel: RunChannel, after: number | undefined): Promise<boolean> {
  const message = channel.snapshot(after);
  tab.seq = message.log.at(-1)?.seq ?? after ?? 0;
  const pieces = messagePieces(message);
  for (const piece of pieces.slice(0, -1))
    if (!(await deliver(tab, piece)) || !(await tab.stream.flushed())) return false;
  const last = [pieces.at(-1)!, `${id}:${tab.seq}`] as const;
  if (pieces.length === 1 && tab.stream.send("run", ...last)) return true;
  if (!(await deliver(tab, ...last)) || !(await tab.stream.flushed())) return false;
  const missed = messageChanges(message, channel.snapshot(tab.seq)); // the changes that were recorded while the tab was reading the snapshot
  const seq = missed.log.at(-1)?.seq ?? tab.seq;
  if (tab.stream.send("run", missed, `${id}:${seq}`)) tab.seq = seq;
  else tab.missed = true;
  return true;
}

/** Sends a message as soon as the tab can receive it. Returns false when the tab has disconnected. */
async function deliver({ stream }: Tab, message: RunMessage, id?: string): Promise<boolean> {
  while (!stream.send("run", message, id)) if (!(await stream.flushed())) return false;
  return true;
}

function closeWhenOpen(channel: Promise<RunChannel>): void {
  channel.then(
    (one) => one.close(),
    () => {},
  );
}

function problemOf(error: unknown): WebProblem {
  if (!isCrewError(error)) return { code: "UNEXPECTED", message: messageOf(error), hint: "" };
  const { code, message, hint } = error;
  return { code, message, hint };
}
