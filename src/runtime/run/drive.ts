import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import { limitText } from "../../core/outcome/reached-limit.ts";
import { endingOf, withoutSpent } from "../../core/outcome/outcome-of-plan.ts";
import { isBelow, topNodeOf, withDependents } from "../../core/plan/graph.ts";
import type { Body, Plan } from "../../core/plan/plan.ts";
import type { Permissions } from "../../core/policy/permissions.ts";
import { changedFiles, listChangedFiles } from "../../core/run/changed-files.ts";
import { type BudgetSpent, createBudget } from "../../core/run/budget.ts";
import { type BelowSpent, createBelowMeter } from "../../core/run/run-below.ts";
import { budgetSpent, changesWork } from "../../core/run/budget-spent.ts";
import type { Delta, Fact, RunLimits, RecordedSettings } from "../../core/run/event.ts";
import { hasEnded, historyOf, noHistory, renewable, type RetryFailed } from "../../core/run/history.ts";
import { isWaiting } from "../../core/run/run-status.ts";
import type { Change } from "../../core/schedule/change.ts";
import { nowhere } from "../../core/schedule/fill-references.ts";
import { CrewError } from "../../core/schema/error.ts";
import { createRedactor, type Redactor } from "../../core/secrets/redact.ts";
import type { Parent } from "../../core/task/engine.ts";
import { defined } from "../../core/text/defined.ts";
import { DEFAULT_CONCURRENCY } from "../../core/vocabulary/limits.ts";
import { following, isKilled, pausedFor, pauseReason, stopped } from "../async/cancel.ts";
import { measureJumps, steadyClock } from "../async/steady-clock.ts";
import { inTurns } from "../async/in-turns.ts";
import { onAbort } from "../async/on-abort.ts";
import { Slots } from "../async/slots.ts";
import { execute, type RunningPlan } from "../execute/execute.ts";
import { createLeases, type ShareLease } from "../execute/leases.ts";
import { createMailbox } from "../execute/mailbox.ts";
import type { PlanScope, RunParts } from "../execute/scope.ts";
import { type Note, postMessage } from "../execute/send-message.ts";
import { StoppableNodes } from "../execute/stoppable-nodes.ts";
import { type BudgetAbove, borrowBudget } from "./borrow-budget.ts";
import { type CappedSpending, capSpending } from "./cap-spending.ts";
import { lendBudget, type RunsBelow } from "./lend-budget.ts";
import { orderDeltas } from "./ordered-deltas.ts";
import { createPartialTurns } from "./partial-turns.ts";
import { redacting } from "./redact-events.ts";
import type { Drive } from "./run.ts";
import { type RunClock, startRunClock } from "./run-clock.ts";

/**
 * The part of a run to resume: everything unfinished, or with `task` only that task and the tasks that depend on it.
 */
export type ResumedPart = Readonly<{ retryFailed: boolean; task?: string }>;

/** Everything that a run is started with, after all options were resolved. */
export type Start = RunParts &
  Readonly<{
    plan: Plan;
    clock(): number;
    /** The redactor of the run. Without it, only text that looks like a secret is removed. */
    redactor?: Redactor;
    version: string;
    cwd: string;
    /** The agent that started this run, if any: its permissions limit those of the run. */
    parent?: Parent & Readonly<{ depth: number }>;
    /** The delegation depth of the run's first tasks, if a program of an agent started the run; 0 by default. */
    depth?: number;
    /** Throws for nodes that this crew cannot execute; called for nodes that are added to a running plan. */
    check?(body: Body): void;
    /** Warnings to report at the start of the run. */
    warnings?: readonly Readonly<{ code: string; text: string }>[];
    /** Resolves when everything that the run's tasks started has ended. */
    gone?(): Promise<void>;
    /** The permissions of the run's agents, recorded so that a resumed run gets no more. */
    permissions?: Permissions;
    /** The settings that determine how the run works, to be recorded. */
    settings?: RecordedSettings;
    /** True: no API key was found, so tasks that name no other model use the offline model. */
    offline?: true;
    /** The agents that the run carries, by name: the hashes of their stored definitions. */
    carried?: Readonly<Record<string, string>>;
    /** Reports the usage of this run to its parent run, if a program of one of that run's tasks started this run. */
    report?(spent: BelowSpent): Promise<void>;
    /** The budget of the parent run, whose task started this run. */
    budgetAbove?: BudgetAbove;
    /** The nested runs that programs of the run's tasks start. */
    runsBelow?: RunsBelow;
    /** The spending caps for all runs together. */
    spending?: CappedSpending;
    /** Takes leases (files to write) that other runs see; absent: there are no other runs. */
    shareLease?: ShareLease;
    /** The part of the run to resume; set when an earlier process began this run. */
    resume?: ResumedPart;
  }>;

