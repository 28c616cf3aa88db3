/** The smallest heap limit. With less, Node ends while it starts, with a message that does not name the limit. */
const SMALLEST_MB = 32;
/** The largest heap limit, because Node refuses to start with larger numbers. */
const LARGEST_MB = 1_048_576;

/**
 * The heap limit of Node for the memory limit of a task, so that garbage is collected before the limit is exceeded. A
 * memory limit below the smallest heap is enforced by measuring the memory.
 */
export const heapLimitMB = (maxMemoryMB: number): number =>
  Math.min(LARGEST_MB, Math.max(SMALLEST_MB, Math.floor(maxMemoryMB)));
