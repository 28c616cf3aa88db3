import { nodeAt } from "../../core/plan/graph.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { Task } from "../../core/plan/task.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import type { NodeView, State } from "../../core/run/state.ts";
import { CrewError, isCrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { continuationsOf } from "../background/stored-runs.ts";
import { recordedAgents } from "./recorded-agent.ts";
import { type RecordedRun, readRecordedRun } from "./recorded-run.ts";
import { typedPath } from "../../modes/names.ts";
import { shellWord } from "../../core/text/shell-word.ts";

/** An ended task and the new message to it. */
export type ContinueOptions = Readonly<{
  run: string | RecordedRun;
  /** The path of the task; absent: the only task of the run, or the task whose output is the result of the run. */
  path?: string;
  prompt: string;
  allowFailed: boolean;
  /** The maximum age of a task that is continued, and the maximum number of continuations. */
  expiresAfterDays?: number;
  maxContinuations?: number;
  now: number;
}>;

const DAY = 24 * 60 * 60 * 1_000;

/** The plan of a new run that continues a task of an old run, with the same agent, model, settings and conversation. */
export async function continueTask(
  store: RunStore,
  { run: given, path, prompt, allowFailed, expiresAfterDays = 7, maxContinuations = 5, now }: ContinueOptions,
): Promise<ContinuedTask> {
  const continued = typeof given === "string" ? await readRecordedRun(store, given).catch(notFound(given)) : given;
  const { id: run, records, state } = continued;
  const view = taskOfRun(state, path);
  checkEnded(state, view, allowFailed);
  if (now - (view.endedAt ?? now) > expiresAfterDays * DAY)
    throw new CrewError(
      "NOT_RESUMABLE",
      `Session expired (>${expiresAfterDays} days old).`,
      "Start a new task, or raise the setting resume.expiresAfterDays.",
    );
  if ((await continuationsOf(store, run)) >= maxContinuations)
    throw new CrewError(
      "NOT_RESUMABLE",
      `Resume quota exceeded (max ${maxContinuations}).`,
      "Start a new task, or raise the setting resume.maxContinuations.",
    );
  const node = state.plan && nodeAt(state.plan, view.path);
  const {
    refs: _r,
    include: _i,
    revise: _v,
    preface: _p,
    images: _images,
    fork: _f,
    resumes: _s,
    ...settings
  }: Partial<Task> = node?.kind === "task" ? node.task : {};
  const continues = `${run}/${view.path}`;
  const recorded = recordedAgents(records.events).at(view.path);
  const model = recorded?.definition.remote ? undefined : recorded?.model; // a remote agent chooses its own model, so none is given
  const agent = view.agent ?? settings.agent;
  const task: Task = {
    ...settings,
    ...defined({ agent, model }),
    prompt,
    refs: {},
    continues,
  };
  const id = view.path.split("/").at(-1)!;
  return {
    plan: { nodes: { [id]: { kind: "task", task } }, output: id },
    continues,
    continued,
    ...defined({ name: state.name }),
  };
}

/** The plan of the new run, and the run that it continues. */
export type ContinuedTask = Readonly<{ plan: Plan; continues: string; continued: RecordedRun; name?: string }>;

function notFound(run: string): (error: unknown) => never {
  return (error) => {
    throw isCrewError(error) && error.code === "UNKNOWN_RUN"
      ? new CrewError(error.code, `Session not found: the run "${run}" does not exist.`, error.hint)
      : error;
  };
}

/** The task at a path of a run; without a path, its only task, or the task whose output is the result of the run. */
export function taskOfRun(state: State, path: string | undefined): NodeView {
  const tasks = [...state.nodes.values()].filter(({ kind }) => kind === "task");
  if (path !== undefined) {
    const view = state.nodes.get(path);
    if (view?.kind === "task") return view;
    throw new CrewError(
      "UNKNOWN_RUN",
      `The task "${path}" was not found in the run "${state.run}".`,
      `The tasks of the run: ${tasks
        .map((each) => typedPath(each.path, each.label))
        .slice(0, 5)
        .join(", ")}.`,
    );
  }
  const output = state.plan && state.nodes.get(state.plan.output);
  const only = output?.kind === "task" ? output : tasks.length === 1 ? tasks[0] : undefined;
  if (only) return only;
  throw new CrewError(
    "BAD_INPUT",
    `"${state.run}" has ${tasks.length} tasks.`,
    `Name one of: ${tasks
      .map((each) => shellWord(`${state.run}/${typedPath(each.path, each.label)}`))
      .slice(0, 5)
      .join(", ")}.`,
  );
}

function checkEnded({ run, status }: State, { path, outcome }: NodeView, allowFailed: boolean): void {
  if (!outcome || status === "running")
    throw new CrewError(
      "NOT_RESUMABLE",
      `"${run}/${path}" has not ended, so it cannot be continued yet.`,
      `Wait until it ends, or send it a message: \`subcrew send ${run}/${path} "..."\`. If it was interrupted: \`subcrew resume ${run}\`.`,
    );
  if (outcome.status === "ok" || outcome.status === "cancelled" || (outcome.status === "failed" && allowFailed)) return;
  throw new CrewError(
    "NOT_RESUMABLE",
    `Can only resume COMPLETED or cancelled tasks, and "${run}/${path}" ${outcome.status === "failed" ? "failed" : "was skipped"}.`,
    outcome.status === "failed"
      ? "Add --allow-failed to continue the task, or --retry-failed to retry it."
      : "Start the work as a new task.",
  );
}
