import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { type FailedOutcome, failed } from "../../core/outcome/outcome.ts";
import { folderProblem } from "../access/folder-problem.ts";
import { movedInto } from "../../core/plan/isolation.ts";
import { permit } from "../../core/policy/permit.ts";
import { readRunAbove, RUN_ABOVE_VARIABLE, runAboveText } from "../../core/delegation/run-above.ts";
import { passedEnv } from "../../core/secrets/pass-env.ts";
import { type Scratchpad, emptyScratchpad } from "../../core/task/scratchpad.ts";
import type { TaskAccess } from "../../core/task/task-access.ts";
import { defined } from "../../core/text/defined.ts";
import type { AssignedAgent, AssignRequest } from "./assign-agent.ts";
import type { AssignedTools } from "./assign-tools.ts";
import type { World } from "./world.ts";

/** Working folder and access of a task. */
export type AssignedAccess = Readonly<{
  cwd: string;
  /** The part of the user's environment that is passed on. */
  env: Readonly<Record<string, string>>;
  desk: Scratchpad;
  access?: TaskAccess;
}>;

/**
 * Third step of assigning a task: opens its folder, its environment and its commands. A folder outside of the run's
 * folders is refused.
 */
export async function assignAccess(
  { call, world, emit }: AssignRequest,
  { name, agent, rights }: Pick<AssignedAgent, "name" | "agent"> & Pick<AssignedTools, "rights">,
): Promise<AssignedAccess | FailedOutcome> {
  const cwd = await folderFor({ call, world });
  const problem = call.task.cwd === undefined ? undefined : await folderProblem(cwd);
  if (problem !== undefined)
    return failed("BAD_INPUTS", `"${name}" cannot work in "${call.task.cwd}": ${problem}.`, {
      hint: "Give the path of an existing folder; it is relative to the folder of the run.",
    });
  const { run, path, depth, maxDepth = -1 } = call;
  const { passed, above } = surroundingsOf(world.settings);
  const env = {
    ...passed,
    [RUN_ABOVE_VARIABLE]: runAboveText({ task: `${run}/${path}`, depth, maxDepth, above }),
  };
  const desk = emptyScratchpad();
  const { task, policy, worktree } = call;
  const access = await world.access?.accessFor({
    run,
    path,
    depth,
    task,
    ...defined({ policy, worktree }),
    agent,
    cwd,
    env: () => ({ ...env, ...Object.fromEntries(desk.env) }),
    commands: permit(rights, "bash").allowed && world.tools.has("bash"),
    note: ({ level, text }) =>
      emit(level === "full" ? { type: "note", text } : { type: "warning", code: "SANDBOX", text }),
  });
  if (world.access && !access)
    return failed("DENIED", `"${name}" may not work in ${cwd}: it is outside of the folders this run may use.`, {
      hint: "Add the folder to writableRoots, or start the run there.",
    });
  return { cwd, env, desk, ...defined({ access }) };
}

/** The part of the environment that all tasks of a run share. */
type Surroundings = Readonly<{
  passed: Readonly<Record<string, string>>;
  /** The tasks in parent runs that led to this nested run, the nearest first. */
  above: readonly string[];
}>;

/** Cache by settings: each run has settings of its own, so its environment is read only once. */
const surroundings = new WeakMap<World["settings"], Surroundings>();

function surroundingsOf(settings: World["settings"]): Surroundings {
  const known = surroundings.get(settings);
  if (known) return known;
  const above = readRunAbove(settings.env[RUN_ABOVE_VARIABLE]);
  const made = {
    passed: passedEnv(settings.env, settings.passEnv),
    above: above ? [above.task, ...(above.above ?? [])] : [],
  };
  surroundings.set(settings, made);
  return made;
}

/** The working folder of a task; for a task in a worktree, the corresponding folder in the worktree. */
async function folderFor({
  call: { task, worktree },
  world: {
    settings: { cwd },
  },
}: Pick<AssignRequest, "call" | "world">): Promise<string> {
  const wanted = task.cwd === undefined ? cwd : resolve(cwd, task.cwd);
  return worktree ? movedInto(worktree, await realpath(wanted).catch(() => wanted)) : wanted;
}
