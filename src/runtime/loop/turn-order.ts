import type { CallOrder } from "../../core/task/tool.ts";

/** A path that a call touches, with everything below it. */
export type TouchedPath = Readonly<{ path: string; change: boolean }>;

/** What a call touches: exactly these real paths, or possibly anything if `paths` is absent. */
export type CallReach = Readonly<{ order: CallOrder; paths?: readonly TouchedPath[] }>;

/** The reach of a call that is refused, whatever the calls before it do. */
export const TOUCHES_NOTHING: CallReach = { order: "read", paths: [] };

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

/**
 * True if two calls of a turn may run at the same time: both only read, both start agents, or what they touch is
 * certainly disjoint.
 */
function mayOverlap(one: CallReach, other: CallReach): boolean {
  if (one.order === other.order && one.order !== "write") return true;
  if (one.paths?.length === 0 || other.paths?.length === 0) return true;
  const { paths } = other;
  if (one.paths === undefined || paths === undefined) return false;
  return one.paths.every((a) => paths.every((b) => (!a.change && !b.change) || areApart(a.path, b.path)));
}

/**
 * True if neither path is the other or lies below it. Paths that differ only in case or in the form of a character may
 * be the same file, depending on the file system.
 */
function areApart(one: string, other: string): boolean {
  const [a, b] = [folded(one), folded(other)];
  return !isBelow(a, b) && !isBelow(b, a);
}

const folded = (path: string): string => path.normalize("NFC").toLowerCase();

/** True if a path is a folder or in it. The empty path is the workspace; everything counts as in it. */
const isBelow = (path: string, folder: string): boolean =>
  folder === "" || path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
