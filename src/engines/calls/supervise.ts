import type { CallEpoch, CallTable, LostCall } from "./call-table.ts";
import type { Inbox } from "./inbox.ts";

/** Watches the workers that execute tasks of this process. */
export type Supervisor = Readonly<{
  /** Calls back once when the worker of a task is lost; returns a function that stops watching. */
  watch(at: CallEpoch, lost: (how: LostCall["how"]) => void): () => void;
}>;

/** Polls once a second, and whenever a worker gives a task back. */
export function createSupervisor(table: CallTable, inbox: Inbox, owner: string): Supervisor {
  const watched = new Map<string, (how: LostCall["how"]) => void>();
  let looking = false;
  let stop: (() => void) | undefined;
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    try {
      for (const { call, epoch, how } of await table.lost(owner)) watched.get(`${epoch} ${call}`)?.(how);
    } catch {
      // The database is unreachable; the next poll asks again.
    } finally {
      looking = false;
    }
  };
  return {
    watch: ({ call, epoch }, lost) => {
      const key = `${epoch} ${call}`;
      watched.set(key, (how) => {
        watched.delete(key);
        lost(how);
      });
      stop ??= inbox.onReturned(() => void look());
      return () => {
        watched.delete(key);
        if (watched.size > 0) return;
        stop?.();
        stop = undefined;
      };
    },
  };
}
