import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { Answer } from "../../core/plan/gate.ts";
import type { Change } from "../../core/schedule/change.ts";
import { CrewError, messageOf } from "../../core/schema/error.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import { defined } from "../../core/text/defined.ts";
import { type DagNode, linkDag, planOfDag } from "../../facades/parallel/dag.ts";
import {
  executorLimits,
  type ExecutorOptions,
  noUsageStats,
  type PendingApproval,
  type RunAgent,
  type TaskProgress,
  type TaskResult,
} from "../../facades/parallel/task-result.ts";
import { asId } from "../../modes/names.ts";
import type { TeamMember, TeamTask } from "../../modes/team.ts";
import { onAbort } from "../../runtime/async/on-abort.ts";
import type { RunningPlan } from "../../runtime/execute/execute.ts";
import { attachmentsOf, prefaceOf, verdictPrompt } from "../../runtime/loop/first-message.ts";
import { createDagView, type DagView, isGood } from "./dag-view.ts";
import { executeAlone, pathOfKey } from "./execute-alone.ts";
import { errorOf } from "./run-agent-with-retry.ts";

/** The options for executing a graph of team tasks. */
export type DagExecutionOptions = Readonly<{
  /** The graph, from `buildDag`; statuses and results are written into it. */
  nodes: Map<string, DagNode>;
  members: Map<string, TeamMember>;
  objective: string;
  cwd: string;
  maxConcurrency: number;
  /** Runs one agent once. The executor handles retries, rounds and order. */
  runAgent: RunAgent;
  sharedContext?: string;
  workspacePath?: string;
  signal?: AbortSignal;
  onProgress?(nodes: Map<string, DagNode>, progress: readonly TaskProgress[]): void;
  /**
   * Decides about a draft that requires approval; without it nothing is approved. A rejection with feedback asks for
   * another draft.
   */
  onApprovalNeeded?(taskId: string, plan: string): Promise<{ approved: boolean; feedback?: string }>;
  /** Called with the graph once it is being executed. */
  onStart?(dag: RunningDag): void;
}>;

/** A graph that can change while it runs. */
export type RunningDag = Readonly<{ modify(changes: TaskModifications): void }>;

/**
 * New tasks, other dependencies for tasks that have not started, and tasks to mark as failed. Either the whole change
 * takes effect, or nothing of it.
 */
export type TaskModifications = Readonly<{
  newTasks?: readonly TeamTask[];
  updateDependencies?: Readonly<Record<string, readonly string[]>>;
  markFailed?: readonly string[];
}>;

/** The last result of every draft and review, in the order in which they ended. */
export type DagExecutionResult = Readonly<{
  results: TaskResult[];
  aborted: boolean;
  /** The first draft that needed an approval that no person was available to give. */
  pendingApproval?: PendingApproval;
}>;

/**
 * Executes a graph of team tasks: it becomes the plan of team mode, the usual executor executes it, and `runAgent` does
 * the work of each task.
 */
export async function executeDag(options: DagExecutionOptions): Promise<DagExecutionResult> {
  const { nodes, members, objective, maxConcurrency, onProgress, onApprovalNeeded, onStart } = options;
  const { signal = new AbortController().signal } = options;
  if (nodes.size === 0) return { results: [], aborted: signal.aborted };
  const view = createDagView(nodes, (progress) => onProgress?.(nodes, progress));
  await executeAlone(
    planOfDag(nodes, members, objective),
    {
      signal,
      concurrency: Math.max(1, Math.floor(maxConcurrency)),
      context: contextOf(options),
      perform: (call, context) => perform(call, context, view, options),
      emit: view.see,
      ...(onApprovalNeeded && { answer: approvals(onApprovalNeeded, view) }),
    },
    (growing) => onStart?.({ modify: (changes) => modify(changes, growing, options) }),
  );
  const pendingApproval = view.pendingApproval();
  return { results: view.results(), aborted: signal.aborted, ...defined({ pendingApproval }) };
}

