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
    /** The run that `continues` names, where it has been read already. */
    continued?: RecordedRun;
    /** This process exists for the run alone, so `subcrew kill` may end the process. By default it ends the work only. */
    ownProcess?: boolean;
    /** The id, where it has to be known before the run starts; a new one by default. */
    id?: string;
    /**
     * Helpers that the run starts in the background continue after its end, each as a run of its own in this process;
     * `ended` is called for each. By default helpers end with the task that started them.
     */
    outliving?: Readonly<{ ended?(run: Run): void }>;
    /** The agent that asked for the run, if one did: its rights bound those of the run. */
    parent?: Parent & Readonly<{ depth: number }>;
    /** Records the traffic between tasks and their models and tools, or answers it from a recording. */
    deck?: DeckMaker;
  }>;

/** The options of a resumed run. */
export type ResumeOptions = RunOptions &
  Readonly<{
    /** Takes the run over from another machine that claims it. */
    force?: boolean;
    /** Also retry what failed. */
    retryFailed?: boolean;
    /** The path of the task that alone goes on, with everything that depends on it; the rest stays paused. */
    task?: string;
  }>;
