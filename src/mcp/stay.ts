import { answerKind } from "../core/plan/answer-kind.ts";
import type { State } from "../core/run/state.ts";
import type { Question } from "../core/run/run-status.ts";
import { onAbort } from "../runtime/async/on-abort.ts";
import { answerIn, keyOf } from "./ask.ts";
import { reportProgress } from "./progress.ts";
import type { McpRun, WaitedRun } from "./runs.ts";
import type { CallContext } from "./sdk.ts";

/** Why waiting ended: the run ended, or it has questions. */
export type WaitResult =
  | Readonly<{ over: true }>
  | Readonly<{ over: false; asked: readonly Question[]; parked?: undefined }>;

/** Why waiting ended, including the case of a run that is parked (waits) for a reason that the client cannot change. */
export type StayResult = WaitResult | Readonly<{ over: false; parked: State }>;

/** Waits until a run ends, asks something or is parked (waits for a provider). */
export async function stay(served: WaitedRun, context: CallContext): Promise<StayResult> {
  const quiet = reportProgress(served, context);
  const parking = parked(served);
  try {
    return await Promise.race([next(served), parking.parked]);
  } finally {
    parking.stop();
    quiet();
  }
}

/** Does `work` for a call. If the client cancels the call meanwhile, the run is cancelled. */
export async function whileCalled<T>(
  served: WaitedRun,
  { mcpReq: { signal } }: CallContext,
  work: () => Promise<T>,
): Promise<T> {
  const cancel = (): void => served.cancel("the client cancelled the call");
  const release = onAbort(signal, cancel);
  if (signal.aborted) cancel();
  try {
    return await work();
  } finally {
    release();
  }
}

/** Resolves as soon as all tasks of a run are parked (wait for a provider). */
function parked(served: WaitedRun): Readonly<{ parked: Promise<StayResult>; stop(): void }> {
  let stop = (): void => {};
  const waiting = new Promise<StayResult>((resolve) => {
    const look = (): void => {
      const state = served.parked();
      if (state) resolve({ over: false, parked: state });
    };
    stop = served.listen(look);
    look();
  });
  return { parked: waiting, stop: () => stop() };
}

/** Waits for the end of a run, or for a question. */
export function next(served: WaitedRun): Promise<WaitResult> {
  return Promise.race([served.over.then((): WaitResult => ({ over: true })), asking(served)]);
}

/** Resolves with the questions of a run as soon as there is a question that was not postponed. */
function asking(served: WaitedRun): Promise<WaitResult> {
  const open = (): readonly Question[] => served.questions().filter((question) => !served.putOff.has(keyOf(question)));
  return new Promise((resolve) => {
    const look = (): void => {
      const asked = open();
      if (asked.length === 0) return;
      stop();
      resolve({ over: false, asked });
    };
    const stop = served.listen((event) => {
      if (event.type === "gate.opened") look();
    });
    look();
  });
}

/** Resolves when a run has started, so that an error at the start reaches the caller. */
export function untilStarted(served: McpRun): Promise<void> {
  return new Promise((resolve, reject) => {
    if (served.run.state.status !== "starting") return resolve();
    const stop = served.listen(({ type }) => {
      if (type !== "run.started") return; // live events can arrive before the recorded start
      stop();
      resolve();
    });
    served.over.then(() => resolve(), reject);
  });
}

/**
 * Passes the replies of a client to a run. Returns whether all of them were answers; a cancelled form leaves its
 * question in the inbox. Replies to questions that are no longer open are ignored.
 */
export async function takeReplies(
  served: Pick<WaitedRun, "questions" | "putOff" | "answer">,
  replies: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  let answered = true;
  for (const question of served.questions()) {
    const key = keyOf(question);
    if (!Object.hasOwn(replies, key)) continue;
    served.putOff.add(key);
    const answer = answerIn(replies[key], answerKind(question));
    if (answer) await served.answer(question, answer);
    else answered = false;
  }
  return answered;
}
