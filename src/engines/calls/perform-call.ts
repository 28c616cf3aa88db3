import { randomBytes } from "node:crypto";
import { type FailedOutcome, failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import type { Job } from "../../core/task/job.ts";
import { choosePlace, type WorkerClass } from "../../core/task/placement.ts";
import { pause, reasonOf } from "../../runtime/async/cancel.ts";
import { onAbort } from "../../runtime/async/on-abort.ts";
import { PROCESSES_CHANNEL } from "../postgres/channel-name.ts";
import { type Database, isConnectionLoss } from "../postgres/database.ts";
import type { ClassList } from "./classes.ts";
import type { EventWriter } from "../postgres/event-writer.ts";
import { PROTOCOL } from "../postgres/presence.ts";
import { budgetThroughTakeovers, type CallBudget, countLeftover } from "./budget-through-takeovers.ts";
import type { CallEpoch, CallTable, Coordinator, LostCall } from "./call-table.ts";
import type { Inbox } from "./inbox.ts";
import { leftoversOf } from "./leftovers.ts";
import { openSession, type Session } from "./session.ts";
import type { Supervisor } from "./supervise.ts";

/** How tasks reach workers: through a queue; see `engines/dbos`. */
export type PlacementQueue = Readonly<{
  put(placed: CallEpoch & ChosenClass & Readonly<{ priority?: number; token: string }>): Promise<void>;
  drop(at: CallEpoch): Promise<void>;
}>;

/**
 * The class of workers (workers with the same capabilities) that a task is placed with, and the protocol versions that
 * they support.
 */
type ChosenClass = Readonly<{ class: string; protocols: readonly number[] }>;

/** The parts with which a coordinator lets workers execute tasks. */
export type CallParts = Readonly<{
  database: Database;
  table: CallTable;
  inbox: Inbox;
  supervisor: Supervisor;
  queue: PlacementQueue;
  classes(): Promise<readonly WorkerClass[]>;
  placing: ClassList["placing"];
  by: Coordinator;
  writer: EventWriter | undefined;
  job: Job;
  /** The task of this run that ended last, if the run has no other running task: its worker may have a free slot. */
  after?: string | undefined;
  priority: number;
  /** How long a task that may not park (wait without a limit) waits for a worker. */
  placementTimeoutMs: number;
}>;

/**
 * After this number of lost workers in a row without a new recorded event, a task is not retried, because the task
 * itself may kill the workers.
 */
const POISON = 4;
/**
 * How long a task waits for the worker that it is offered to. After this time it goes into the queue for all workers.
 */
const OFFER_MS = 40;
/** The time for a worker to end a stopped task. */
const STOP_MS = 5_000;

export const keyOfCall = ({ run, path, attempt }: Pick<Call, "run" | "path" | "attempt">): string =>
  `${run}/${path}#${attempt}`;

/**
 * Lets workers execute a task until there is an outcome; if a worker dies, the next worker takes over. Each worker gets
 * a new epoch: messages of earlier epochs are received first, and refused afterwards.
 */
export async function performCall(call: Call, given: PerformContext, parts: CallParts): Promise<Outcome> {
  const { table, by, job } = parts;
  const budget = budgetThroughTakeovers(given);
  const { context } = budget;
  const key = keyOfCall(call);
  let session: Session | undefined;
  let known = firstClass(await parts.classes(), job);
  for (;;) {
    const to = { needs: job.needs, class: session ? undefined : known?.class, job, after: parts.after };
    const asked = await parts.placing(to.class, () => table.ask(key, by, to));
    const before = session
      ? await lost(session, budget)
      : asked?.isPlaced
        ? undefined
        : await takeLeftovers(key, given, parts);
    session = undefined;
    if (!asked) return before ?? { status: "cancelled", reason: "another process took the run over" };
    const at: CallEpoch = { call: key, epoch: asked.epoch };
    session = openSession(parts, at, { job, context }); // this process listens before a worker can send anything
    const isTaken = asked.isOffered && (await isHeard(session, context.signal));
    const isPlaced = isTaken || (asked.isPlaced ? await enqueue(at, known!, parts) : await placed(at, context, parts));
    const ended = isPlaced === true ? await endOf(at, session, context, parts) : { outcome: isPlaced };
    if ("outcome" in ended) {
      await session.close();
      if (context.signal.aborted) await table.forget(at);
      return ended.outcome;
    }
    const isPoison = ended.lost === "died" && (await table.barren(key, !session.hasProgress())) >= POISON;
    if (isPoison) {
      await table.abandon(at);
      return (await lost(session, budget)) ?? poisoned(call);
    }
    if (ended.lost === "unserved") await parts.queue.drop(at).catch(() => {});
    else if (ended.lost === "died" || session.isBegun())
      context.emit({
        type: "note",
        text:
          ended.lost === "died"
            ? "The worker of this task shows no sign of life; another worker continues from what was recorded."
            : "The worker of this task is shutting down and returned it; another worker continues.",
      });
    known = undefined;
  }
}

/**
 * True when the worker that executed the run's previous task takes the offered task; a worker that takes it says so at
 * once. Otherwise the task goes into the queue.
 */
async function isHeard(session: Session, signal: AbortSignal): Promise<boolean> {
  const waiting = new AbortController();
  const heard = session.heard.then(() => true);
  const late = pause(OFFER_MS, AbortSignal.any([signal, waiting.signal])).then(() => false);
  const isTaken = await Promise.race([heard, late]);
  waiting.abort();
  return isTaken;
}

/** Receives the last messages of a worker that died or gave the task back. */
async function lost(session: Session, budget: CallBudget): Promise<Outcome | undefined> {
  await session.received();
  budget.lose();
  return session.close();
}

const firstClass = (classes: readonly WorkerClass[], job: Job): ChosenClass | undefined => {
  const chosen = choosePlace({ ...job, protocol: PROTOCOL }, classes);
  return "class" in chosen ? chosen : undefined;
};

const poisoned = ({ path }: Call): FailedOutcome =>
  failed("CRASHED", `The task "${path}" crashed ${POISON} workers, one after the other, without any progress.`, {
    hint: "Check what the task does before you run it again: it may use up the memory of the worker. The task is not retried automatically.",
  });

/**
 * Records the messages of earlier epochs that no coordinator recorded. Returns the outcome, if one of them ended the
 * task.
 */
async function takeLeftovers(key: string, context: PerformContext, parts: CallParts): Promise<Outcome | undefined> {
  const { messages, outcome } = await leftoversOf(parts.database, key);
  const past = messages.length > 0 ? await context.past() : [];
  for (const { source, message } of messages) {
    if (message.type === "emit") {
      await countLeftover(message.fact, context, past);
      if (parts.writer) parts.writer.during(source, () => context.emit(message.fact));
      else context.emit(message.fact);
    } else if (message.type === "tell") context.tell(message.text);
  }
  if (messages.length > 0) await context.past(); // the next worker gets the newly recorded events
  return outcome;
}

/**
 * Places a task as soon as there is a worker for it; until then the task is parked. Returns true, or an outcome when
 * the task cannot be placed.
 */
async function placed(at: CallEpoch, context: PerformContext, parts: CallParts): Promise<true | Outcome> {
  const { table, job } = parts;
  const { signal } = context;
  const stopped = async (): Promise<Outcome> => {
    await table.stop(at);
    return { status: "cancelled", reason: reasonOf(signal) };
  };
  for (;;) {
    if (signal.aborted) return stopped();
    const chosen = choosePlace({ ...job, protocol: PROTOCOL }, await parts.classes());
    if ("class" in chosen) {
      const to = { class: chosen.class, job };
      if (!(await parts.placing(to.class, () => table.place(at, to)))) return stopped();
      return enqueue(at, chosen, parts);
    }
    const parked = await parkUntilFit(at, chosen.why, context, parts);
    if (parked !== true) return signal.aborted ? stopped() : parked;
  }
}

const HELPS =
  "Start a worker that can run the task: subcrew worker --engine URL. `subcrew engine status` lists the workers.";

async function parkUntilFit(
  at: CallEpoch,
  why: string,
  context: PerformContext,
  parts: CallParts,
): Promise<true | Outcome> {
  await parts.table.park(at, why);
  const text = `The task waits for a worker: ${why}.`;
  if (context.parks) {
    const goesOn = await context.parks.park({ why: text, waitsFor: "worker", helps: HELPS }, (signal) =>
      workerFits(parts, signal).then((fits) => (fits ? "a worker for the task is available now" : "")),
    );
    return goesOn || { status: "cancelled", reason: reasonOf(context.signal) };
  }
  context.emit({ type: "warning", code: "NO_WORKER", text });
  const patience = AbortSignal.any([context.signal, AbortSignal.timeout(parts.placementTimeoutMs)]);
  if (await workerFits(parts, patience)) return true;
  await parts.table.stop(at);
  return failed("NO_WORKER", `No worker can run the task: ${why}.`, { hint: HELPS, retryable: true });
}

/** Waits until there is a worker that can execute the job. Returns false when the signal aborted first. */
async function workerFits({ database, classes, job }: CallParts, signal: AbortSignal): Promise<boolean> {
  let bell = new AbortController();
  const stop = database.bells.listen(PROCESSES_CHANNEL, () => bell.abort());
  try {
    while (!signal.aborted) {
      bell = new AbortController();
      if (firstClass(await classes(), job) !== undefined) return true;
      await pause(2_000, AbortSignal.any([bell.signal, signal]));
    }
    return false;
  } finally {
    stop();
  }
}

/** Puts a task into the queue. Retries while the database restarts, because the queue library itself does not retry. */
async function enqueue(at: CallEpoch, chosen: ChosenClass, { queue, priority }: CallParts): Promise<true> {
  const token = randomBytes(6).toString("hex");
  for (let tries = 0; ; tries += 1)
    try {
      await queue.put({ ...at, ...chosen, priority, token });
      return true;
    } catch (error) {
      if (tries >= MOST_TRIES || !isConnectionLoss(error)) throw error;
      await pause(Math.min(1_000, 50 * 2 ** tries), new AbortController().signal);
    }
}

const MOST_TRIES = 60;

type Ended = Readonly<{ outcome: Outcome }> | Readonly<{ lost: LostCall["how"] }>;

/**
 * Waits for the outcome from the worker, or until the worker is lost. A stopped task ends after a short time, even if
 * its worker does not respond.
 */
function endOf(at: CallEpoch, session: Session, context: PerformContext, parts: CallParts): Promise<Ended> {
  const { signal } = context;
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const settle = (ended: Ended): void => {
      clearTimeout(timer);
      unwatch();
      deaf();
      resolve(ended);
    };
    const cancelled = (): Ended => ({ outcome: { status: "cancelled", reason: reasonOf(signal) } });
    const stop = async (): Promise<void> => {
      unwatch();
      session.cancel(reasonOf(signal));
      const before = await parts.table.stop(at);
      if (before === "taken" || before === "stopping" || before === "done")
        timer = setTimeout(() => settle(cancelled()), STOP_MS);
      else {
        settle(cancelled());
        parts.queue.drop(at).catch(() => {}); // a worker that takes the task nevertheless finds it stopped
      }
    };
    const unwatch = parts.supervisor.watch(at, (how) => settle({ lost: how }));
    const deaf = onAbort(signal, () => void stop().catch(reject));
    session.outcome.then((outcome) => settle({ outcome }), reject);
    if (signal.aborted) void stop().catch(reject);
  });
}
