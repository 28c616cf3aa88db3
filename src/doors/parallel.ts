export { formatAgentList } from "../core/agent/list.ts";
export { formatUsage } from "../core/outcome/usage.ts";
export { calculateBackoff, type RetryConfig, shouldRetry } from "../core/plan/retry.ts";
export { extractToolArgsPreview } from "../core/task/preview.ts";
export { MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES } from "../core/text/cut.ts";
export {
  COLLAPSED_ITEM_COUNT,
  DEFAULT_CONCURRENCY,
  MAX_CONCURRENCY,
  type ResourceLimits,
} from "../core/vocabulary/limits.ts";
export { buildDag, type DagNode } from "../facades/parallel/dag.ts";
export type {
  ExecutorOptions,
  ParallelToolDetails,
  TaskProgress,
  TaskResult,
} from "../facades/parallel/task-result.ts";
export type { TeamMember, TeamTask } from "../modes/team.ts";
export { buildContext, getGitContext, readContextFiles } from "../runtime/git/context.ts";
export type { AgentConfig } from "../compat/omp/agent-config.ts";
export {
  type DagExecutionOptions,
  type DagExecutionResult,
  executeDag,
  type RunningDag,
  type TaskModifications,
} from "../compat/pi-parallel/execute-dag.ts";
export { mapWithConcurrencyLimit, type ParallelResult } from "../compat/pi-parallel/map-with-concurrency-limit.ts";
export { type RaceResult, raceWithAbort } from "../compat/pi-parallel/race-with-abort.ts";
export { runAgentWithRetry } from "../compat/pi-parallel/run-agent-with-retry.ts";
export { cleanupWorkspace, createWorkspace, type Workspace, writeTaskResult } from "../compat/pi-parallel/workspace.ts";
