import type { Answer } from "../core/plan/gate.ts";
import type { Plan } from "../core/plan/plan.ts";
import type { Event } from "../core/run/event.ts";
import { isActive, type RunStatus, runStatusOf, openQuestions, type Question } from "../core/run/run-status.ts";
import { isParkedLong } from "../core/run/parked-run.ts";
import type { State } from "../core/run/state.ts";
import { CrewError } from "../core/schema/error.ts";
import type { Crew } from "../crew/crew-type.ts";
import type { Run } from "../runtime/run/run.ts";
import { keyOf } from "./ask.ts";

/** A run that a client waits for, or a call that starts several runs. */
export type WaitedRun = Readonly<{
  id: string;
  questions(): readonly Question[];
  /** Questions that the client answered or left to the inbox. The client is not asked these again. */
  putOff: Set<string>;
  /** The progress counter for a client. It must increase, even when the client repeats its call with answers. */
  told: { times: number };
  /** Calls `heard` with each event; returns a function that unsubscribes. */
  listen(heard: OnEvent): () => void;
  /** The state of a run that only waits for a provider, a quota or a budget; otherwise `undefined`. */
  parked(): State | undefined;
  answer(question: Question, answer: Answer): Promise<boolean>;
  cancel(reason: string): void;
  /** Settles when the run ends; rejects when it could not start. */
  over: Promise<unknown>;
}>;

export type OnEvent = (event: Event, state: State) => void;

/** A run started by a client, with the state computed from its events. */
export type McpRun = WaitedRun &
  Readonly<{
    run: Run;
    startedAt: number;
    /** The time of the run's last event. */
    changedAt(): number;
    life(): RunStatus;
    /** True when this process no longer works on the run. Later events are only in the store. */
    isOver(): boolean;
    over: Promise<State>;
  }>;

/**
 * The runs that clients of one server started. A client sees these runs, and other runs only if the owner shares them.
 */
export type ServedRuns = Readonly<{
  start(plan: Plan): McpRun;
  /** Adds a run that another part of the server started for a client. */
  adopt(run: Run): McpRun;
  /** Finds a run by id, by the beginning of its id, or by name. */
  find(word: string): McpRun | undefined;
  all(): readonly McpRun[];
  /**
   * Pauses the running runs and waits a short time for them. A run that takes longer is interrupted. All these runs can
   * be resumed.
   */
  close(reason: string): Promise<void>;
}>;

/** The maximum number of unfinished runs per client. */
const MOST_ACTIVE = 200;
/** Maximum number of ended runs in memory; the store has all of them. */
const MOST_REMEMBERED = 1_000;
const CLOSE_MS = 1_500;

export function createServedRuns(crew: Crew, { attended = true }: { attended?: boolean } = {}): ServedRuns {
  const runs = new Map<string, McpRun>();
  const adopt = (run: Run): McpRun => {
    const served = runs.get(run.id) ?? serve(run);
    runs.set(served.id, served);
    served.over.catch(() => {
      if (run.state.status === "starting") runs.delete(run.id); // the run never started, so it is not listed
    });
    for (const [id, each] of runs) {
      if (runs.size <= MOST_REMEMBERED) break;
      if (!isActive(each.life())) runs.delete(id);
    }
    return served;
  };
  const active = (): McpRun[] => [...runs.values()].filter((each) => isActive(each.life()));
  return {
    start: (plan) => {
      if (active().length >= MOST_ACTIVE)
        throw new CrewError(
          "TOO_MANY_RUNS",
          `${MOST_ACTIVE} runs of this server are already running.`,
          "Wait until a run has ended, or cancel one.",
        );
      return adopt(crew.run(plan, { unattended: !attended, asksCalls: attended, parkByDefault: true }));
    },
    adopt,
    find: (word) => {
      const exact = runs.get(word);
      if (exact) return exact;
      const found = [...runs.values()].filter(({ id, run }) => run.state.name === word || isBeginning(word, id));
      return found.length === 1 ? found[0] : undefined;
    },
    all: () => [...runs.values()].toReversed(),
    close: async (reason) => {
      const left = active();
      for (const { run } of left) run.pause(reason);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_MS);
      });
      await Promise.race([Promise.allSettled(left.map(({ over }) => over)), late]);
      clearTimeout(timer);
    },
  };
}

const isBeginning = (word: string, id: string): boolean => word.length > "run_".length && id.startsWith(word);

function serve(run: Run): McpRun {
  const startedAt = Date.now();
  const heard = new Set<OnEvent>();
  const putOff = new Set<string>();
  let changedAt = startedAt;
  let ended = false;
  const over = (async (): Promise<State> => {
    try {
      for await (const event of run) {
        changedAt = event.at;
        // the answered question is no longer postponed, so a later question of the same gate is asked
        if (event.type === "gate.answered") putOff.delete(keyOf(event));
        for (const listener of heard) listener(event, run.state);
      }
      await run;
    } finally {
      ended = true;
      heard.clear();
    }
    return run.state;
  })();
  over.catch(() => {}); // the code that awaits the promise handles the rejection
  return {
    id: run.id,
    run,
    startedAt,
    changedAt: () => changedAt,
    life: () => runStatusOf(run.state, !ended),
    isOver: () => ended,
    questions: () => openQuestions(run.state),
    parked: () => (!ended && isParkedLong(run.state, Date.now()) ? run.state : undefined),
    putOff,
    told: { times: 0 },
    listen: (listener) => {
      heard.add(listener);
      return () => heard.delete(listener);
    },
    answer: async ({ path, call }, answer) => run.answer(path, answer, call),
    cancel: (reason) => run.cancel(reason),
    over,
  };
}
