import type { Agent } from "../core/agent/agent.ts";
import type { Config } from "../core/config/config.ts";
import type { RunParameters } from "../core/run/run-parameters.ts";
import type { CrewCode, CrewSetup } from "../outfit.ts";

/**
 * Options of a crew; everything has a default. The workspace is the current folder, the environment that of the
 * process. `concurrency` and `unattended` hold for runs that say nothing else.
 */
export type CrewOptions<Agents extends readonly Agent[] = readonly Agent[]> = Partial<CrewSetup> &
  CrewCode &
  Pick<RunParameters, "concurrency" | "unattended"> &
  Readonly<{
    /** Agents in addition to the discovered ones; they take precedence. */
    agents?: Agents;
    /** False: only `agents` and the bundled ones exist. */
    discover?: boolean;
    /**
     * Settings for options that are not given here. `true`: those of the user's file, a trusted project's file and the variables.
     * By default there are none.
     */
    config?: Config | true;
  }>;
