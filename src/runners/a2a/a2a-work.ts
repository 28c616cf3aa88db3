import {
  extractMessageText,
  extractTaskText,
  foldRemote,
  isFinal,
  isOver,
  nextIds,
  type RemoteAnswer,
  type RemoteIds,
  type RemoteTask,
  type RemoteUpdate,
} from "../../core/net/a2a.ts";
import { pause } from "../../runtime/async/cancel.ts";
import { isPassing, remoteFailure } from "./a2a-fault.ts";
import type { Outgoing, RemoteClient } from "./a2a-sdk.ts";

/** The first and the longest polling interval for a remote task without streaming. */
const FIRST_LOOK_MS = 250;
const LAST_LOOK_MS = 5_000;
/** Maximum number of failed polls in a row. */
const MOST_MISSES = 5;
/** After this number of polls that return the question that was just answered, it counts as asked again. */
const MOST_REPEATS = 5;
/** Timeout for cancelling a task at the remote agent. */
const CANCEL_MS = 5_000;

/** Callbacks for the progress of a remote task. */
export type WorkListener = Readonly<{
  /** The remote agent has named the task that it works on. */
  joined(ids: RemoteIds): void;
  text(text: string): void;
  /** The remote task waits for a sign-in at its own server. */
  waits(text: string): void;
}>;

/** The work of a remote agent on one task: sends messages to it and reads until it is settled. */
export class RemoteWork {
  readonly #client: RemoteClient;
  readonly #signal: AbortSignal;
  readonly #listener: WorkListener;
  #ids: RemoteIds;
  #answer: RemoteAnswer | undefined;
  /** The last question that was answered: its task may still be sent with it. */
  #answered: string | undefined;

  constructor(client: RemoteClient, ids: RemoteIds, { signal, ...listener }: WorkListener & { signal: AbortSignal }) {
    this.#client = client;
    this.#ids = ids;
    this.#signal = signal;
    this.#listener = listener;
  }

  get ids(): RemoteIds {
    return this.#ids;
  }

  get host(): string {
    return new URL(this.#client.card.url).host;
  }

  /** Sends a message, and reads the answers until the stream ends. */
  async send(message: Omit<Outgoing, keyof RemoteIds>): Promise<void> {
    this.#answered = this.#answer && questionIn(this.#answer);
    this.#answer = undefined;
    const updates = this.#client.send({ ...this.#ids, ...message }, this.#signal);
    await this.#take(updates, () => true).catch((error: unknown) => {
      if (this.#signal.aborted || this.#answer?.kind !== "task") throw error;
      // The connection failed, but the remote task continues, so the error is ignored.
    });
  }

  /** Reads the state of a task that an earlier process sent. */
  async read(): Promise<void> {
    this.#answer = await this.#client.get(this.#ids.taskId ?? "", this.#signal);
  }

  /** Waits until the remote task is over or asks: by streaming if supported, else by polling. */
  async settled(): Promise<RemoteAnswer> {
    await this.#follow();
    if (!this.#answer)
      throw remoteFailure(
        "REMOTE_FAILED",
        "the remote agent returned no answer",
        "Report the failure to the operator of the remote agent.",
      );
    this.#ids = nextIds(this.#ids, this.#answer);
    return this.#answer;
  }

  /** Cancels the remote task; `undefined` when there is nothing to cancel. */
  cancel(): Promise<unknown> | undefined {
    const { taskId } = this.#ids;
    if (taskId === undefined || (this.#answer?.kind === "task" && isOver(this.#answer.status.state))) return undefined;
    return this.#client.cancel(taskId, AbortSignal.timeout(CANCEL_MS)).catch(() => {});
  }

  async #follow(): Promise<void> {
    let told = false;
    let misses = 0;
    let repeats = 0;
    for (let ms = FIRST_LOOK_MS; ; ms = Math.min(ms * 2, LAST_LOOK_MS)) {
      const answer = this.#answer;
      if (answer?.kind !== "task" || isSettled(answer)) return;
      if (answer.status.state === "auth-required" && !told) {
        told = true;
        this.#listener.waits(extractTaskText(answer));
      }
      if (this.#client.card.streaming) await this.#listen(answer.id).catch(() => {}); // if streaming fails, the task is polled
      if (isSettled(this.#answer)) return;
      try {
        const task = await this.#client.get(answer.id, this.#signal);
        const now = this.#unlessAnswered(task);
        if (now !== task) repeats += 1;
        this.#answer = repeats >= MOST_REPEATS ? task : now;
        misses = 0;
      } catch (error) {
        misses += 1;
        if (this.#signal.aborted || misses >= MOST_MISSES || !isPassing(error)) throw error;
      }
      if (isSettled(this.#answer)) return;
      if (!(await pause(ms, this.#signal))) throw this.#signal.reason;
    }
  }

  #listen(id: string): Promise<void> {
    return this.#take(this.#client.listen(id, this.#signal), (task) => questionIn(task) === this.#answered);
  }

  /**
   * Handles all updates of a stream until it ends. A stream begins with the task as it was before the message, so a
   * question in that task ends nothing: it may be the one that was just answered.
   */
  async #take(updates: AsyncIterable<RemoteUpdate>, isOld: (task: RemoteTask) => boolean): Promise<void> {
    let isFirst = true;
    let old: RemoteTask | undefined;
    try {
      for await (const update of updates) {
        old = isFirst && update.kind === "task" && asks(update) && isOld(update) ? update : undefined;
        isFirst = false;
        this.#fold(update);
        if (!old && isSettled(this.#answer)) return; // a server may keep the stream open after the end
      }
    } finally {
      if (old) this.#answer = this.#unlessAnswered(old);
    }
  }

  #fold(update: RemoteUpdate): void {
    const known = this.#ids;
    this.#answer = foldRemote(this.#answer, update);
    this.#ids = nextIds(known, this.#answer);
    if (known.taskId !== this.#ids.taskId && this.#ids.taskId !== undefined) this.#listener.joined(this.#ids);
    this.#listener.text(newText(update));
  }

  /** A task as it is now; with the question that was just answered, its state is unknown. */
  #unlessAnswered(task: RemoteTask): RemoteTask {
    return asks(task) && questionIn(task) === this.#answered ? { ...task, status: { state: "unknown" } } : task;
  }
}

/** True when there is nothing to wait for: the remote task is over, or it waits for an answer. */
function isSettled(answer: RemoteAnswer | undefined): boolean {
  return answer === undefined || isFinal(answer) || asks(answer);
}

const asks = (answer: RemoteAnswer): boolean => answer.kind === "task" && answer.status.state === "input-required";

/** Identifies the question that a remote task waits with. */
const questionIn = (answer: RemoteAnswer): string | undefined =>
  answer.kind === "task" && asks(answer) ? extractMessageText(answer.status.message) : undefined;

function newText(update: RemoteUpdate): string {
  switch (update.kind) {
    case "message":
      return extractMessageText(update);
    case "task":
      return "";
    case "status-update":
      // each status message ends with a newline
      return extractMessageText(update.status.message).replace(/(?<=[^\n])$/, "\n");
    case "artifact-update":
      return extractMessageText(update.artifact);
  }
}
