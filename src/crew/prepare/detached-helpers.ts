import type { Plan } from "../../core/plan/plan.ts";
import type { RunParameters } from "../../core/run/run-parameters.ts";
import type { UnawaitedHelpers } from "../../core/task/engine.ts";
import { defined } from "../../core/text/defined.ts";
import { compile } from "../../modes/compile.ts";
import { createDetachedHelpers, type DetachedHelperParts } from "../../runtime/run/detached-helpers.ts";
import type { Run } from "../../runtime/run/run.ts";
import type { RunOptions } from "./run-options.ts";

/** Creates the subagents of a run that continue after its end. */
export type DetachedHelpers = (
  outliving: NonNullable<RunOptions["outliving"]>,
  parameters: RunParameters,
) => UnawaitedHelpers;

/**
 * The subagents of a crew that continue after the end of their run. All runs of the crew share this set, so that a
 * later run finds the subagents of earlier runs.
 */
export function detachedHelpers(
  run: (plan: Plan, options: RunOptions) => Run,
  files: Pick<DetachedHelperParts, "file">,
): DetachedHelpers {
  let helpers: UnawaitedHelpers | undefined;
  return ({ ended }, parameters) => {
    const { name: _n, continues: _c, strict: _s, reuse: _r, refreshAgent: _a, ...same } = parameters;
    helpers ??= createDetachedHelpers({
      plan: (what) => compile(what),
      run: (plan, parent) => run(plan, { ...same, parent: { ...parent, depth: 1 } }),
      ...files,
      ...defined({ ended }),
    });
    return helpers;
  };
}