/** Executes one run from its first event to its last. */
export async function drive(start: Start, { run, signal, state, publish, connect, settle }: Drive): Promise<void> {
  const { plan, engine, parameters, resume } = start;
  const record = following(signal);
  let lost: Error | undefined;
  const timing: { clock?: RunClock } = {};
  const ordered = orderDeltas(publish);
  const journal = await engine.journal(run, {
    kept: (events) => {
      for (const event of events) ordered.kept(event);
      if (events.some(({ type }) => changesWork.has(type))) timing.clock?.wait(isWaiting(state));
    },
    lost: (error) => {
      lost = error;
      record.controller.abort(stopped(error.message));
    },
  });
  const past = await journal.read();
  if (!resume && past.length > 0) {
    record.release();
    await journal.close();
    throw new CrewError(
      "RUN_BUSY",
      `A run "${run}" already exists.`,
      "Resume that run, or start a run with another id.",
    );
  }
  await inTurns(past, publish);
  // A previous owner may have finished the run while this process prepared.
  if (resume && hasEnded(past, resume)) {
    record.release();
    await start.gone?.();
    return journal.close();
  }
  let seq = past.length;
  const timeOf = steadyClock(start.clock, past.at(-1)?.at);
  const jumpBefore = measureJumps();
  const redactor = start.redactor ?? createRedactor([]);
  const append = (path: string, fact: Fact): void => {
    if (over) return;
    seq += 1;
    ordered.appended(path, seq);
    const at = timeOf();
    journal.append({ seq, run, path, at, ...defined({ jumped: jumpBefore(at) }), ...fact });
  };
  const meter = createBelowMeter(run);
  const partials = createPartialTurns(append);
  const paused = (): string | undefined => pauseReason(record.controller.signal);
  const { emit, live } = redacting(redactor, {
    emit: (path, fact) => {
      // While pausing, only the ends of cancelled tasks are recorded: all other tasks continue after a resume, as after
      // a kill.
      if (paused() !== undefined && !isKeptWhilePausing(fact)) {
        if (fact.type !== "node.ended") return;
        if (!stoppable.isCancelled(path)) return stoppable.interrupt(path);
      }
      partials.before(path, fact);
      meter.see(path, fact);
      append(path, fact);
    },
    live: (path: string, delta: Delta): void => {
      if (over) return;
      partials.shown(path, delta);
      ordered.live({ run, path, at: timeOf(), ...delta });
    },
  });
  let over = false;
  let growing: RunningPlan | undefined;
  const grow = (change: Change): void => {
    if (paused() !== undefined)
      throw new CrewError("BAD_CHANGE", "The run is being paused, so its plan cannot change.", "Resume the run first.");
    if (!growing)
      throw new CrewError(
        "BAD_CHANGE",
        "The run was cancelled before it began, so its plan cannot change.",
        "Start the run again.",
      );
    start.check?.({ nodes: change.newTasks ?? {}, output: "" });
    growing.change(change);
  };
  const mailbox = createMailbox();
  const leases = createLeases(start.shareLease);
  const send = async (path: string, note: Note): Promise<boolean> => {
    if (path === "" || paused() !== undefined || !postMessage({ mailbox, emit }, path, note)) return false;
    await journal.durable();
    return true;
  };
  const stoppable = new StoppableNodes();
  const stop = (path: string, reason: string): boolean =>
    stoppable.cancel(path, reason) || (paused() === undefined && (growing?.cancelWaiting(path, reason) ?? false));
  const goesOn = resume?.task === undefined || !state.plan ? undefined : withDependents(state.plan, resume.task);
  const retryFailed: RetryFailed = goesOn
    ? (path) => (resume?.retryFailed ?? false) && state.plan !== undefined && goesOn.has(topNodeOf(state.plan, path))
    : (resume?.retryFailed ?? false);
  const pauseRest = (): void =>
    record.controller.abort(pausedFor(`only "${resume?.task}" and the tasks that depend on it were resumed`));
  const history = renewable(resume ? historyOf(past, { retryFailed }) : noHistory);
  const retryTask = async (path: string): Promise<string | undefined> => {
    const top = state.plan && topNodeOf(state.plan, path);
    if (top === undefined || state.plan?.nodes[top] === undefined) return `The task "${path}" does not exist.`;
    if (paused() !== undefined || over || !growing) return "The run is about to end.";
    await journal.durable();
    const again = withDependents(state.plan, top);
    const below = (other: string): boolean => state.plan !== undefined && again.has(topNodeOf(state.plan, other));
    const renewed = historyOf(await journal.read(), { retryFailed: below });
    for (const each of again) history.renew(each, renewed);
    return growing.retry(top);
  };
  const charge = (path: string, { run: below, ...spent }: BelowSpent): boolean => {
    if (over) return false;
    emit(path, { type: "below.ended", below, ...spent });
    lent.ended(below, spentBelow(spent));
    return true;
  };

  const limits: RunLimits = { ...parameters.budget, ...defined({ maxTimeMs: parameters.maxTimeMs }) };
  const { ms: worked, ...used } = budgetSpent(past);
  const ownBudget = createBudget(parameters.budget ?? {}, used);
  const borrowed = start.budgetAbove && borrowBudget(ownBudget, start.budgetAbove);
  const shared = borrowed?.budget ?? ownBudget;
  const lent = lendBudget(shared, start.runsBelow ?? noRuns, (path, { run: below, ...spent }) => {
    emit(path, { type: "below.ended", below, ...spent });
  });
  connect({
    ...{ journal, engine, send, stop, retryTask, charge, change: grow },
    lend: lent.answer,
    revoke: (id) => borrowed?.revoke(id),
  });
  const budget = start.spending ? capSpending(shared, start.spending) : shared;
  let pauseRecorded = false;
  const recordPause = (): void => {
    const reason = paused();
    if (reason === undefined || pauseRecorded || isKilled(record.controller.signal)) return;
    pauseRecorded = true;
    partials.stop();
    append("", { type: "run.paused", reason: redactor.text(reason) });
    journal.hasten?.();
  };
  // Registered before the run's clock, which stops all tasks: a pause is recorded before anything else happens.
  const forgetPause = onAbort(record.controller.signal, recordPause);
  const clock = startRunClock(record.controller.signal, {
    maxTimeMs: parameters.maxTimeMs,
    worked,
    parks: start.parks?.onLimit === "park",
    close: (limit) => {
      const text = `The run reached its limit of ${limitText(limit)}.`;
      emit("", { type: "limit.reached", limit: "time", text, enforced: true, reached: limit });
      budget.close(limit, { revoke: start.parks?.onLimit !== "park" });
    },
  });
  timing.clock = clock;
  try {
    if (resume)
      emit("", {
        type: "run.resumed",
        after: past.length,
        ...(resume.retryFailed && { retryFailed: true as const }),
        ...defined({ task: resume.task }),
        limits,
        ...defined({ parks: start.parks }),
      });
    else
      emit("", {
        type: "run.started",
        plan,
        cwd: start.cwd,
        version: start.version,
        ...defined({
          name: parameters.name,
          permissions: start.permissions,
          continues: parameters.continues,
          origin: parameters.origin,
        }),
        ...(start.context !== "" && { context: start.context }),
        limits,
        ...defined({
          environment: start.environment,
          settings: start.settings,
          parks: start.parks,
          offline: start.offline,
          agents: start.carried,
        }),
      });
    for (const { code, text } of start.warnings ?? []) emit("", { type: "warning", code, text });
    for (const text of journal.problems) emit("", { type: "warning", code: "JOURNAL", text });
    for (const text of resume ? [] : (plan.notes ?? [])) emit("", { type: "warning", code: "COMPILE", text });

    const { outcome, outcomeOf } = await execute(
      plan,
      {
        run: {
          ...start,
          id: run,
          history,
          emit,
          live,
          durable: () => (paused() === undefined ? journal.durable() : Promise.reject(new Error("the run is paused"))),
          recorded: async (path) => {
            await journal.durable();
            return historyOf(await journal.read(), { retryFailed }).events(path);
          },
          changedBelow: async (path) => {
            await journal.durable();
            const changes = changedFiles((await journal.read()).filter((event) => isBelow(event.path, path)));
            return listChangedFiles(changes, start.cwd);
          },
          budget,
          mailbox,
          leases,
          stoppable,
          redact: (text) => redactor.text(text),
          execute,
        },
        prefix: "",
        outer: nowhere,
        slots: new Slots(
          Math.min(
            plan.concurrency ?? Number.POSITIVE_INFINITY,
            parameters.concurrency ?? (plan.concurrency === undefined ? DEFAULT_CONCURRENCY : Number.POSITIVE_INFINITY),
          ),
        ),
        signal: clock.signal,
        depth: start.depth ?? 0,
        ...(start.parent && under(start.parent)),
      },
      {
        started: (handle) => {
          growing = handle;
        },
        ...(resume?.task !== undefined && { only: { node: resume.task, over: pauseRest } }),
      },
    );
    if (paused() !== undefined) {
      recordPause();
      over = true;
      if (lost) throw lost;
      return await journal.durable();
    }
    emit("", {
      type: "run.ended",
      outcome: clock.passed() ? timedOut(endingOf(outcome, outcomeOf), clock) : endingOf(outcome, outcomeOf),
    });
    over = true;
    if (lost) throw lost;
    await journal.durable();
  } finally {
    forgetPause();
    partials.stop();
    over = true;
    clock.stop();
    record.release();
    lent.close();
    await Promise.all([start.gone?.(), leases.over(), borrowed?.settled(), settle?.()]);
    await journal.close();
    await start.report?.(meter.spent());
  }
}

