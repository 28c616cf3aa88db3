import {
  executorLimits,
  type ExecutorOptions,
  type RunAgent,
  type TaskResult,
} from "../../facades/parallel/task-result.ts";
import { pause } from "../../runtime/async/cancel.ts";
import { withRetry } from "../../runtime/async/retry.ts";

/** Runs an agent, and retries it according to `options.retry`. An abort also ends the wait between two attempts. */
export function runAgentWithRetry(options: ExecutorOptions, runAgentFn: RunAgent): Promise<TaskResult> {
  const { retry, signal = new AbortController().signal } = options;
  return withRetry<TaskResult>({
    retry,
    attempt: () => runAgentFn({ ...options, resourceLimits: executorLimits(options.resourceLimits) }),
    errorOf: (result) => (result.exitCode === 0 || result.aborted ? undefined : errorOf(result)),
    wait: async (delayMs, _n, result) => ((await pause(delayMs, signal)) ? undefined : { ...result, aborted: true }),
  });
}

/** Why a task failed: its error message, or its exit code. */
export function errorOf({ error, stderr, exitCode }: TaskResult): string {
  return error || stderr || `Exit code: ${exitCode}`;
}
