import { answerKind, misfit } from "../../core/plan/answer-kind.ts";
import { doneWith, onlyRunsPause, type Receipt, refusedWith, type RunCommand } from "../../core/run/run-command.ts";
import type { NodeView, State } from "../../core/run/state.ts";
import { isCrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { pause } from "../async/cancel.ts";
import { endingWith, taskNames } from "./affected-tasks.ts";
import type { Run } from "../run/run.ts";

/** Handles a command from another process. `undefined`: not possible yet, try again later. */
export async function handleCommand(run: Run, command: RunCommand, signal: AbortSignal): Promise<Receipt | undefined> {
  if (run.killed && command.do !== "kill") return undefined; // the command is kept for the next process of the run
  switch (command.do) {
    case "answer":
      return takeAnswer(run, command, signal);
    case "send": {
      const { path, text, from, how = "steer" } = command;
      const taken = await run.send(path, text, from, how);
      if (!taken) return refusedWith("NOT_RUNNING", `"${path}" is not running, or has too many unread messages.`);
      return doneWith(
        how === "interrupt"
          ? `"${path}" was interrupted and reads the message now.`
          : `"${path}" reads the message before its next turn.`,
      );
    }
    case "pause":
      if (command.path !== undefined) return refusedWith("ONLY_RUNS_PAUSE", onlyRunsPause(run.id, command.path));
      run.pause(command.reason);
      return doneWith("The run is being paused.");
    case "cancel":
      return cancelFor(run, command);
    case "retry": {
      const failed = failedIn(run.state, command.path);
      if (failed.length === 0) return refusedWith("NOT_FAILED", notFailed(run.state, command.path));
      const { begun, problems } = await retryTasks(run, failed);
      return begun.length > 0
        ? doneWith([`Retrying: ${taskNames(begun)}.`, ...problems].join(" "))
        : refusedWith("NOT_FAILED", problems.join(" "));
    }
    case "kill":
      if (command.pid !== process.pid)
        return refusedWith("MOVED", "Another process has taken over the run. The run was not killed.");
      run.kill();
      return doneWith("The run is being killed.");
    case "charge": {
      const { usage, cost, ...spent } = command.spent;
      const counted = run.charge(command.path, { ...spent, usage: defined(usage), cost: defined(cost) });
      return counted ? doneWith("The usage was added to the run.") : refusedWith("RUN_ENDED", "The run has ended.");
    }
    case "budget": {
      const budget = await run.lend(command, command.request);
      return budget && { ...doneWith("The budget request was answered."), budget };
    }
    case "revoke":
      run.revoke(command.reservation);
      return doneWith("The part of the budget that was reserved is released.");
    case "change":
      return changeFor(run, command);
  }
}

/** The failed task with this path; without a path, every failed task of the plan. */
function failedIn({ nodes, plan }: State, path: string | undefined): string[] {
  const tops = Object.keys(plan?.nodes ?? {}).filter((id) => plan?.nodes[id]?.kind !== "join");
  return tops.filter((id) => (path === undefined || id === path) && nodes.get(id)?.outcome?.status === "failed");
}

type Tried = Readonly<{ begun: readonly string[]; problems: readonly string[] }>;

async function retryTasks(run: Run, paths: readonly string[]): Promise<Tried> {
  const problems: string[] = [];
  const begun: string[] = [];
  for (const path of paths) {
    const problem = await run.retryTask(path);
    if (problem === undefined) begun.push(path);
    else problems.push(problem);
  }
  return { begun, problems };
}

function changeFor(run: Run, { change }: Extract<RunCommand, { do: "change" }>): Receipt {
  try {
    run.change(change);
  } catch (error) {
    if (!isCrewError(error)) throw error;
    return refusedWith("BAD_CHANGE", [error.message, error.hint].filter(Boolean).join(" "));
  }
  const added = Object.keys(change.newTasks ?? {});
  return doneWith(`The plan was changed${added.length === 0 ? "" : `; added: ${taskNames(added)}`}.`);
}

function cancelFor(run: Run, { path, reason }: Extract<RunCommand, { do: "cancel" }>): Receipt {
  if (path === undefined) {
    run.cancel(reason);
    return doneWith("The run is being cancelled.");
  }
  const ending = endingWith(run.state, path);
  return run.cancelTask(path, reason)
    ? doneWith(`"${path}" is being cancelled.${ending}`)
    : notUnderWay(run.state, path);
}

function notUnderWay({ nodes }: State, path: string): Receipt {
  const view = nodes.get(path);
  if (view?.outcome) return refusedWith("TASK_ENDED", `"${path}" has ended (${view.status}).`);
  return refusedWith("NOT_RUNNING", `"${path}" is not running.`);
}

function notFailed(state: State, path: string | undefined): string {
  if (path === undefined) return "No task has failed.";
  if (state.plan?.nodes[path] === undefined)
    return `"${path}" is not a task of the plan, so it cannot be retried alone. Retry the task that started it.`;
  return `"${path}" has not failed: it ${stateOf(state, path)}.`;
}

function stateOf({ nodes }: State, path: string): string {
  const view = nodes.get(path);
  if (!view) return "has not begun";
  return view.outcome ? `has ended (${view.status})` : "is running";
}

type Answering = Extract<RunCommand, { do: "answer" }>;

/**
 * Handles an answer to a question. The first answer wins, from whichever program it came; later answers are refused.
 */
async function takeAnswer(
  run: Run,
  { path, answer, call, question }: Answering,
  signal: AbortSignal,
): Promise<Receipt | undefined> {
  // Another process may read a question before this one knows that its record is stored.
  if (run.state.nodes.get(path)?.question === undefined) await run.recorded();
  const view = run.state.nodes.get(path);
  const asked = view?.question;
  if (!view || asked === undefined) return refusedWith("NOT_ASKED", notWaiting(path, view));
  if (question !== undefined && question !== asked)
    return refusedWith("OTHER_QUESTION", `"${path}" asks a different question now. See \`subcrew inbox\`.`);
  if (call !== undefined && call !== view.call)
    return refusedWith("OTHER_QUESTION", `"${path}" asks about a different call now. See \`subcrew inbox\`.`);
  const problem = misfit(answerKind(view), answer, view.offersNetwork);
  if (problem !== undefined) return refusedWith("BAD_ANSWER", problem);
  // The resumed run has not asked the question again yet, or another answer is being recorded.
  if (!(await run.answer(path, clean(answer), view.call))) return undefined;
  while (view.question === asked && run.state.endedAt === undefined && (await pause(5, signal)));
  return doneWith("The answer was accepted.");
}

const notWaiting = (path: string, view: NodeView | undefined): string =>
  `"${path}" does not wait for an answer${view?.answer ? `; ${view.answer.by ?? "another person"} has already answered` : ""}.`;

/** The reply to a command that arrived after the end of the run. */
export function tooLate(command: RunCommand, state: State): Receipt {
  return command.do === "answer"
    ? refusedWith("NOT_ASKED", notWaiting(command.path, state.nodes.get(command.path)))
    : refusedWith("RUN_ENDED", "The run has ended.");
}

/** The answer without keys whose value is undefined. */
const clean = (answer: Answering["answer"]): Answering["answer"] =>
  Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== undefined)) as Answering["answer"];
