/** What tasks leave behind that ends by itself: the run waits for it, the next task does not. */
export type PendingCleanup = Readonly<{
  add(work: Promise<unknown>): void;
  /** Resolves when nothing is left, or when it took too long: what cannot be ended must not hold up the run for ever. */
  gone(): Promise<void>;
}>;

/** What was killed is gone long before that. */
const LONGEST_MS = 5_000;

export function createPendingCleanup(): PendingCleanup {
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
        timer = setTimeout(resolve, LONGEST_MS);
      });
      await Promise.race([Promise.all(left), late]);
      clearTimeout(timer);
    },
  };
}
