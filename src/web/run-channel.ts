import type { KeptEvent } from "../core/run/event.ts";
import { isEnded, openQuestions, runStatusOf } from "../core/run/run-status.ts";
import { cutOffAll, emptyState, reduce, type State } from "../core/run/state.ts";
import { CrewError } from "../core/schema/error.ts";
import type { ShownRun } from "../core/view/run-rows.ts";
import type { Crew } from "../crew/crew-type.ts";
import type { KeptRun } from "../runtime/background/kept-run.ts";
import { pause } from "../runtime/async/cancel.ts";
import { atMostEvery } from "../runtime/async/at-most-every.ts";
import { changeSizes, COMPARE_EVERY_MS } from "../crew/follow-runs.ts";
import type { LogLine, RunMessage, TaskRow } from "./client/wire.ts";
import { headOf, logLineOf, taskRowsOf } from "./rows.ts";

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

/** What is known about a run when its channel opens. */
type Opened = Readonly<{
  events: readonly KeptEvent[];
  problems: readonly string[];
  isOwned: boolean;
  /** The status of a run without events, which only the store knows. */
  life: ShownRun["life"] | undefined;
}>;

/** A run that is shown in at least one browser tab. */
export class RunChannel {
  readonly #crew: Crew;
  readonly #id: string;
  readonly #listener: Listener;
  readonly #over = new AbortController();
  readonly #state: State;
  readonly #log: LogLine[] = [];
  /** The rows that the tabs have, as text, and their order. */
  readonly #known = new Map<string, string>();
  #order = "";
  /** The number of the last event of each task. */
  readonly #heard = new Map<string, number>();
  #events: KeptEvent[] | undefined = [];
  #characters = 0;
  #shown: ShownRun;
  /** How many lines of the log the tabs have. */
  #sent = 0;
  #timer: NodeJS.Timeout | undefined;
  #filesChanged = false;
  readonly #compare: () => void;

  /** Reads a run, then applies each new event to its state and reports the changes. Throws for an unknown run. */
  static async open(crew: Crew, id: string, listener: Listener): Promise<RunChannel> {
    // A long journal is read only once. The state of a run without events is looked up separately.
    const { events, problems } = await crew.kept.records(id).catch(() => ({ events: [], problems: [] }));
    const first = events.length > 0 ? undefined : await crew.kept.look(id);
    if (first && (await isDeleted(crew, first))) throw unknownRun(id);
    const owner = first ? first.owner : await crew.kept.owner(id);
    const channel = new RunChannel(crew, id, listener, {
      events,
      problems: first?.problems ?? problems,
      isOwned: owner !== undefined,
      life: first?.life,
    });
    void channel.#follow(events.some(({ type }) => type === "files.changed"));
    void channel.#watchOwner();
    return channel;
  }

