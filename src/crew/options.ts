import type { Agent } from "../core/agent/agent.ts";
import type { Config } from "../core/config/config.ts";
import type { RunParameters } from "../core/run/run-parameters.ts";
import type { CrewCode, CrewSetup } from "../outfit.ts";

/**
 * Options of a crew; all have defaults. The default workspace is the current folder, the default environment that of
 * the process. `concurrency` and `unattended` are defaults for its runs.
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
     * Settings for options that are not given here. `true`: those of the user's file, of a trusted project's file and
     * of the environment. By default there are none.
     */
    config?: Config | true;
  }>;
