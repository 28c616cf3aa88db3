import type { Config } from "../../core/config/config.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { Remotes } from "../../defaults.ts";
import type { CrewSetup } from "../outfit/setup.ts";
import type { Outfit } from "../outfit/outfit.ts";
import type { Deck } from "../../runtime/cassette/deck.ts";
import type { RecordedRun } from "../../runtime/resume/recorded-run.ts";
import type { DetachedHelpers } from "./detached-helpers.ts";
import type { Finds } from "./finds.ts";
import type { CrewOptions } from "../outfit/options.ts";
import type { RunOptions } from "./run-options.ts";

/** A run to start; `recorded`: the journal of the run, if it is resumed. */
export type AskedRun = Readonly<{
  force?: boolean;
  run: string;
  plan: Plan;
  options: RunOptions;
  recorded?: RecordedRun;
  deck?: Deck | undefined;
}>;

/** The parts that all runs of a crew share, and that are used to prepare a run. */
export type PrepareParts = Readonly<{
  options: CrewOptions;
  config: Config;
  setup: CrewSetup;
  outfit: Outfit;
  finds: Finds;
  remotes: Remotes;
  helpers: DetachedHelpers;
}>;
