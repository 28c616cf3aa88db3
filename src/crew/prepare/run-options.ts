import type { RunParameters } from "../../core/run/run-parameters.ts";
import type { Parent } from "../../core/task/engine.ts";
import type { DeckMaker } from "../../runtime/cassette/deck.ts";
import type { RecordedRun } from "../../runtime/resume/recorded-run.ts";
import type { Run } from "../../runtime/run/run.ts";

/** The options of one run. Options that can be JSON are declared in `runParameters`, all other options in this type. */
export type RunOptions = RunParameters &
  Readonly<{
    /** The run is cancelled when this signal aborts, as with `AbortSignal.timeout(60_000)` after a minute. */
    signal?: AbortSignal;
    /** The recorded run that `continues` names, if the caller has already read it. */
    continued?: RecordedRun;
    /**
     * True: this process exists only for the run, so `subcrew kill` may end the process. By default `kill` only stops
     * the work on the run.
     */
    ownProcess?: boolean;
    /** The run id, if it has to be known before the run starts; by default a new id. */
    id?: string;
    /**
     * Subagents that the run starts in the background continue after its end, each as a run of its own in this process;
     * `ended` is called for each. By default subagents end with the task that started them.
     */
    outliving?: Readonly<{ ended?(run: Run): void }>;
    /** The agent that started the run, if any: its permissions limit those of the run. */
    parent?: Parent & Readonly<{ depth: number }>;
    /** Records the run's model and tool calls in a file, or replays a file with such records. */
    deck?: DeckMaker;
  }>;

/** The options of a resumed run. */
export type ResumeOptions = RunOptions &
  Readonly<{
    /** True: takes the run over from another machine that owns it. */
    force?: boolean;
    /** True: also retries failed tasks. */
    retryFailed?: boolean;
    /** The path of the only task that continues, together with its dependents; the rest stays paused. */
    task?: string;
  }>;
