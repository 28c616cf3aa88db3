export { formatAgentList } from "../core/agent/list.ts";
export { MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES } from "../core/text/cut.ts";
export {
  COLLAPSED_ITEM_COUNT,
  DEFAULT_CONCURRENCY,
  MAX_CONCURRENCY,
  type ResourceLimits,
} from "../core/vocabulary/limits.ts";
export { extractToolArgsPreview } from "../core/task/preview.ts";
export { calculateBackoff, shouldRetry, type RetryConfig } from "../core/plan/retry.ts";
export type { TeamMember, TeamTask } from "../modes/team.ts";
export { buildContext, getGitContext, readContextFiles } from "../runtime/git/context.ts";
export { buildDag, type DagNode } from "../facades/parallel/dag.ts";
export {
  executeDag,
  type DagExecutionOptions,
  type DagExecutionResult,
  type RunningDag,
  type TaskModifications,
} from "./parallel/execute-dag.ts";
export { mapWithConcurrencyLimit, type ParallelResult } from "./parallel/map-with-concurrency-limit.ts";
export { raceWithAbort, type RaceResult } from "./parallel/race-with-abort.ts";
export { runAgentWithRetry } from "./parallel/run-agent-with-retry.ts";
export type {
  ExecutorOptions,
  ParallelToolDetails,
  TaskProgress,
  TaskResult,
} from "../facades/parallel/task-result.ts";
export { cleanupWorkspace, createWorkspace, writeTaskResult, type Workspace } from "./parallel/workspace.ts";
export type { AgentConfig } from "./agent-config.ts";
