/** Cleanup work of ended tasks: the run waits for it before it ends, other tasks do not. */
export type PendingCleanup = Readonly<{
  add(work: Promise<unknown>): void;
  /** Resolves when all cleanup is done, or after a timeout. */
  gone(): Promise<void>;
}>;

/** How long cleanup work may take. */
const LONGEST_MS = 5_000;

export function createPendingCleanup(longestMs = LONGEST_MS): PendingCleanup {
  const left = new Set<Promise<void>>();
  return {
    add: (work) => {
      const end = (): void => void left.delete(over);
      const over = work.then(end, end);
      left.add(over);
    },
    gone: async () => {
      if (left.size === 0) return;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, longestMs);
      });
      await Promise.race([Promise.all(left), late]);
      clearTimeout(timer);
    },
  };
}