/** Used where the store knows nothing about other processes: every nested run counts as alive. */
const noRuns: RunsBelow = { isOwned: async () => true, revoke: () => {} };

/** The usage of a nested run, in the units of a budget. */
const spentBelow = ({ usage, cost, toolCalls, spawns }: Omit<BelowSpent, "run">): BudgetSpent => ({
  tokens: usage.input + usage.output + usage.cacheRead + usage.cacheWrite + (usage.estimated ?? 0),
  usd: cost.usd + (cost.estimated ?? 0),
  maxTurns: usage.turns,
  maxToolCalls: toolCalls,
  maxSpawns: spawns,
});

/** True for events that are still recorded while a run is being paused. */
function isKeptWhilePausing(fact: Fact): boolean {
  return fact.type === "tool.ended" ? !fact.error : KEPT_WHILE_PAUSING.has(fact.type);
}

const KEPT_WHILE_PAUSING: ReadonlySet<Fact["type"]> = new Set([
  "run.started",
  "run.resumed",
  "turn.ended",
  "gate.answered",
  "message.sent",
  "warning",
]);

/** The values that a subagent's run inherits from its parent. */
function under({ ceiling, model, policy, depth, conversation }: NonNullable<Start["parent"]>): Partial<PlanScope> {
  return { depth, parentModel: model, ...defined({ ceiling, policy, conversation }) };
}

/** The outcome of a run whose time is up: its result so far, or a failure. */
function timedOut(outcome: Outcome, { text, limit }: Pick<RunClock, "text" | "limit">): Outcome {
  if (outcome.status === "ok") return { ...withoutSpent(outcome), limit };
  const fault = failed("TIMEOUT", `Stopped: ${text}.`, { hint: "Raise the limit with --max-run-time." });
  const output = "output" in outcome ? outcome.output : undefined;
  return { ...fault, limit, ...defined({ output }) };
}
