import { isBelow, topNodeOf, withDependents } from "../../core/plan/graph.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { changedFiles, listChangedFiles } from "../../core/run/changed-files.ts";
import { historyOf, noHistory, renewable, type RetryFailed } from "../../core/run/history.ts";
import { CrewError } from "../../core/schema/error.ts";
import { pauseReason } from "../async/cancel.ts";
import type { RunningPlan } from "../execute/execute.ts";
import type { StoppableNodes } from "../execute/stoppable-nodes.ts";
import type { Feature } from "./feature.ts";
import type { ResumedPart } from "../resume/resume-run.ts";

export const tasksFeature: Feature = {
  name: "tasks",
  does: "replays what earlier processes recorded; cancels and retries single tasks, and changes the running plan",
  open: ({ log, resume, state, signal, cwd, check }) => {
    const isPausing = (): boolean => pauseReason(signal) !== undefined;
    const retryFailed = retriesOf(resume, state.plan);
    const history = renewable(resume ? historyOf(log.past, { retryFailed }) : noHistory);
    let stoppable: StoppableNodes | undefined;
    let running: RunningPlan | undefined;
    return {
      scope: (inner) => {
        ({ stoppable } = inner);
        return {
          history,
          recorded: async (path) => historyOf(await log.read(), { retryFailed }).events(path),
          changedBelow: async (path) => {
            const below = (await log.read()).filter((event) => isBelow(event.path, path));
            return listChangedFiles(changedFiles(below), cwd);
          },
        };
      },
      executing: (plan) => {
        running = plan;
      },
      commands: {
        stop: (path, reason) =>
          stoppable?.cancel(path, reason) === true || (!isPausing() && (running?.cancelWaiting(path, reason) ?? false)),
        retryTask: async (path) => {
          const { plan } = state;
          const top = plan && topNodeOf(plan, path);
          if (!plan || top === undefined || plan.nodes[top] === undefined) return `The task "${path}" does not exist.`;
          if (isPausing() || log.isSealed || !running) return "The run is about to end.";
          const again = withDependents(plan, top);
          const renewed = historyOf(await log.read(), { retryFailed: (other) => again.has(topNodeOf(plan, other)) });
          for (const each of again) history.renew(each, renewed);
          return running.retry(top);
        },
        change: (change) => {
          if (isPausing())
            throw new CrewError(
              "BAD_CHANGE",
              "The run is being paused, so its plan cannot change.",
              "Resume the run first.",
            );
          if (!running)
            throw new CrewError(
              "BAD_CHANGE",
              "The run was cancelled before it began, so its plan cannot change.",
              "Start the run again.",
            );
          check?.({ nodes: change.newTasks ?? {}, output: "" });
          running.change(change);
        },
      },
    };
  },
};

/** Which failed tasks are run again: all, or those of the resumed task and the tasks that depend on it. */
function retriesOf(resume: ResumedPart | undefined, plan: Plan | undefined): RetryFailed {
  if (!resume?.retryFailed || resume.task === undefined || !plan) return resume?.retryFailed ?? false;
  const again = withDependents(plan, resume.task);
  return (path) => again.has(topNodeOf(plan, path));
}
