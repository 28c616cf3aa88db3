import { z } from "zod";
import type { Limits } from "./limits.ts";
import { runnerRows } from "./runner-rows.ts";

/** The names of the rows of src/runners/table.ts; `acp` stands for the command lines of all ACP agents. */
export type RunnerRowName = (typeof runnerRows)[number];
type NamedRunner = Exclude<RunnerRowName, "acp">;
/** Everything that can carry out a task and has a name of its own, also remote agents. */
export const namedRunners: readonly NamedRunner[] = runnerRows.filter((name) => name !== "acp");

/** Runners that are part of subcrew, in order of isolation. */
export const ownRunners = ["local", "thread", "process"] as const;
export type OwnRunner = (typeof ownRunners)[number];
const isOwn = (name: string): name is OwnRunner => ownRunners.some((own) => own === name);

/** Other agent programs that can run a task. */
export type ForeignName = Exclude<NamedRunner, OwnRunner | "a2a">;
export const foreignTools = namedRunners.filter((name): name is ForeignName => name !== "a2a" && !isOwn(name));

/** A command that supports the Agent Client Protocol, as in `acp:my-agent --stdio`. */
export const ACP = "acp:";
export type AcpCommand = `acp:${string}`;

/** The former name of the runner `thread`, which is still accepted. */
const FORMER_THREAD = "worker";

/** The runner of a task, as a task, an agent file, a setting or a flag names it. */
export const runnerName = z.union([
  z.enum([...ownRunners, ...foreignTools]),
  z.templateLiteral([ACP, z.string().min(1)]),
  z.literal(FORMER_THREAD).transform((): OwnRunner => "thread"),
]);
export type RunnerName = OwnRunner | ForeignName | AcpCommand;

/** The names of all runners, for help texts and errors. */
export const runnerWords = [...ownRunners, ...foreignTools, `${ACP}COMMAND`].join(", ");

/** The name of the executor of a task: a runner, or a remote agent. */
export type TaskRunner = RunnerName | "a2a";

/** True for a command that supports the Agent Client Protocol. */
export const isAcp = (runner: TaskRunner): runner is AcpCommand => runner.startsWith(ACP);

/** The runner that a text names; undefined when the text is not the name of a runner. */
export function parseRunnerName(text: string): RunnerName | undefined {
  return runnerName.safeParse(text).data;
}

/** True for a runner that is another agent program. */
export function isForeign(runner: TaskRunner | undefined): runner is ForeignName | AcpCommand {
  return runner !== undefined && runner !== "a2a" && !isOwn(runner);
}

/** The runners that were requested, and by whom: the task, the agent's file or a setting. */
export type RunnerWishes = Readonly<{ task?: RunnerName | undefined; agent?: RunnerName | undefined }>;

/**
 * Chooses what executes a task. If a person's task names a runner, it overrides the agent's runner; a task of another
 * agent can only choose a more isolated runner. Limits of memory and processor time can only be measured in a separate
 * process, so they also move the task there.
 */
export function chooseRunner(wishes: RunnerWishes, { limits, depth }: { limits: Limits; depth: number }): RunnerName {
  const [task, agent] = [currentName(wishes.task), currentName(wishes.agent)];
  const wished = depth === 0 ? (task ?? agent) : isForeign(agent) ? agent : furthest(task, agent);
  const measured = limits.maxMemoryMB !== undefined || limits.maxCpuSeconds !== undefined;
  return measured && (wished === undefined || wished === "local") ? "process" : (wished ?? "local");
}

/** The current name of a runner: journals and agents defined in code may contain its former name. */
function currentName(name: RunnerName | undefined): RunnerName | undefined {
  return (name as string | undefined) === FORMER_THREAD ? "thread" : name;
}

function furthest(...names: readonly (RunnerName | undefined)[]): RunnerName | undefined {
  return ownRunners.findLast((name) => names.includes(name));
}

/**
 * Why a requested runner is refused: only people may choose programs. A model cannot name a program, and a file of a
 * project can name a known agent program, but not a command line.
 */
export function strangeRunner(
  { task, agent }: RunnerWishes,
  { depth, from }: { depth: number; from: string | undefined },
): string | undefined {
  if (depth > 0 && isForeign(task) && task !== agent) return "no agent may start another agent program on its own";
  const wished = depth === 0 ? (task ?? agent) : agent;
  if (task === undefined && wished?.startsWith(ACP) && (from === "project" || from === "plugin"))
    return `the agent file belongs to a ${from} and names a command to run`;
  return undefined;
}
