import type { ContextParts } from "../../core/task/task-context.ts";
import type { Release, Slots } from "../../runtime/async/slots.ts";

/** The slot of a task on its worker. It is free while subagents of the task work. */
export type TaskSlot = NonNullable<ContextParts["slot"]> &
  Readonly<{
    /** Waits for the first slot; false: the signal aborted first. */
    begin(signal: AbortSignal): Promise<boolean>;
    end(): void;
  }>;

/** `waits` is called when the task starts to wait for subagents, and when it no longer does. */
export function createTaskSlot(slots: Slots, waits: (isWaiting: boolean) => void): TaskSlot {
  const over = new AbortController();
  let held: Release | undefined;
  let helpers = 0;
  let taking: Promise<void> | undefined;

  const release = (): void => {
    held?.();
    held = undefined;
  };
  const take = async (): Promise<void> => {
    const taken = await slots.take(over.signal);
    taking = undefined;
    if (helpers === 0 && !held && !over.signal.aborted) held = taken;
    else taken?.();
  };
  const hold = async (): Promise<void> => {
    if (helpers > 0 || held || over.signal.aborted) return;
    taking ??= take();
    await taking;
  };
  const count = (change: 1 | -1): void => {
    helpers += change;
    if (!over.signal.aborted && helpers === (change === 1 ? 1 : 0)) waits(change === 1);
  };
  const whileHelped = async <T>(work: () => Promise<T>): Promise<T> => {
    count(1);
    release();
    try {
      return await work();
    } finally {
      count(-1);
      await hold();
    }
  };
  return {
    begin: async (signal) => {
      held = await slots.take(signal);
      return held !== undefined;
    },
    whileHelped,
    over: over.signal,
    end: () => {
      if (helpers > 0) waits(false);
      over.abort();
      release();
    },
  };
}
