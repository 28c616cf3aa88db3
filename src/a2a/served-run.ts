import type { RemoteTask, RemoteUpdate } from "../core/net/a2a.ts";
import type { Event, Origin } from "../core/run/event.ts";
import { isKept } from "../core/run/kept-event.ts";
import { isParkedLong } from "../core/run/parked-run.ts";
import { runStatusOf, openQuestions, type Question } from "../core/run/run-status.ts";
import { emptyState, reduce, type State } from "../core/run/state.ts";
import { defined } from "../core/text/defined.ts";
import { deferred } from "../runtime/async/deferred.ts";
import type { Run } from "../runtime/run/run.ts";
import { artifactsOf, RESULT, taskView, type ViewContext } from "./view.ts";

/** A run that a remote caller started and that this process executes or watches. */
export type A2aRun = Readonly<{
  run: Run;
  origin: Origin;
  view(): RemoteTask;
  /** True when the run has ended or waits for input. */
  isSettled(): boolean;
  /** The open question that the caller may answer. */
  question(): Question | undefined;
  /**
   * The run as a stream of A2A updates: the current task, then each change until the run has ended or waits for the
   * caller. `from` is the last event that the caller knows; by default the latest event.
   */
  updates(from?: number): AsyncGenerator<RemoteUpdate, void>;
  /** Waits until the run has ended, waits for input or is parked until its provider accepts requests again. */
  settled(): Promise<void>;
  /** Waits for the next event that `isIt` accepts, or for the end of the run. */
  until(isIt: (event: Event) => boolean): Promise<void>;
  /** Settles when the end of the run is known; never rejects. */
  over: Promise<void>;
}>;

export function serveRun(run: Run, origin: Origin, heard: (served: A2aRun, event: Event) => void = () => {}): A2aRun {
  const over = deferred<void>();
  let ended = false;
  /**
   * True for gates and questions that the caller answers in words. Questions about permissions are for the owner of
   * this machine.
   */
  const isForCaller = ({ call, wants }: Question): boolean => call === undefined || wants === "words";
  const seen = (): ViewContext => ({ life: runStatusOf(run.state, !ended), origin, isForCaller });
  const isSettled = (): boolean => ended || run.state.outcome !== undefined || openQuestions(run.state).length > 0;
  const question = (): Question | undefined => openQuestions(run.state).find(isForCaller);

  const served: A2aRun = {
    run,
    origin,
    isSettled,
    question,
    view: () => taskView(run.state, seen()),
    updates: async function* (from = run.state.seq) {
      if (from > 0) {
        yield taskView(run.state, seen());
        if (run.state.outcome || question()) return;
      }
      // The state of the run as of the stream's position, so that a stream that starts in the past does not show later
      // state.
      const state = emptyState(run.id);
      const now = (): ViewContext => ({ life: runStatusOf(state, true), origin, isForCaller });
      const tell = teller(state, now);
      let begun = from > 0;
      for await (const event of run) {
        reduce(state, event);
        if (isKept(event) && event.seq <= from) continue;
        if (!begun) yield taskView(state, now());
        begun = true;
        yield* tell(event);
        if (event.type === "run.ended") return;
        if (event.type === "gate.opened" && openQuestions(state).some(isForCaller)) return;
      }
    },
    settled: async () => {
      if (run.state.outcome) return;
      const from = run.state.seq;
      const state = emptyState(run.id);
      for await (const event of run) {
        reduce(state, event);
        const waits = openQuestions(state).length > 0 || isParkedLong(state, Date.now());
        if (state.seq >= from && (state.outcome || waits)) return;
      }
    },
    until: async (isIt) => {
      const from = run.state.seq;
      for await (const event of run) if (isKept(event) && event.seq > from && isIt(event)) return;
    },
    over: over.promise,
  };
  const watch = async (): Promise<void> => {
    try {
      for await (const event of run) heard(served, event);
      await run;
    } catch {
      // `run` itself reports the error
    } finally {
      ended = true;
      over.resolve();
    }
  };
  void watch();
  return served;
}

/** Translates an event to A2A updates; most events are not exposed. */
function teller(state: State, seen: () => ViewContext): (event: Event) => Generator<RemoteUpdate> {
  const ids = { taskId: state.run, contextId: seen().origin.context };
  /** The current status, with usage so far. */
  const statusNow = (): RemoteUpdate => {
    const { status, metadata } = taskView(state, seen());
    return { kind: "status-update", ...ids, status, ...defined({ metadata }) };
  };
  let begun = false;
  return function* (event) {
    switch (event.type) {
      case "text.delta":
        if (event.path !== state.plan?.output) return;
        yield {
          kind: "artifact-update",
          ...ids,
          artifact: { artifactId: RESULT, parts: [{ kind: "text", text: event.text }] },
          append: begun,
        };
        begun = true;
        return;
      case "turn.started":
        if (event.path === state.plan?.output) begun = false; // text before a tool call is not part of the result
        return;
      case "node.started":
        if (event.path !== state.plan?.output) return;
        return yield statusNow();
      case "gate.opened":
      case "gate.answered":
      case "node.parked":
      case "node.unparked":
        return yield statusNow();
      case "run.ended": {
        for (const artifact of artifactsOf(event.outcome))
          yield { kind: "artifact-update", ...ids, artifact, append: false, lastChunk: true };
        yield statusNow();
        return;
      }
      default:
        return;
    }
  };
}
