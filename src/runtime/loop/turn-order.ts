import { type CallReach, mayOverlap } from "../../core/task/call-order.ts";

type Ordered<T, R> = Readonly<{
  /** The maximum number of calls that run at once. */
  limit: number;
  /** What a call touches, as the files are now. */
  reach(call: T): CallReach | Promise<CallReach>;
  run(call: T): Promise<R>;
}>;

/**
 * Runs the calls of a turn so that they have the effects of their order: each starts after the calls before it started,
 * and after those ended that it may not overlap. Only then it is certain what it touches, because a call before it can
 * move a file or change a link.
 */
export async function inOrder<T, R>(calls: readonly T[], { limit, reach, run }: Ordered<T, R>): Promise<R[]> {
  const running = new Map<Promise<R>, CallReach>();
  const results: Promise<R>[] = [];
  for (const call of calls) {
    let touched = await reach(call);
    for (;;) {
      const before = [...running].filter(([, other]) => !mayOverlap(other, touched)).map(([result]) => result);
      if (before.length > 0) await Promise.all(before);
      else if (running.size >= limit) await Promise.race(running.keys());
      else break;
      touched = await reach(call);
    }
    const result = run(call);
    const ended = (): boolean => running.delete(result);
    result.then(ended, ended);
    running.set(result, touched);
    results.push(result);
  }
  return Promise.all(results);
}
