/** The environment variable that tells a nested subcrew process which task of its parent run started it. */
export const RUN_ABOVE_VARIABLE = "SUBCREW_PARENT";

/**
 * The task whose program started this process, with its depth and the maximum depth (negative: unlimited). `above`: the
 * tasks of the outer runs, the nearest first, if runs are nested more deeply.
 */
export type RunAbove = Readonly<{ task: string; depth: number; maxDepth: number; above?: readonly string[] }>;

/** The value of the environment variable for programs that a task starts. */
export const runAboveText = ({ task, depth, maxDepth, above = [] }: RunAbove): string =>
  `${depth}/${maxDepth} ${[task, ...above].join(" ")}`;

/** Parses the value of the environment variable. An invalid value is ignored. */
export function readRunAbove(text: string | undefined): RunAbove | undefined {
  const [, depth, maxDepth, tasks = ""] = /^(\d{1,4})\/(-?\d{1,4}) (\S+(?: \S+)*)$/.exec(text ?? "") ?? [];
  const [task = "", ...above] = tasks.split(" ");
  return depth === undefined ? undefined : { task, depth: Number(depth), maxDepth: Number(maxDepth), above };
}

/** True if the task that started this process may not start agents, because of its depth. */
export const isTooDeep = ({ depth, maxDepth }: RunAbove): boolean => maxDepth >= 0 && depth + 1 > maxDepth;

/** The smaller of two maximum depths; negative or absent: unlimited. */
export function smallerDepth(own: number | undefined, above: number): number | undefined {
  if (above < 0) return own;
  return own === undefined || own < 0 ? above : Math.min(own, above);
}
