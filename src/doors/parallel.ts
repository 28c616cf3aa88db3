export { formatAgentList } from "../core/agent-list.ts";
export { MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES } from "../core/cut.ts";
export { COLLAPSED_ITEM_COUNT, DEFAULT_CONCURRENCY, MAX_CONCURRENCY, type ResourceLimits } from "../core/limits.ts";
export { extractToolArgsPreview } from "../core/preview.ts";
export { calculateBackoff, shouldRetry, type RetryConfig } from "../core/retry.ts";
export type { TeamMember, TeamTask } from "../modes/team.ts";
export { buildContext, getGitContext, readContextFiles } from "../runtime/context.ts";
export { buildDag, type DagNode } from "../runtime/dag.ts";
export {
  executeDag,
  type DagExecutionOptions,
  type DagExecutionResult,
  type RunningDag,
  type TaskModifications,
} from "../runtime/execute-dag.ts";
export { mapWithConcurrencyLimit, type ParallelResult } from "../runtime/map-with-concurrency-limit.ts";
export { raceWithAbort, type RaceResult } from "../runtime/race-with-abort.ts";
export { runAgentWithRetry } from "../runtime/run-agent-with-retry.ts";
export type { ExecutorOptions, ParallelToolDetails, TaskProgress, TaskResult } from "../runtime/task-result.ts";
export { cleanupWorkspace, createWorkspace, writeTaskResult, type Workspace } from "../runtime/workspace.ts";
export type { AgentConfig } from "./agent-config.ts";
