import { randomBytes } from "node:crypto";
import { type FailedOutcome, failed, type Outcome, type Spending, withPartial } from "../../core/outcome/outcome.ts";
import { addCost, addUsage, noCost, noUsage } from "../../core/outcome/usage.ts";
import { permit } from "../../core/policy/permit.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { taskContext } from "../../core/task/task-context.ts";
import { type JobSettings, jobOf } from "../../core/task/job.ts";
import type { Assignment, Runner } from "../../core/task/runner.ts";
import { reasonOf } from "../../runtime/async/cancel.ts";
import { onAbort } from "../../runtime/async/on-abort.ts";
import type { ResourceUse } from "../../runtime/commands/process-meter.ts";
import { keepLimits } from "./keep-limits.ts";
import { type ChildCall, serveChild } from "../../runtime/channel/parent-side.ts";
import type { HostChannel } from "../../runtime/channel/protocol.ts";
import { addCount } from "../../core/text/json.ts";

/** The parts of a runner that executes tasks outside of this thread. */
export type SpawnParts = Readonly<{
  /** The program that receives a task and executes it. */
  entry: URL;
  /**
   * The data about this machine that the child process needs, as JSON. These data are never part of a job, because jobs
   * can go to other machines.
   */
  setup: ChildSetup;
  /** The data that all jobs of the run share. */
  job: JobSettings;
  /** Tools and models that are defined in code of this process, by name. */
  code: Readonly<{ tools: ReadonlySet<string>; models: ReadonlySet<string> }>;
  /** Makes the run wait for some work before it ends. */
  linger(work: Promise<unknown>): void;
}>;

/** A process or thread that executes one task. */
export type ChildHost = Readonly<{
  /** The name for people: `process` or `thread`. */
  called: string;
  channel: HostChannel;
  /** How the child ended. Resolves when it and all processes that it started have ended. */
  ended: Promise<TaskExit>;
  used(): Promise<ResourceUse>;
  /** Stops the child and all processes that it started; kills them after the grace period. */
  stop(graceMs: number): Promise<void>;
}>;

/** How a child process or thread ended, in words, and whether it ran out of memory. */
export type TaskExit = Readonly<{ how: string; said: string; outOfMemory: boolean }>;

/** The settings that the child process or thread itself needs. */
export type ChildSetup = Readonly<{
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  passEnv?: readonly string[];
}>;

/**
 * The options for starting a child. `marker` (`NAME=value`) is in the environment of the child and of every process
 * that it starts.
 */
export type SpawnOptions = Readonly<{ entry: URL; setup: ChildSetup; marker: string; limits: Assignment["limits"] }>;
export type OpenChild = (opening: SpawnOptions) => ChildHost;

const MARKER = "SUBCREW_TASK";

/**
 * The grace period of a stopped task. Together with the kill that follows, all its processes end within two seconds.
 */
const GRACE_MS = 1_500;
/** An error quotes the last output of a process, up to this number of characters. */
const SAID_CHARS = 2_000;

/** A runner that executes each task in its own process or thread, which ends with the task. */
export function spawnTask(open: OpenChild, parts: SpawnParts): Runner {
  return async (assignment, context) => {
    const reason = cannotCross(assignment, parts);
    if (reason !== undefined) return reason;
    if (context.signal.aborted) return { status: "cancelled", reason: reasonOf(context.signal) };
    const mark = randomBytes(12).toString("hex");
    const setup = marked(parts.setup, mark);
    const place = open({ entry: parts.entry, setup, marker: `${MARKER}=${mark}`, limits: assignment.limits });
    const past = await context.past();
    const tally = createTally(assignment, context, past);
    place.channel.send({ type: "setup", setup });
    const hosted = serveChild(place.channel, jobOf(assignment, context, parts.job), {
      ...tally.context,
      past: () => Promise.resolve(past),
    });
    const { outcome, graceMs } = await firstOf(place, hosted, assignment, tally);
    hosted.leave();
    parts.linger(place.stop(graceMs).then(() => place.channel.close()));
    return outcome;
  };
}

type Ending = Readonly<{ outcome: Outcome; graceMs: number }>;

/**
 * Resolves when the task returns its outcome, is stopped or exceeds a limit, or when its process has ended, whichever
 * comes first.
 */
