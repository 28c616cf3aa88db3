import type { Answer } from "../core/plan/gate.ts";
import type { KeptEvent } from "../core/run/event.ts";
import { doneWith, queued, type Receipt, refusedWith, type RunCommand } from "../core/run/run-command.ts";
import { type Result, resultOf } from "../core/run/result.ts";
import { isEnded } from "../core/run/run-status.ts";
import type { RunStore } from "../core/run/run-store.ts";
import type { Change } from "../core/schedule/change.ts";
import { CrewError, isCrewError } from "../core/schema/error.ts";
import { defined } from "../core/text/defined.ts";
import { cancelRun, cancelTask } from "../runtime/background/cancel-run.ts";
import { tooLate } from "../runtime/background/handle-command.ts";
import { killRun } from "../runtime/background/kill-run.ts";
import type { KeptRun } from "../runtime/background/kept-run.ts";
import { type KeptRuns, keptRuns } from "../runtime/background/stored-runs.ts";
import { taskToResume } from "../runtime/resume/resume-run.ts";
import type { Run } from "../runtime/run/run.ts";
import type { BackgroundRun } from "./background.ts";
import type { ResumeOptions } from "./prepare/run-options.ts";
import type { ChangeReport, ChangeSelection } from "./run-changes.ts";
import type { UndoneFile } from "../runtime/changes/undo-changes.ts";

/** What a handle needs of its crew. */
export type HandleParts = Readonly<{
  store: RunStore;
  resume(id: string, options?: ResumeOptions): Run;
  resumeInBackground(id: string, options?: ResumeOptions): Promise<BackgroundRun>;
  changes(id: string, selection?: ChangeSelection): Promise<ChangeReport>;
  undo(
    id: string,
    options?: ChangeSelection & Readonly<{ dryRun?: boolean }>,
  ): Promise<readonly (UndoneFile & Readonly<{ name: string }>)[]>;
}>;

/** The question that an answer is about, so that it cannot answer a later one by mistake. */
export type AskedAbout = Readonly<{ question?: string | undefined; call?: string | undefined }>;

/** How an action may continue a run: in this process, or in one that outlives it. */
export type ContinueHow = Readonly<{ background?: boolean }> & ResumeOptions;

/** How long an action waits until the process of the run has confirmed it. */
const REPLY_MS = 10_000;
/** How long a run may take to stop or to end. */
const STOP_MS = 15_000;

/**
 * A run, wherever it runs: in this process, in another one, on an engine, or ended long ago. Nothing is read before the
 * first use; then an unknown run is the error `UNKNOWN_RUN`.
 */
export class RunHandle implements PromiseLike<Result>, AsyncIterable<KeptEvent> {
  readonly id: string;
  readonly #parts: HandleParts;
  readonly #kept: KeptRuns;
  /** Ends what this handle waits for and shows, not the run. */
  readonly #signal: AbortSignal;

  constructor(id: string, parts: HandleParts, { signal }: Readonly<{ signal?: AbortSignal | undefined }> = {}) {
    this.id = id;
    this.#parts = parts;
    this.#kept = keptRuns(parts.store);
    this.#signal = signal ?? new AbortController().signal;
  }

  /** The run as it is now. */
  async look(): Promise<KeptRun> {
    const run = await this.#kept.look(this.id);
    const { store } = this.#parts;
    if (run.state.seq > 0 || run.background || run.owner !== undefined || (await store.isAnnounced(this.id)))
      return run;
    if ((await store.list()).includes(this.id)) return run; // its journal cannot be read
    throw new CrewError("UNKNOWN_RUN", `The run "${this.id}" does not exist.`, "`subcrew runs` lists the runs.");
  }

  /** The recorded events, then each new one, as long as a process works on the run. */
  async *[Symbol.asyncIterator](): AsyncGenerator<KeptEvent, void> {
    await this.look();
    yield* this.#kept.events(this.id, this.#signal);
  }

  /**
   * The result once no process works on the run; of a run that has not ended, what there is, with the status `paused`.
   * Rejects with the reason of the handle's signal if that aborts first.
   */
  async result(): Promise<Result> {
    await this.look();
    const { state, owner } = await this.#kept.ended(this.id, this.#signal);
    if (owner !== undefined && state.endedAt === undefined) this.#signal.throwIfAborted();
    return state.outcome ? resultOf(state) : { ...resultOf(state), status: "paused" };
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a run is awaited for its result
  then<A = Result, B = never>(
    yes?: ((result: Result) => A | PromiseLike<A>) | null,
    no?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.result().then(yes, no);
  }

  /** Answers a gate or a question of a task. */
  answer(path: string, answer: Answer, { question, call }: AskedAbout = {}): Promise<Receipt> {
    return this.#tell(
      { do: "answer", path, answer, ...defined({ question, call }) },
      `The answer is saved until the run is resumed: subcrew resume ${this.id}`,
    );
  }

