import { endingOf } from "../../core/outcome/outcome-of-plan.ts";
import type { Outcome } from "../../core/outcome/outcome.ts";
import { createBudget } from "../../core/run/budget.ts";
import type { Event, Fact } from "../../core/run/event.ts";
import { hasEnded, noHistory } from "../../core/run/history.ts";
import { nowhere } from "../../core/schedule/fill-references.ts";
import { CrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { DEFAULT_CONCURRENCY } from "../../core/vocabulary/limits.ts";
import { following, pausedFor, stopped } from "../async/cancel.ts";
import { inTurns } from "../async/in-turns.ts";
import { onAbort } from "../async/on-abort.ts";
import { Slots } from "../async/slots.ts";
import { execute } from "../execute/execute.ts";
import { createLeases } from "../execute/leases.ts";
import { createMailbox } from "../execute/mailbox.ts";
import type { PlanScope } from "../execute/scope.ts";
import { StoppableNodes } from "../execute/stoppable-nodes.ts";
import type { Feature, OpenFeature, OpeningRun, Outlets, Scope } from "./feature.ts";
import { RunLog } from "../run/run-log.ts";
import type { Drive } from "../run/run.ts";
import type { Start, StartWarning } from "./start.ts";

/**
 * Executes one run from its first event to its last, with the given features: the first is outside of all others. They
 * are opened from the inside to the outside, and closed the other way round.
 */
export async function drive(features: readonly Feature[], start: Start, it: Drive): Promise<void> {
  for (const { check } of features) await check?.(start);
  const rows: OpenFeature[] = [];
  const { controller, release } = following(it.signal);
  let publish: (event: Event) => void = it.publish;
  const log = await RunLog.open(it.run, start, {
    publish: (event) => publish(event),
    stored: (events) => rows.forEach((row) => row.stored?.(events)),
    lost: (error) => controller.abort(stopped(error.message)),
  });
  const forget = onAbort(controller.signal, () => rows.forEach((row) => row.stopping?.()));
  try {
    if (!(await begins(log, start, it))) return;
    let outlets: Outlets = log;
    const emit: Outlets["emit"] = (path, fact) => outlets.emit(path, fact);
    const run: OpeningRun = {
      ...start,
      id: it.run,
      self: it.self,
      state: it.state,
      log,
      emit,
      signal: controller.signal,
    };
    for (const { open } of features.toReversed()) if (open) rows.unshift(await open(run));
    outlets = rows.reduceRight((inner, row) => row.outlets?.(inner) ?? inner, outlets);
    publish = rows.reduceRight((inner, row) => row.publish?.(inner) ?? inner, publish);
    const scope = rows.reduceRight<Scope>((inner, row) => ({ ...inner, ...row.scope?.(inner) }), {
      ...plainScope(run),
      emit,
      live: (path, delta) => outlets.live(path, delta),
    });
    it.connect({ log, engine: start.engine, ...Object.assign({}, ...rows.map(({ commands }) => commands)) });
    emit("", firstFact(run));
    for (const { code, text } of warningsOf(run)) emit("", { type: "warning", code, text });
    const { task } = start.resume ?? {};
    const over = (): void => controller.abort(pausedFor(`only "${task}" and the tasks that depend on it were resumed`));
    const { outcome, outcomeOf } = await execute(start.plan, planScope(run, scope), {
      started: (plan) => rows.forEach((row) => row.executing?.(plan)),
      ...(task !== undefined && { only: { node: task, over } }),
    });
    const end = rows.reduceRight<Outcome | undefined>(
      (so, row) => (so && row.end ? row.end(so) : so),
      endingOf(outcome, outcomeOf),
    );
    if (end) emit("", { type: "run.ended", outcome: end });
    log.seal();
    await log.durable();
  } finally {
    forget();
    release();
    log.seal();
    await all(rows, (row) => row.close?.());
    await log.close();
    await all(rows, (row) => row.closed?.());
  }
}

/** Publishes what earlier processes recorded. False: the run has ended meanwhile, so nothing is left to do. */
async function begins({ past }: RunLog, { resume }: Start, { run, publish }: Drive): Promise<boolean> {
  if (!resume && past.length > 0)
    throw new CrewError(
      "RUN_BUSY",
      `A run "${run}" already exists.`,
      "Resume that run, or start a run with another id.",
    );
  await inTurns(past, publish);
  return !(resume && hasEnded(past, resume));
}

/** The event with which this process begins the run, or continues it. */
function firstFact({ plan, cwd, version, parameters, parks, begins: more, resume, log, ...run }: OpeningRun): Fact {
  const { budget, maxTimeMs, name, continues, origin } = parameters;
  const limits = { ...budget, ...defined({ maxTimeMs }) };
  if (!resume)
    return {
      type: "run.started",
      plan,
      cwd,
      version,
      ...defined({ name, continues, origin, parks, environment: run.environment }),
      ...(run.context !== "" && { context: run.context }),
      limits,
      ...more,
    };
  const { retryFailed, task } = resume;
  return {
    type: "run.resumed",
    after: log.past.length,
    ...(retryFailed && { retryFailed }),
    ...defined({ task, parks }),
    limits,
  };
}

/** What a person should know about the start of the run. */
function warningsOf({ plan, resume, log, warnings = [] }: OpeningRun): readonly StartWarning[] {
  const problems = log.problems.map((text) => ({ code: "JOURNAL", text }));
  const notes = resume ? [] : (plan.notes ?? []).map((text) => ({ code: "COMPILE", text }));
  return [...warnings, ...problems, ...notes];
}

/** The scope of a run without any feature: its plan is executed and recorded, without limits. */
function plainScope({ id, log, signal, ...start }: OpeningRun): Omit<Scope, "emit" | "live"> {
  return {
    ...start,
    id,
    signal,
    durable: log.durable,
    history: noHistory,
    budget: createBudget({}),
    mailbox: createMailbox(),
    leases: createLeases(),
    stoppable: new StoppableNodes(),
    redact: (text) => text,
    execute,
  };
}

/** Where the plan of the run stands: at the top, or below the agent that started the run. */
function planScope({ plan, parameters, parent, above }: OpeningRun, { signal, ...run }: Scope): PlanScope {
  const most = plan.concurrency ?? Number.POSITIVE_INFINITY;
  const asked = parameters.concurrency ?? (plan.concurrency === undefined ? DEFAULT_CONCURRENCY : most);
  return {
    run,
    prefix: "",
    outer: nowhere,
    slots: new Slots(Math.min(most, asked)),
    signal,
    depth: above ? above.depth + 1 : 0,
    ...(parent && {
      depth: parent.depth,
      parentModel: parent.model,
      ...defined({ ceiling: parent.ceiling, policy: parent.policy, conversation: parent.conversation }),
    }),
  };
}

/** Calls one function of every row, and rejects with the first error once all have settled. */
async function all(rows: readonly OpenFeature[], call: (row: OpenFeature) => Promise<void> | void): Promise<void> {
  const settled = await Promise.allSettled(rows.map(async (row) => call(row)));
  const failed = settled.find((one) => one.status === "rejected");
  if (failed) throw failed.reason;
}
