import type { Usage } from "../../core/outcome/usage.ts";
import type { RetryConfig } from "../../core/plan/retry.ts";
import type { ResourceLimits } from "../../core/vocabulary/limits.ts";
import type { Thinking } from "../../core/vocabulary/thinking.ts";

/** The usage of a task in the format of pi-parallel-agents, where cost is one of the counters. */
export type UsageStats = Omit<Usage, "reasoning" | "estimated"> & Readonly<{ cost: number }>;

/** Usage of zero. */
export function noUsageStats(): UsageStats {
  return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0, contextTokens: 0, turns: 0 };
}

/** The result of one task in the format of pi-parallel-agents. */
export type TaskResult = Readonly<{
  id: string;
  /** The id of the task in its run, `run/path`. */
  taskId?: string;
  name?: string;
  task: string;
  model?: string;
  /** 0 means that the task succeeded, unless it was aborted. */
  exitCode: number;
  output: string;
  fullOutputPath?: string;
  stderr: string;
  truncated: boolean;
  durationMs: number;
  usage: UsageStats;
  /** How often each tool was used. */
  toolUsage?: Readonly<Record<string, number>>;
  error?: string;
  aborted?: boolean;
  /** The position in a chain, from 1. */
  step?: number;
}>;

/** The progress of a task in the format of pi-parallel-agents. */
export type TaskProgress = Readonly<{
  id: string;
  name?: string;
  status: "pending" | "running" | "completed" | "failed" | "aborted";
  task: string;
  model?: string;
  currentTool?: string;
  currentToolArgs?: string;
  recentTools: readonly Readonly<{ tool: string; args: string }>[];
  recentOutput: readonly string[];
  toolCount: number;
  tokens: number;
  durationMs: number;
}>;

/** The options with which a task is run. */
export type ExecutorOptions = Readonly<{
  task: string;
  cwd: string;
  id: string;
  name?: string;
  model?: string | readonly string[];
  tools?: readonly string[];
  systemPrompt?: string;
  /** Context text that precedes the prompt. */
  context?: string;
  thinking?: Thinking;
  resourceLimits?: ResourceLimits;
  retry?: RetryConfig;
  step?: number;
  signal?: AbortSignal;
  onProgress?(progress: TaskProgress): void;
}>;

/** The default time limit of an agent in pi-parallel-agents. */
const MAX_DURATION_MS = 5 * 60_000;

/** The limits of an agent in pi-parallel-agents: the given limits, and the documented default for the time. */
export function executorLimits(given: ResourceLimits | undefined): ResourceLimits {
  return { maxDurationMs: MAX_DURATION_MS, ...given };
}

/** Runs one agent; failures are part of the result. */
export type RunAgent = (options: ExecutorOptions) => Promise<TaskResult>;

/** The data that a call of the `parallel` tool adds to the caller's conversation. */
export type ParallelToolDetails = Readonly<{
  mode: "single" | "parallel" | "chain" | "race" | "team";
  results: readonly TaskResult[];
  totalDurationMs: number;
  usage: UsageStats;
  progress?: readonly TaskProgress[];
  /** The id of the task that won a race. */
  winner?: string;
  dagInfo?: Readonly<{
    objective: string;
    members: readonly Readonly<{ role: string; model?: string }>[];
    tasks: readonly Readonly<{
      id: string;
      assignee?: string;
      depends: readonly string[];
      status: string;
      iteration?: number;
      maxIterations?: number;
      /** The reviewer's verdict in each round, and whether the last version was approved. */
      reviewHistory?: readonly Readonly<{ iteration: number; approved: boolean; feedback: string }>[];
      approved?: boolean;
    }>[];
    pendingApproval?: PendingApproval;
  }>;
}>;

/** A draft that waits for approval. */
export type PendingApproval = Readonly<{ taskId: string; plan: string }>;
