import { deepestFirst, isBelow } from "../../core/plan/graph.ts";
import type { Fact } from "../../core/run/event.ts";
import { pausedFor, type Stoppable } from "../async/cancel.ts";

/**
 * The tasks of a run that are paused individually. While such a task stops, its end is not recorded, so that it can
 * later continue from its recorded events, like a resumed run.
 */
export type TaskPauses = Readonly<{
  /** Why a task may not work now; `undefined`: the task may work. */
  reason(path: string): string | undefined;
  /** True while a task or one of its ancestors is paused: its running work is being stopped. */
  covers(path: string): boolean;
  /** Pauses a task: a running task stops, a waiting task does not start. */
  pause(path: string, reason: string): void;
  /** To be called when a paused task has stopped, or is about to start. `go` resumes it. */
  stopped(path: string, go: () => void): void;
  /** Resumes the tasks at and below a path, or all of them; returns their paths. */
  resume(path: string | undefined): readonly string[];
  /** Called when a task has ended, so that there is nothing left to pause. */
  forget(path: string): void;
  /** Cancels a task by name, including a task that is paused or still stopping for a pause. */
  cancel(path: string, reason: string): void;
  /** The reason of a task that was cancelled by name. It is used even if the task was already stopping for a pause. */
  cancelReason(path: string): string | undefined;
  /**
   * True for a task that was cancelled by name, and for every node below it: its end is recorded also during a pause.
   */
  isCancelled(path: string): boolean;
  /**
   * To be called when a node stops because of a pause: its end is not recorded, and the node continues together with
   * the paused task.
   */
  interrupt(path: string): void;
  /**
   * Returns the interrupted nodes below a node that has ended for good, deepest first. They will not continue, so the
   * caller records their ends.
   */
  abandon(path: string): readonly string[];
  /** To be called when a task has ended, so that a run in which every unfinished task is paused is detected. */
  look(): void;
}>;

export type TaskPauseParts = Readonly<{
  emit(path: string, fact: Fact): void;
  /** Every task that waits for its slot, runs or is paused. */
  stoppable: ReadonlyMap<string, Stoppable>;
  /**
   * Why a task stays paused when this process starts the run; `undefined`: the task starts. Called for the nodes of the
   * plan itself.
   */
  initially(path: string): string | undefined;
  /** Reloads the recorded events of a task, so that it can continue after them. */
  renew(path: string): Promise<void>;
  /** True for a task that only waits for the plans that it started; `plans` is their number. */
  onlyWaits(path: string, plans: number): boolean;
  /** Called when all unfinished tasks are paused or wait for paused tasks. */
  idle(paths: readonly string[]): void;
}>;

/** The pauses of a run in which single tasks cannot be paused. */
export const noPauses: TaskPauses = {
  reason: () => undefined,
  covers: () => false,
  pause: () => {},
  stopped: () => {},
  resume: () => [],
  forget: () => {},
  cancel: () => {},
  cancelReason: () => undefined,
  isCancelled: () => false,
  interrupt: () => {},
  abandon: () => [],
  look: () => {},
};

type Pause = {
  readonly reason: string;
  /** Resumes the task; absent while the task is still stopping, or before it has started. */
  go: (() => void) | undefined;
  /** True: a resume was requested while the task was still stopping. */
  wanted: boolean;
};

export function createTaskPauses(parts: TaskPauseParts): TaskPauses {
  const { emit, stoppable, initially, renew, onlyWaits, idle } = parts;
  const paused = new Map<string, Pause>();
  const released = new Set<string>();
  const interrupted = new Set<string>();
  const cancelled = new Map<string, string>();

  const isWorking = (path: string): boolean => {
    const pause = paused.get(path);
    if (pause) return pause.go === undefined || pause.wanted;
    const below = [...stoppable.keys()].filter((other) => isBelow(other, path));
    const plans = new Set(below.map((other) => other.slice(0, other.indexOf("/", path.length))));
    return plans.size === 0 || !onlyWaits(path, plans.size);
  };
  const look = (): void => {
    if (paused.size === 0 || stoppable.size === 0) return;
    for (const path of stoppable.keys()) if (isWorking(path)) return;
    idle([...paused.keys()]);
  };
  const abandon = (path: string): readonly string[] => {
    if (interrupted.size === 0) return [];
    const below = [...interrupted].filter((other) => isBelow(other, path));
    for (const left of below) interrupted.delete(left);
    return deepestFirst(below);
  };
  const release = (path: string): void => {
    abandon(path); // from now on, these nodes are part of the reloaded events
    paused.delete(path);
    released.add(path);
    emit(path, { type: "node.resumed" });
  };
  const restart = async (path: string, pause: Pause, go: () => void): Promise<void> => {
    try {
      await renew(path);
    } catch {
      return; // the journal cannot be written any longer, which ends the run
    }
    if (paused.get(path) !== pause) return; // the task was cancelled meanwhile
    release(path);
    go();
  };
  const resumeOne = (path: string): void => {
    const pause = paused.get(path);
    if (pause?.go) {
      pause.wanted = true;
      void restart(path, pause, pause.go);
    } else if (pause && stoppable.has(path)) pause.wanted = true;
    else if (pause) release(path);
  };
  return {
    reason: (path) => paused.get(path)?.reason ?? (released.has(path) ? undefined : initially(path)),
    covers: (path) => {
      if (paused.size === 0) return false;
      for (const above of paused.keys()) if (path === above || isBelow(path, above)) return true;
      return false;
    },
    pause: (path, reason) => {
      if (paused.has(path)) return;
      emit(path, { type: "node.paused", reason });
      paused.set(path, { reason, go: undefined, wanted: false });
      stoppable.get(path)?.abort(pausedFor(reason));
    },
    stopped: (path, go) => {
      const known = paused.get(path);
      const reason = known?.reason ?? initially(path) ?? "";
      if (!known) emit(path, { type: "node.paused", reason });
      const pause = { reason, go, wanted: known?.wanted ?? false };
      paused.set(path, pause);
      if (pause.wanted) void restart(path, pause, go);
      else look();
    },
    resume: (path) => {
      const those = [...paused.keys()].filter((one) => path === undefined || one === path || isBelow(one, path));
      for (const one of those) resumeOne(one);
      return those;
    },
    forget: (path) => void paused.delete(path),
    cancel: (path, reason) => {
      cancelled.set(path, reason);
      paused.delete(path);
    },
    cancelReason: (path) => cancelled.get(path),
    isCancelled: (path) => {
      for (const above of cancelled.keys()) if (path === above || isBelow(path, above)) return true;
      return false;
    },
    interrupt: (path) => void interrupted.add(path),
    abandon,
    look,
  };
}
