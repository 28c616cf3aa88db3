import type { Limits } from "./limits.ts";

/** Where a task may be carried out, each further away from this program than the one before. */
export const runnerNames = ["local", "worker", "process"] as const;
export type RunnerName = (typeof runnerNames)[number];

/** Where a task is carried out: where somebody wished it, or with an agent that is elsewhere. */
export type TaskRunner = RunnerName | "a2a";

/** Who said where a task is carried out. */
export type RunnerWishes = Readonly<{ task?: RunnerName | undefined; agent?: RunnerName | undefined }>;

/**
 * Where a task is carried out. A person's task beats the agent; a task that an agent gave can only move it further away.
 * What memory and processor time are used can only be told where a task is alone, so such a limit moves it out by itself.
 */
export function chooseRunner(
  { task, agent }: RunnerWishes,
  { limits, depth }: { limits: Limits; depth: number },
): RunnerName {
  const wished = depth === 0 ? (task ?? agent) : furthest(task, agent);
  const measured = limits.maxMemoryMB !== undefined || limits.maxCpuSeconds !== undefined;
  return measured && (wished === undefined || wished === "local") ? "process" : (wished ?? "local");
}

function furthest(...names: readonly (RunnerName | undefined)[]): RunnerName | undefined {
  return runnerNames.findLast((name) => names.includes(name));
}
