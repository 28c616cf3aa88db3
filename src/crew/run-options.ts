import type { RunParameters } from "../core/run/run-parameters.ts";
import type { Parent } from "../core/task/engine.ts";
import type { DeckMaker } from "../runtime/cassette/deck.ts";
import type { RecordedRun } from "../runtime/resume/recorded-run.ts";
import type { Run } from "../runtime/run/run.ts";

/** The options of one run: those that can be JSON are declared in `runParameters`, the others here. */
export type RunOptions = RunParameters &
  Readonly<{
    /** Cancels the run when it aborts, as `AbortSignal.timeout(60_000)` does after a minute. */
    signal?: AbortSignal;
    /** The run that `continues` names, if it was already read. */
    continued?: RecordedRun;
    /**
     * This process exists only for the run, so `subcrew kill` may end the process. By default it only stops the work.
     */
    ownProcess?: boolean;
    /** The run id, if it has to be known before the run starts; a new one by default. */
    id?: string;
    /**
     * Helpers that the run starts in the background continue after its end, each as a run of its own in this process;
     * `ended` is called for each. By default helpers end with the task that started them.
     */
    outliving?: Readonly<{ ended?(run: Run): void }>;
    /** The agent that requested the run, if any: its permissions limit those of the run. */
    parent?: Parent & Readonly<{ depth: number }>;
    /** Records the traffic between tasks and their models and tools, or replays a recording. */
    deck?: DeckMaker;
  }>;

/** The options of a resumed run. */
export type ResumeOptions = RunOptions &
  Readonly<{
    /** Takes the run over from another machine that claims it. */
    force?: boolean;
    /** Also retries failed tasks. */
    retryFailed?: boolean;
    /** The path of the only task that continues, together with its dependents; the rest stays paused. */
    task?: string;
  }>;
