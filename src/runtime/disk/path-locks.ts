import { createHash } from "node:crypto";
import { join } from "node:path";
import { reasonOf } from "../async/cancel.ts";
import { Slots } from "../async/slots.ts";
import { alone } from "./file-lock.ts";

/** Does work while nothing else that uses these locks works on one of the paths. */
export type PathLocks = <T>(paths: readonly string[], work: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/**
 * Locks on real paths, kept in a folder: for all processes of this machine that share it. A lock is gone with its
 * process. Without a folder they hold in this process only.
 */
export function createPathLocks(folder: string | undefined): PathLocks {
  const queues = new Map<string, { slots: Slots; users: number }>();
  const lock = async <T>(path: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    const queue = queues.get(path) ?? { slots: new Slots(1), users: 0 };
    queues.set(path, queue);
    queue.users += 1;
    const release = await queue.slots.take(signal);
    try {
      if (!release) throw new Error(`another task holds the lock on ${path}: ${reasonOf(signal)}`);
      return folder === undefined ? await work() : await alone(join(folder, nameFor(path)), work, signal);
    } finally {
      release?.();
      queue.users -= 1;
      if (queue.users === 0) queues.delete(path);
    }
  };
  // Everyone takes the locks in the same order, so that no two wait for each other.
  return (paths, work, signal) =>
    [...new Set(paths)].toSorted().reduceRight((inner, path) => () => lock(path, inner, signal), work)();
}

const nameFor = (path: string): string => createHash("sha256").update(path).digest("hex").slice(0, 32);