  /** Sends a message to a task, which reads it before its next turn or is interrupted for it. */
  send(path: string, text: string, how: "steer" | "interrupt" = "steer"): Promise<Receipt> {
    return this.#tell(
      { do: "send", path, text, from: "the user", how },
      "The message is queued; the task reads it when the run continues.",
    );
  }

  /** Changes the plan: new tasks, other dependencies, cancelled tasks. */
  change(change: Change): Promise<Receipt> {
    return this.#tell(
      { do: "change", change: change as Extract<RunCommand, { do: "change" }>["change"] },
      "The change is queued; it takes effect when the run continues.",
    );
  }

  /** Pauses the run, and waits until its process has let it go. */
  async pause(reason = "stopped by the user"): Promise<Receipt> {
    const { owner, life } = await this.look();
    // Disowns an interrupted run of an engine; otherwise a worker would resume it.
    const isHeldBack = life === "interrupted" && (await this.#kept.disown(this.id));
    if (owner === undefined && !isHeldBack) return this.#notRunning(life);
    const over = this.#within(STOP_MS);
    if (owner !== undefined) await this.#kept.tell(this.id, { do: "pause", reason }, { waitMs: 1_000, signal: over });
    const after = await this.#kept.ended(this.id, over);
    return after.owner === undefined || after.life === "paused" || isEnded(after.life)
      ? doneWith(`${this.id} is ${after.life}.`)
      : noReply(`${this.id} has not stopped yet.`);
  }

  /** Ends the run, or one task of it, for good. */
  async cancel({ task, reason = "cancelled by the user" }: { task?: string; reason?: string } = {}): Promise<Receipt> {
    const { life } = await this.look();
    if (isEnded(life)) return refusedWith("RUN_ENDED", `The run "${this.id}" has ended (${life}).`);
    const asked = { id: this.id, reason, signal: this.#within(STOP_MS) };
    if (task !== undefined)
      return (
        (await cancelTask({ kept: this.#kept }, { ...asked, path: task })) ??
        noReply(`${this.id} has not confirmed the cancellation yet.`)
      );
    const after = await cancelRun({ kept: this.#kept, resume: this.#parts.resume }, asked);
    return isEnded(after) ? doneWith(`${this.id} is ${after}.`) : noReply(`${this.id} has not ended yet.`);
  }

  /** Ends the work on the run at once, as if its process had died. */
  async kill(): Promise<Receipt> {
    const run = await this.look();
    return (await killRun(this.#kept, run, this.#signal)) ?? this.#notRunning(run.life);
  }

  /** Retries failed tasks: of a running run there, of any other by resuming it. */
  async retry(task?: string, how: ContinueHow = {}): Promise<Receipt> {
    const run = await this.look();
    if (run.owner === undefined) return this.#goOn(run, { ...how, retryFailed: true, ...defined({ task }) });
    return this.#tell({ do: "retry", ...defined({ path: task }) }, `The process of ${this.id} has not answered yet.`);
  }

  /** Resumes the run, or one task of it with the tasks that depend on it. */
  async resume(how: ContinueHow & Readonly<{ task?: string }> = {}): Promise<Receipt> {
    const run = await this.look();
    if (run.owner !== undefined) return refusedWith("MOVED", `Another process is working on the run "${this.id}".`);
    return this.#goOn(run, how);
  }

  changes(selection?: ChangeSelection): Promise<ChangeReport> {
    return this.#parts.changes(this.id, selection);
  }

  undo(options?: ChangeSelection & Readonly<{ dryRun?: boolean }>): ReturnType<HandleParts["undo"]> {
    return this.#parts.undo(this.id, options);
  }

  async #goOn(
    { life, state }: KeptRun,
    { background = false, ...options }: ContinueHow & Readonly<{ task?: string }>,
  ): Promise<Receipt> {
    const { task, retryFailed = false } = options;
    if (isEnded(life) && !(life === "failed" && retryFailed)) return this.#notRunning(life);
    try {
      if (task !== undefined) taskToResume(state, task, { retryFailed });
    } catch (error) {
      if (!isCrewError(error)) throw error;
      const code = error.code === "UNKNOWN_RUN" ? "UNKNOWN_TASK" : "NOT_RUNNING";
      return refusedWith(code, [error.message, error.hint].filter(Boolean).join(" "));
    }
    if (background) await this.#parts.resumeInBackground(this.id, options);
    else this.#parts.resume(this.id, options).then(undefined, () => {});
    return doneWith(`${this.id} was resumed.`);
  }

  /** Sends a command to the process of the run; `saved`: what becomes of it if there is none. */
  async #tell(command: RunCommand, saved: string): Promise<Receipt> {
    const { owner, life, state } = await this.look();
    if (isEnded(life)) return tooLate(command, state); // nothing would read a command that waits
    const isOwned = owner !== undefined;
    const receipt = await this.#kept.tell(this.id, command, {
      waitMs: isOwned ? REPLY_MS : 0,
      signal: this.#signal,
    });
    return receipt ?? (isOwned ? noReply("The run has not confirmed it yet.") : queued(saved));
  }

  #notRunning(life: KeptRun["life"]): Receipt {
    return isEnded(life)
      ? refusedWith("RUN_ENDED", `The run "${this.id}" has ended (${life}).`)
      : refusedWith("NOT_RUNNING", `The run "${this.id}" is ${life}: no process is running it.`);
  }

  #within(ms: number): AbortSignal {
    return AbortSignal.any([this.#signal, AbortSignal.timeout(ms)]);
  }
}

const noReply = (text: string): Receipt => ({ state: "queued", code: "NO_REPLY", text });
