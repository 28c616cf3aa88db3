import { agentOf } from "../../core/delegation/roster.ts";
import { outputText, type FailedOutcome, type Outcome } from "../../core/outcome/outcome.ts";
import { chooseIsolation } from "../../core/plan/isolation.ts";
import { messageOf } from "../../core/schema/error.ts";
import type { Call, Perform, PerformContext } from "../../core/task/engine.ts";
import { taskContext } from "../../core/task/task-context.ts";
import type { Acceptance, Assignment } from "../../core/task/runner.ts";
import { defined } from "../../core/text/defined.ts";
import { onAbort } from "../async/on-abort.ts";
import { steadyClock } from "../async/steady-clock.ts";
import { settleOnAbort, type TaskEnd } from "../async/settle-on-abort.ts";
import type { WorktreeOutcome } from "../git/worktree-task.ts";
import { recordAgent, withPreviousRun } from "../resume/previous-runs.ts";
import { reuseKey } from "../resume/reuse-results.ts";
import { acceptedByCommand, acceptedBySchema } from "./acceptance.ts";
import { assign } from "./assign.ts";
import { canChangeSomething } from "./assign-tools.ts";
import { withFork } from "./fork-task.ts";
import { KeptConversations } from "./kept-conversations.ts";
import type { World } from "./world.ts";

/**
 * Creates the function that executes tasks: it resolves the agent once, runs it, checks its result and stores its
 * output.
 */
export function createPerformer(world: World): Perform {
  const conversations = new KeptConversations(world);
  return async (call, run) => {
    const past = run.past(); // called once, before this process records events: `past` must contain only events of earlier processes
    const timeOf = steadyClock(world.clock);
    const began = timeOf();
    const outcome = await settleOnAbort(call, run.signal, async ({ isOver, note }) => {
      const context = taskContext(run, {
        isOver,
        past: () => past,
        remember: conversations.keeperFor(call),
      });
      return perform(await conversations.resume(call, run), world, { context, note });
    });
    const ms = timeOf() - began;
    // The output is stored after the task has ended, because a cancelled task must not wait for files.
    return { ...(await kept(outcome, call, world, run)), ms, ...summaryOf(call, world) };
  };
}

/** How much of a task's result its caller reads, if the agent or the settings limit it. */
function summaryOf({ task }: Call, { roster, settings }: World): Pick<Outcome, "summaryChars" | "summaryCut"> {
  const agent = agentOf(task, roster);
  return defined({
    summaryChars: agent?.summaryChars ?? settings.output?.summaryChars,
    summaryCut: agent?.summaryCut ?? settings.output?.summaryCut,
  });
}

/** The context of a task, and what remembers its partial result in case it is stopped. */
type Performing = Readonly<{ context: PerformContext }> & Pick<TaskEnd, "note">;

/** Executes one task, in a worktree if it has to be isolated. */
async function perform(call: Call, world: World, performing: Performing): Promise<Outcome> {
  const { context } = performing;
  const { earlier } = world;
  const taken = earlier ? await withPreviousRun(call, { ...world, earlier }, context) : { call, roster: world.roster };
  if ("status" in taken) return taken;
  const own = { ...world, roster: taken.roster };
  const forked = await withFork(taken.call, own, context);
  if ("status" in forked) return forked;
  const work = async (inner: Call): Promise<WorktreeOutcome> => {
    const assignment = await resolveAgent(inner, own, context);
    if ("status" in assignment) return { outcome: assignment };
    const { resumes } = inner;
    // If the agent has no tool that changes anything, nothing is left to do after the approval: the plan is the result.
    if (resumes && !canChangeSomething(assignment)) return { outcome: { status: "ok", output: resumes.output } };
    return runAgent(assignment, own, performing);
  };
  const isolation = chooseIsolation(call.task, agentOf(call.task, own.roster), call.depth);
  if (!isolation || !world.isolate) return (await work(forked)).outcome;
  const past = await context.past();
  const hasWorked = past.some(({ type }) => type === "tool.started");
  return world.isolate.run(forked, isolation, { ...context, isBegun: past.length > 1, hasWorked }, work);
}

/** The agent with everything that it works with, resolved once and recorded. */
async function resolveAgent(call: Call, world: World, context: PerformContext): Promise<Assignment | FailedOutcome> {
  const assignment = await assign(call, world, context.emit);
  if (world.earlier && !("status" in assignment))
    recordAgent(
      assignment,
      { roster: world.roster, earlier: world.earlier, reuse: world.reuse && reuseKey(assignment) },
      context.emit,
    );
  return assignment;
}

/** Runs the agent, unless an earlier result can be reused, and checks its result. */
async function runAgent(assignment: Assignment, world: World, { context, note }: Performing): Promise<WorktreeOutcome> {
  const { access, call } = assignment;
  const ended = (outcome: Outcome): WorktreeOutcome => ({ outcome, ...(access && { policy: access.policy() }) });
  // The task ends at once; the run waits until the task's commands have ended, which get time to end by themselves.
  const release = access && onAbort(context.signal, () => world.linger?.(access.end()));
  try {
    const key = world.reuse && reuseKey(assignment);
    const known =
      key === undefined || (await context.past()).length > 1
        ? undefined
        : await world.reuse?.find(key, assignment, context);
    if (known) return ended(known);
    const real: Acceptance = (...looked) => acceptedByCommand(...looked, world);
    const acceptance = world.acceptance?.(real) ?? real;
    const handedIn = await acceptedBySchema(await world.runner(assignment, context), call, world);
    note(handedIn);
    const outcome = await acceptance(handedIn, assignment, context);
    if (key !== undefined && outcome.status === "ok") await world.reuse?.add(key, call);
    return ended(outcome);
  } finally {
    release?.();
    await access?.end();
  }
}

/** The outcome with the artifact of its output, or a warning about why there is none. */
async function kept(outcome: Outcome, call: Call, { outputs }: World, context: PerformContext): Promise<Outcome> {
  // A result is not lost because its output file cannot be written.
  const artifact = await outputs.recorded(call.run, call.path, outputText(outcome)).catch((error: unknown) => {
    context.emit({
      type: "warning",
      code: "OUTPUT_NOT_KEPT",
      text: `The output of "${call.path}" could not be saved to a file: ${messageOf(error)}`,
    });
    return undefined;
  });
  return artifact === undefined ? outcome : { ...outcome, artifact };
}