  private constructor(crew: Crew, id: string, listener: Listener, opened: Opened) {
    this.#crew = crew;
    this.#id = id;
    this.#listener = listener;
    this.#state = emptyState(id);
    this.#compare = atMostEvery(COMPARE_EVERY_MS, this.#over.signal, () => this.#compareFiles());
    for (const event of opened.events) this.#take(event);
    if (!opened.isOwned) cutOffAll(this.#state);
    this.#sent = this.#log.length;
    const { problems, life = runStatusOf(this.#state, opened.isOwned) } = opened;
    const isDamaged = problems.length > 0 && !isEnded(life);
    this.#shown = { id, state: this.#state, life: isDamaged ? "damaged" : life, problems, diffs: new Map() };
    const rows = this.#rows();
    for (const row of rows) this.#known.set(row.path, JSON.stringify(row));
    this.#order = orderOf(rows);
  }

  shown(): ShownRun {
    return this.#shown;
  }

  /** The events so far; `undefined` when there are too many to keep in memory. */
  events(): readonly KeptEvent[] | undefined {
    return this.#events;
  }

  /** The whole run, for a tab that connects or reconnects. `after` is the last event that the tab has received. */
  snapshot(after: number | undefined): RunMessage {
    const tasks = this.#rows();
    const next = this.#log.slice(0, this.#sent);
    const has = after !== undefined && after > 0 && next.some(({ seq }) => seq === after);
    return {
      full: true,
      head: headOf(this.#shown),
      tasks,
      gone: [],
      order: tasks.map(({ path }) => path),
      log: has ? next.filter(({ seq }) => seq > after) : next.slice(-LOG_LINES),
      continues: has,
    };
  }

  close(): void {
    this.#over.abort();
    clearTimeout(this.#timer);
  }

  #rows(): readonly TaskRow[] {
    return taskRowsOf(this.#shown, this.#heard);
  }

  #take(event: KeptEvent): void {
    reduce(this.#state, event);
    this.#characters += lengthOf(event);
    if (this.#characters > MOST_CHARACTERS || this.#log.length >= MOST_EVENTS) this.#events = undefined;
    this.#events?.push(event);
    this.#log.push(logLineOf(event));
    this.#heard.set(event.path, event.seq);
  }

  /** Reports a change soon. */
  #change(changed?: Partial<ShownRun>): void {
    if (changed) this.#shown = { ...this.#shown, ...changed };
    this.#timer ??= setTimeout(() => this.#report(), EVERY_MS);
  }

  /** Sends what has changed since the last report. */
  #report(): void {
    this.#timer = undefined;
    if (this.#over.signal.aborted) return;
    const rows = this.#rows();
    const paths = new Set(rows.map(({ path }) => path));
    const gone = [...this.#known.keys()].filter((path) => !paths.has(path));
    const tasks = rows.filter((row) => {
      const text = JSON.stringify(row);
      if (this.#known.get(row.path) === text) return false;
      this.#known.set(row.path, text);
      return true;
    });
    for (const path of gone) this.#known.delete(path);
    const isMoved = orderOf(rows) !== this.#order;
    this.#order = orderOf(rows);
    const log = this.#log.slice(this.#sent);
    this.#sent = this.#log.length;
    const order = isMoved ? rows.map(({ path }) => path) : undefined;
    const head = headOf(this.#shown);
    this.#listener.changed({ full: false, head, tasks, gone, order, log, continues: true }, this.#state.seq);
  }

  async #compareFiles(): Promise<void> {
    this.#filesChanged = false;
    const report = await this.#crew.changes(this.#id).catch(() => undefined);
    if (!report || this.#over.signal.aborted) return;
    this.#change({ diffs: changeSizes(report.files) });
  }

  /** Updates the status of the run: it depends on the journal and on whether a process works on the run. */
  async #settle(): Promise<boolean> {
    const { kept } = this.#crew;
    const isOwned = (await kept.owner(this.#id)) !== undefined;
    if (!isOwned) cutOffAll(this.#state);
    // Without events, only the store knows whether the run is about to start.
    const life = this.#state.seq === 0 ? (await kept.look(this.#id)).life : runStatusOf(this.#state, isOwned);
    const staysDamaged = this.#shown.life === "damaged" && !isEnded(life);
    if (life !== this.#shown.life && !staysDamaged) this.#change({ life });
    const answered = isOwned || openQuestions(this.#state).length === 0 ? [] : await kept.answered(this.#id);
    if (answered.length !== (this.#shown.answered?.length ?? 0)) this.#change({ answered });
    return isOwned;
  }

  /** Reads new events, and continues while a process works on the run. */
  async #read(): Promise<void> {
    for await (const event of this.#crew.kept.events(this.#id, this.#over.signal, this.#state.seq)) {
      this.#take(event);
      if (event.type === "files.changed") this.#filesChanged = true;
      if (this.#filesChanged && (event.type === "node.ended" || event.type === "run.ended")) this.#compare();
      const life = runStatusOf(this.#state, true);
      this.#change(life === this.#shown.life ? undefined : { life });
    }
    await this.#settle();
  }

  async #follow(hasChangedFiles: boolean): Promise<void> {
    if (hasChangedFiles) this.#compare();
    let last: number | undefined = -1;
    do {
      try {
        const isOwned = await this.#settle();
        // A journal that no process writes may be long, so it is read again only when its last event has changed.
        const before = last;
        last = isOwned ? -1 : (await this.#crew.kept.last(this.#id).catch(() => undefined))?.seq;
        if (isOwned || last !== before) await this.#read();
      } catch {
        // Fails if the run was deleted or is damaged, or if its journal is not written yet.
        const run = await this.#crew.kept.look(this.#id).catch(() => undefined);
        if (this.#over.signal.aborted || !run) continue;
        if (await isDeleted(this.#crew, run).catch(() => false)) return this.#listener.deleted(unknownRun(this.#id));
        this.#change({ life: run.life, problems: run.problems });
      }
    } while (await pause(LOOK_EVERY_MS, this.#over.signal));
  }

  /**
   * Watches for a process that takes over the run while its journal is followed: it may work for long before its first
   * event.
   */
  async #watchOwner(): Promise<void> {
    while (await pause(LOOK_EVERY_MS, this.#over.signal)) await this.#settle().catch(() => false);
  }
}

const orderOf = (rows: readonly TaskRow[]): string => rows.map(({ path }) => path).join("\n");

const unknownRun = (id: string): CrewError =>
  new CrewError("UNKNOWN_RUN", `The run "${id}" does not exist.`, "Choose a run from the list of runs.");

const isDeleted = async (crew: Crew, run: KeptRun): Promise<boolean> =>
  run.problems.length > 0 && !(await crew.runs()).includes(run.id);

/** The approximate size of an event in memory, in characters. */
function lengthOf(event: KeptEvent): number {
  const texts = [
    "text" in event ? event.text : "",
    "prompt" in event ? event.prompt : "",
    event.type === "turn.ended" ? JSON.stringify(event.calls) : "",
  ];
  return texts.reduce((sum, text) => sum + (typeof text === "string" ? text.length : 0), 200);
}