async function perform(
  call: Call,
  { signal }: PerformContext,
  view: DagView,
  { cwd, runAgent }: DagExecutionOptions,
): Promise<Outcome> {
  const piece = view.piece(call.path);
  const { prompt, label, retry: _retry, agent: _agent, ...settings } = call.task;
  const background = [prefaceOf(call), ...attachmentsOf(call)].filter((part) => part !== "").join("\n\n");
  const { model, tools, systemPrompt, thinking, resourceLimits } = settings;
  const result = await attempt(runAgent, {
    task: call.review ? [prompt, verdictPrompt(prompt, false)].filter((part) => part !== "").join("\n\n") : prompt,
    cwd: settings.cwd ?? cwd,
    id: piece.id,
    signal,
    onProgress: view.show,
    ...defined({ name: label }),
    ...(background !== "" && { context: background }),
    ...defined({ model, tools, systemPrompt, thinking }),
    resourceLimits: executorLimits(resourceLimits),
  });
  view.keep(piece, result);
  if (isGood(result)) return { status: "ok", output: result.output };
  const message = result.aborted && !result.error ? "The task was aborted." : errorOf(result);
  return { ...failed("CRASHED", message), ...(result.output !== "" && { output: result.output }) };
}

/** Runs an agent; an exception becomes a failed result. */
async function attempt(runAgent: RunAgent, options: ExecutorOptions): Promise<TaskResult> {
  try {
    return await runAgent(options);
  } catch (thrown) {
    const { id, task } = options;
    return {
      id,
      task,
      exitCode: 1,
      output: "",
      stderr: "",
      truncated: false,
      durationMs: 0,
      usage: noUsageStats(),
      error: messageOf(thrown),
    };
  }
}

function contextOf({ sharedContext = "", workspacePath }: DagExecutionOptions): string {
  const workspace =
    workspacePath === undefined
      ? ""
      : `The team shares the folder ${workspacePath}: read there what others left, and leave there what they need.`;
  return [sharedContext, workspace].filter((part) => part !== "").join("\n\n");
}

function approvals(ask: NonNullable<DagExecutionOptions["onApprovalNeeded"]>, view: DagView) {
  return async (key: string, signal: AbortSignal): Promise<Answer | undefined> => {
    const node = view.nodeOf(pathOfKey(key));
    const asked = ask(node?.task.id ?? "", node?.result?.output ?? "").then(
      ({ approved, feedback }): Answer => ({ approve: approved, ...defined({ text: feedback }) }),
    );
    return Promise.race([asked, aborted(signal)]);
  };
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else onAbort(signal, () => resolve(undefined));
  });
}

/** Passes a change to the executor, and applies it to the graph once the executor has accepted it. */
function modify(
  { newTasks = [], updateDependencies = {}, markFailed = [] }: TaskModifications,
  growing: RunningPlan,
  { nodes, members, objective }: DagExecutionOptions,
): void {
  const after = new Map<string, DagNode>();
  for (const [id, node] of nodes)
    after.set(id, {
      ...node,
      task: { ...node.task, ...(updateDependencies[id] && { depends: [...updateDependencies[id]] }) },
    });
  for (const task of newTasks) {
    if (after.has(task.id))
      throw new CrewError("BAD_CHANGE", `Duplicate task ID: "${task.id}"`, "Give each task its own id.");
    const assignee = task.assignee ? members.get(task.assignee) : undefined;
    after.set(task.id, { task, ...defined({ assignee }), dependsOn: [], dependedBy: [], status: "pending" });
  }
  const plan = planOfDag(after, members, objective);
  const change: Change = {
    newTasks: Object.fromEntries(newTasks.map(({ id }) => [asId(id), plan.nodes[asId(id)]!])),
    updateDependencies: Object.fromEntries(
      Object.entries(updateDependencies).map(([id, needs]) => [asId(id), needs.map(asId)]),
    ),
    markFailed: Object.fromEntries(markFailed.map((id) => [asId(id), "The task was marked as failed."])),
  };
  for (const { id } of newTasks) nodes.set(id, after.get(id)!);
  try {
    growing.change(change);
  } catch (error) {
    for (const { id } of newTasks) nodes.delete(id);
    throw error;
  }
  for (const [id, node] of nodes) node.task = after.get(id)!.task;
  linkDag(nodes, members);
}
