import type { Agent } from "../../core/agent/agent.ts";
import type { Config } from "../../core/config/config.ts";
import type { RunParameters } from "../../core/run/run-parameters.ts";
import type { CrewCode, CrewSetup } from "./setup.ts";

/**
 * Options of a crew; all have defaults. The default workspace is the current folder; the default environment is the
 * environment of this process. `concurrency` and `unattended` are defaults for the crew's runs.
 */
export type CrewOptions<Agents extends readonly Agent[] = readonly Agent[]> = Partial<CrewSetup> &
  CrewCode &
  Pick<RunParameters, "concurrency" | "unattended"> &
  Readonly<{
    /** Agents in addition to those found in files; these take precedence. */
    agents?: Agents;
    /** False: only `agents` and the bundled agents exist. */
    discover?: boolean;
    /**
     * Settings for options that the caller does not pass. `true`: the settings of the user's file, of a trusted
     * project's file and of the environment. By default there are none.
     */
    config?: Config | true;
  }>;
