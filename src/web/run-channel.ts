import type { KeptEvent } from "../core/run/event.ts";
import { isEnded, openQuestions, runStatusOf } from "../core/run/run-status.ts";
import { cutOffAll, emptyState, reduce } from "../core/run/state.ts";
import { CrewError } from "../core/schema/error.ts";
import type { ShownRun } from "../core/view/run-rows.ts";
import type { Crew } from "../crew.ts";
import type { KeptRun } from "../runtime/background/stored-runs.ts";
import { pause } from "../runtime/async/cancel.ts";
import { atMostEvery } from "../runtime/async/at-most-every.ts";
import { changeSizes, COMPARE_EVERY_MS } from "../crew/follow-runs.ts";
import type { LogLine, RunMessage, TaskRow } from "./client/wire.ts";
import { headOf, logLineOf, taskRowsOf } from "./rows.ts";

/** A run that is shown in at least one browser tab. */
export type RunChannel = Readonly<{
  /** The whole run, for a tab that connects or reconnects. `after` is the last event that the tab has received. */
  snapshot(after: number | undefined): RunMessage;
  shown(): ShownRun;
  /** The events so far; `undefined` when there are too many to keep in memory. */
  events(): readonly KeptEvent[] | undefined;
  close(): void;
}>;

/** The shortest time between two updates of the page. */
const EVERY_MS = 100;
/** How often a run without a process is checked. */
const LOOK_EVERY_MS = 1_000;
/**
 * The maximum number of events, and of characters in them, that are kept in memory. Transcripts of a run with more are
 * read from disk.
 */
const MOST_EVENTS = 100_000;
const MOST_CHARACTERS = 32 * 2 ** 20;
/** The number of log lines in the first snapshot of a run. */
export const LOG_LINES = 500;

type Listener = Readonly<{
  changed(message: RunMessage, seq: number): void;
  /** Called when the run was deleted. Nothing else is reported afterwards. */
  deleted(error: CrewError): void;
}>;

