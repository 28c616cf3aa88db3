import { budgetSpent } from "../../core/run/budget-spent.ts";
import type { Delta, Event, Fact, KeptEvent } from "../../core/run/event.ts";
import type { Journal } from "../../core/run/run-store.ts";
import type { Engine } from "../../core/task/engine.ts";
import { defined } from "../../core/text/defined.ts";
import { measureJumps, steadyClock } from "../async/steady-clock.ts";
import { orderDeltas } from "./ordered-deltas.ts";

/** The functions that a log calls. */
export type LogListener = Readonly<{
  publish(event: Event): void;
  /** Called with events that are now safely stored. */
  stored(events: readonly KeptEvent[]): void;
  /** Called when writing failed permanently: the run has to stop. */
  lost(error: Error): void;
}>;

type LogParts = Readonly<{
  journal: Journal;
  past: readonly KeptEvent[];
  ordered: ReturnType<typeof orderDeltas>;
  clock(): number;
  /** The error with which writing failed permanently. */
  lost: Readonly<{ error?: Error }>;
}>;

/**
 * The events of one run: numbers them, gives each its time, writes them to the journal, and publishes them in order
 * once they are stored. Live text is only published.
 */
export class RunLog {
  /** The events that earlier processes recorded. */
  readonly past: readonly KeptEvent[];
  readonly #run: string;
  readonly #journal: Journal;
  readonly #ordered: ReturnType<typeof orderDeltas>;
  readonly #timeOf: () => number;
  readonly #lost: Readonly<{ error?: Error }>;
  readonly #jumpBefore = measureJumps();
  #spent: ReturnType<typeof budgetSpent> | undefined;
  #seq: number;
  #sealed = false;

  /** Opens the journal of a run, which this process owns from then on. */
  static async open(
    run: string,
    { engine, clock }: Readonly<{ engine: Pick<Engine, "journal">; clock(): number }>,
    { publish, stored, lost: stop }: LogListener,
  ): Promise<RunLog> {
    const ordered = orderDeltas(publish);
    const lost: { error?: Error } = {};
    const journal = await engine.journal(run, {
      kept: (events) => {
        for (const event of events) ordered.kept(event);
        stored(events);
      },
      lost: (error) => {
        lost.error = error;
        stop(error);
      },
    });
    return new RunLog(run, { journal, past: await journal.read(), ordered, clock, lost });
  }

  private constructor(run: string, { journal, past, ordered, clock, lost }: LogParts) {
    this.#run = run;
    this.#journal = journal;
    this.#ordered = ordered;
    this.#lost = lost;
    this.past = past;
    this.#seq = past.length;
    this.#timeOf = steadyClock(clock, past.at(-1)?.at);
  }

  /** What the run used before this process, and how long its tasks worked. */
  get spent(): ReturnType<typeof budgetSpent> {
    return (this.#spent ??= budgetSpent(this.past));
  }

  /** Problems that were found when the journal was opened. */
  get problems(): readonly string[] {
    return this.#journal.problems;
  }

  /** True: nothing more is recorded. */
  get isSealed(): boolean {
    return this.#sealed;
  }

  readonly emit = (path: string, fact: Fact): void => {
    if (this.#sealed) return;
    this.#seq += 1;
    const seq = this.#seq;
    this.#ordered.appended(path, seq);
    const at = this.#timeOf();
    this.#journal.append({ seq, run: this.#run, path, at, ...defined({ jumped: this.#jumpBefore(at) }), ...fact });
  };

  readonly live = (path: string, delta: Delta): void => {
    if (!this.#sealed) this.#ordered.live({ run: this.#run, path, at: this.#timeOf(), ...delta });
  };

  /** Resolves once everything emitted so far is safely stored. */
  readonly durable = async (): Promise<void> => {
    if (this.#lost.error) throw this.#lost.error;
    await this.#journal.durable();
  };

  /** All events, those of this process included. */
  async read(): Promise<readonly KeptEvent[]> {
    await this.#journal.durable();
    return this.#journal.read();
  }

  /** Starts writing now instead of at the end of the event loop's turn. */
  hasten(): void {
    this.#journal.hasten?.();
  }

  /** Ends the log: whatever is emitted later is discarded. */
  seal(): void {
    this.#sealed = true;
  }

  /** Gives up the ownership of the run. */
  async close(): Promise<void> {
    this.seal();
    await this.#journal.close();
  }
}
