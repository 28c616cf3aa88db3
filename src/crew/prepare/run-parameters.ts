import { smallerDepth } from "../../core/delegation/run-above.ts";
import { withRunSettings } from "../../core/config/use.ts";
import type { RunParameters } from "../../core/run/run-parameters.ts";
import { defined } from "../../core/text/defined.ts";
import type { ParentRun } from "../../runtime/features/start.ts";
import type { RunOptions } from "./run-options.ts";
import type { AskedRun, PrepareParts } from "./asked-run.ts";
import { withRecordedLimits } from "./recorded-settings.ts";

/** The options of a run that are JSON. */
export function parametersIn(options: RunOptions): RunParameters {
  const { id: _i, deck: _d, signal: _s, ownProcess: _w, outliving: _o, parent: _p, continued: _c, ...given } = options;
  return given;
}

/** The parameters of a run: as this call says, else as recorded, else as the settings say, within the parent run. */
export function parametersOf(
  { plan, options, recorded }: AskedRun,
  { options: crew, config }: Pick<PrepareParts, "options" | "config">,
  above: ParentRun | undefined,
): RunParameters {
  const { concurrency, unattended } = crew;
  const wished = { ...defined({ concurrency, unattended, name: plan.name }), ...defined(parametersIn(options)) };
  const limits = recorded?.state.limits;
  const own = limits ? withRecordedLimits(limits, wished) : withRunSettings(config, wished);
  const budget = above?.budget && !recorded ? above.budget.left(own.budget ?? {}) : own.budget;
  const maxDepth = above ? smallerDepth(own.maxDepth, above.maxDepth) : own.maxDepth;
  return { ...own, ...defined({ maxDepth, budget }) };
}