/** Reads a run, then applies each new event to its state and reports the changes. Throws for an unknown run. */
export async function openRunChannel(crew: Crew, id: string, { changed, deleted }: Listener): Promise<RunChannel> {
  const over = new AbortController();
  const state = emptyState(id);
  const log: LogLine[] = [];
  const known = new Map<string, string>();
  /** The number of the last event of each task. */
  const heard = new Map<string, number>();
  // A long journal is read only once. The state of a run without events is looked up separately.
  const records = await crew.kept.records(id).catch(() => ({ events: [], problems: [] }));
  const first = records.events.length > 0 ? undefined : await crew.kept.look(id);
  const isDeleted = async (run: KeptRun): Promise<boolean> =>
    run.problems.length > 0 && !(await crew.runs()).includes(id);
  const unknown = (): CrewError =>
    new CrewError("UNKNOWN_RUN", `The run "${id}" does not exist.`, "Choose a run from the list of runs.");
  if (first && (await isDeleted(first))) throw unknown();
  const owner = first ? first.owner : await crew.kept.owner(id);
  const problems = first?.problems ?? records.problems;
  let order = "";
  let sent = 0;
  let timer: NodeJS.Timeout | undefined;

  let events: KeptEvent[] | undefined = [];
  let characters = 0;
  const take = (event: KeptEvent): void => {
    reduce(state, event);
    characters += lengthOf(event);
    if (characters > MOST_CHARACTERS || log.length >= MOST_EVENTS) events = undefined;
    events?.push(event);
    log.push(logLineOf(event));
    heard.set(event.path, event.seq);
  };
  for (const event of records.events) take(event);
  if (owner === undefined) cutOffAll(state);
  sent = log.length;
  const life = first?.life ?? runStatusOf(state, owner !== undefined);
  const damaged = problems.length > 0 && !isEnded(life);
  let shown: ShownRun = { id, state, life: damaged ? "damaged" : life, problems, diffs: new Map() };

  const rows = (): readonly TaskRow[] => taskRowsOf(shown, heard);
  const remember = (all: readonly TaskRow[]): void => {
    known.clear();
    for (const row of all) known.set(row.path, JSON.stringify(row));
    order = all.map(({ path }) => path).join("\n");
  };
  remember(rows());

  const tell = (): void => {
    timer = undefined;
    if (over.signal.aborted) return;
    const all = rows();
    const paths = new Set(all.map(({ path }) => path));
    const gone = [...known.keys()].filter((path) => !paths.has(path));
    const tasks = all.filter((row) => {
      const text = JSON.stringify(row);
      if (known.get(row.path) === text) return false;
      known.set(row.path, text);
      return true;
    });
    for (const path of gone) known.delete(path);
    const next = all.map(({ path }) => path);
    const moved = next.join("\n") !== order;
    order = moved ? next.join("\n") : order;
    const lines = log.slice(sent);
    sent = log.length;
    changed(
      { full: false, head: headOf(shown), tasks, gone, order: moved ? next : undefined, log: lines, continues: true },
      state.seq,
    );
  };
  const soon = (): void => {
    timer ??= setTimeout(tell, EVERY_MS);
  };
  let filesChanged = false;
  const compare = atMostEvery(COMPARE_EVERY_MS, over.signal, async () => {
    filesChanged = false;
    const report = await crew.changes(id).catch(() => undefined);
    if (!report || over.signal.aborted) return;
    shown = { ...shown, diffs: changeSizes(report.files) };
    soon();
  });
  /** Updates the status of the run: it depends on the journal and on whether a process works on the run. */
  const settle = async (): Promise<boolean> => {
    const owned = (await crew.kept.owner(id)) !== undefined;
    if (!owned) cutOffAll(state);
    // Without events, only the store knows whether the run is about to start.
    const life = state.seq === 0 ? (await crew.kept.look(id)).life : runStatusOf(state, owned);
    if (life !== shown.life && !(shown.life === "damaged" && !isEnded(life))) {
      shown = { ...shown, life };
      soon();
    }
    const answered = owned || openQuestions(state).length === 0 ? [] : await crew.kept.answered(id);
    if (answered.length !== (shown.answered?.length ?? 0)) {
      shown = { ...shown, answered };
      soon();
    }
    return owned;
  };
  /** Reads new events, and continues while a process works on the run. */
  const read = async (): Promise<void> => {
    for await (const event of crew.kept.events(id, over.signal, state.seq)) {
      take(event);
      const life = runStatusOf(state, true);
      if (life !== shown.life) shown = { ...shown, life };
      if (event.type === "files.changed") filesChanged = true;
      if (filesChanged && (event.type === "node.ended" || event.type === "run.ended")) compare();
      soon();
    }
    await settle();
  };

  const follow = async (): Promise<void> => {
    if (records.events.some(({ type }) => type === "files.changed")) compare();
    let last: number | undefined = -1;
    do {
      try {
        const owned = await settle();
        // A journal that no process writes may be long, so it is read again only when its last event has changed.
        const before = last;
        last = owned ? -1 : (await crew.kept.last(id).catch(() => undefined))?.seq;
        if (owned || last !== before) await read();
      } catch {
        // Fails if the run was deleted or is damaged, or if its journal is not written yet.
        const run = await crew.kept.look(id).catch(() => undefined);
        if (over.signal.aborted || !run) continue;
        if (await isDeleted(run).catch(() => false)) return deleted(unknown());
        shown = { ...shown, life: run.life, problems: run.problems };
        soon();
      }
    } while (await pause(LOOK_EVERY_MS, over.signal));
  };
  /**
   * Watches for a process that takes over the run while its journal is followed: it may work for long before its first
   * event.
   */
  const watchOwner = async (): Promise<void> => {
    while (await pause(LOOK_EVERY_MS, over.signal)) await settle().catch(() => false);
  };
  void follow();
  void watchOwner();

  return {
    shown: () => shown,
    events: () => events,
    snapshot: (after) => {
      const all = rows();
      const next = log.slice(0, sent);
      const has = after !== undefined && after > 0 && next.some(({ seq }) => seq === after);
      return {
        full: true,
        head: headOf(shown),
        tasks: all,
        gone: [],
        order: all.map(({ path }) => path),
        log: has ? next.filter(({ seq }) => seq > after) : next.slice(-LOG_LINES),
        continues: has,
      };
    },
    close: () => {
      over.abort();
      clearTimeout(timer);
    },
  };
}

/** The approximate size of an event in memory, in characters. */
function lengthOf(event: KeptEvent): number {
  const texts = [
    "text" in event ? event.text : "",
    "prompt" in event ? event.prompt : "",
    event.type === "turn.ended" ? JSON.stringify(event.calls) : "",
  ];
  return texts.reduce((sum, text) => sum + (typeof text === "string" ? text.length : 0), 200);
}
