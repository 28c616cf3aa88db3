/** What tasks leave behind that ends by itself: the run waits for it, the next task does not. */
export type Lingering = Readonly<{
  add(work: Promise<unknown>): void;
  /** Resolves when nothing is left. */
  gone(): Promise<void>;
}>;

export function createLingering(): Lingering {
  const left = new Set<Promise<void>>();
  return {
    add: (work) => {
      const end = (): void => void left.delete(over);
      const over = work.then(end, end);
      left.add(over);
    },
    gone: async () => {
      while (left.size > 0) await Promise.all(left);
    },
  };
}
