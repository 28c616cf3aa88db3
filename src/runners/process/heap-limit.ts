/** With a smaller heap, Node ends while it starts, with a message that does not name the limit. */
const SMALLEST_MB = 32;
/** Node refuses to start with numbers that are too large. */
const LARGEST_MB = 1_048_576;

/**
 * The heap limit of Node for the memory limit of a task, so that garbage is collected before the limit is exceeded. A
 * memory limit below the smallest heap is enforced by measuring the memory.
 */
export const heapLimitMB = (maxMemoryMB: number): number =>
  Math.min(LARGEST_MB, Math.max(SMALLEST_MB, Math.floor(maxMemoryMB)));