function firstOf(place: ChildHost, hosted: ChildCall, assignment: Assignment, tally: Tally): Promise<Ending> {
  const { signal } = tally.context;
  const partly = (outcome: Parameters<typeof withPartial>[0]): Outcome => ({
    ...withPartial(outcome, tally.text()),
    ...tally.spent(),
  });
  return new Promise((resolve) => {
    let over = false;
    const settle = (outcome: Outcome, graceMs = GRACE_MS): void => {
      over = true;
      deaf();
      limits.stop();
      resolve({ outcome, graceMs });
    };
    const abort = (): void => {
      hosted.cancel(reasonOf(signal));
      settle(partly({ status: "cancelled", reason: reasonOf(signal) }));
    };
    const limits = keepLimits(assignment.limits, {
      used: place.used,
      ping: hosted.ping,
      emit: tally.context.emit,
      waited: tally.waited,
      passed: (fault) => settle(partly(fault), 0),
    });
    const gone = async (): Promise<void> => {
      const how = await place.ended;
      if (over) return;
      await Promise.race([hosted.silent, new Promise((late) => setTimeout(late, DRAIN_MS))]); // waits for the last output of the process
      if (over) return;
      const fault = crashed(place, how, assignment);
      if (how.outOfMemory)
        tally.context.emit({ type: "limit.reached", limit: "MEMORY", text: fault.fault.message, enforced: true });
      settle(partly(fault));
    };
    const deaf = onAbort(signal, abort);
    hosted.outcome.then(settle, () => {});
    gone().catch(() => {});
  });
}

/** How long to wait for the remaining output of a process that has exited. */
const DRAIN_MS = 500;

function crashed(
  { called }: ChildHost,
  { how, said, outOfMemory }: TaskExit,
  { limits: { maxMemoryMB } }: Assignment,
): FailedOutcome {
  const words = said.trim() === "" ? "" : `: ${said.trim().slice(-SAID_CHARS)}`;
  const limit = maxMemoryMB === undefined ? "" : ` of ${maxMemoryMB} MB`;
  return outOfMemory
    ? failed("MEMORY", `The task ran out of memory${limit}: its ${called} ${how}.`, {
        hint: "Raise the limit with --max-memory.",
      })
    : failed("CRASHED", `The ${called} of the task ${how} before the task was done${words}`, { retryable: true });
}

/**
 * The tools and models of a task that are defined in code and exist only in this process, so that the task cannot run
 * in another process.
 */
function cannotCross(
  { call, rights, model, tools, runner }: Assignment,
  { code }: SpawnParts,
): FailedOutcome | undefined {
  const where = runner === "thread" ? "in a thread of its own" : "in a process of its own";
  const tool = [...tools.keys()].find((name) => code.tools.has(name) && permit(rights, name).allowed);
  const who = call.task.agent ?? rights.name;
  if (tool !== undefined) {
    const hint =
      "Name the module of the tool in `toolModules`, remove the tool from the agent's list, or use the runner `local`.";
    return failed(
      "UNSUPPORTED",
      `"${who}" cannot run ${where}: its tool "${tool}" is defined in code and cannot be passed to a child.`,
      { hint },
    );
  }
  if (!code.models.has(model.ref)) return undefined;
  const hint = "Choose a model by name, as in provider/model, or use the runner `local`.";
  return failed(
    "UNSUPPORTED",
    `"${who}" cannot run ${where}: its model "${model.name}" is defined in code and cannot be passed to a child.`,
    { hint },
  );
}

function marked(setup: ChildSetup, mark: string): ChildSetup {
  return { ...setup, env: { ...setup.env, [MARKER]: mark }, passEnv: [...(setup.passEnv ?? []), MARKER] };
}

type Tally = Readonly<{ context: PerformContext; text(): string; spent(): Spending; waited(): number }>;

/** Wraps the context of a task to remember the usage and text of the task, in case its process crashes. */
function createTally({ model }: Assignment, context: PerformContext, past: readonly KeptEvent[]): Tally {
  let usage = noUsage();
  let cost = noCost();
  let text = "";
  let answering = model.name;
  const tools: Record<string, number> = {};
  const note = (fact: KeptEvent | Parameters<PerformContext["emit"]>[0]): void => {
    if (fact.type === "tool.started") addCount(tools, fact.tool);
    if (fact.type !== "turn.ended") return;
    usage = addUsage(usage, fact.usage);
    cost = addCost(cost, fact.cost);
    text = fact.text || text;
    answering = fact.model ?? model.name;
  };
  past.forEach(note);
  const { standing, waited } = createStopwatch();
  return {
    waited,
    context: taskContext(context, { standing, seen: note }),
    text: () => text,
    spent: () => ({ usage, cost, model: answering, tools: { ...tools } }),
  };
}

/** Measures the total time that a task waits; overlapping waits count once. */
function createStopwatch(): Readonly<{ standing<T>(wait: () => Promise<T>): Promise<T>; waited(): number }> {
  let waits = 0;
  let since = 0;
  let total = 0;
  return {
    waited: () => total + (waits > 0 ? performance.now() - since : 0),
    standing: async (wait) => {
      if (waits === 0) since = performance.now();
      waits += 1;
      try {
        return await wait();
      } finally {
        waits -= 1;
        if (waits === 0) total += performance.now() - since;
      }
    },
  };
}
