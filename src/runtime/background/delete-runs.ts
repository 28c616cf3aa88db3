import { isEnded } from "../../core/run/run-status.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import { CrewError, isCrewError } from "../../core/schema/error.ts";
import { removeWorktrees } from "../git/worktree.ts";
import { type KeptRun, lookAt } from "./kept-run.ts";

export type CollectLimits = Readonly<{
  olderThanMs: number;
  maxBytes?: number;
  dryRun?: boolean;
  /** True: also deletes runs that were interrupted, paused or parked. */
  unfinished?: boolean;
  now: number;
  /** Is called with the runs before they are deleted. */
  agree?: (runs: readonly CollectedRun[]) => Promise<boolean>;
}>;
/** `at`: when the run ended, or when it last changed. */
export type CollectedRun = Readonly<{ id: string; bytes: number; why: string; life: KeptRun["life"]; at: number }>;

/** How many runs one command deletes because they are old, so that the command does not take long. */
const MOST_EXPIRED = 100;

/** Deletes a run that no process owns. */
export async function removeRun(store: RunStore, id: string): Promise<void> {
  if ((await store.owner(id)) !== undefined || (await store.isAnnounced(id))) throw runIsBusy(id);
  const worktrees = store.local(id, "worktrees");
  if (worktrees !== undefined) await removeWorktrees(worktrees, { all: true }); // git would otherwise still list the worktrees in their repositories
  await store.remove(id);
}

/**
 * Deletes runs that ended before this time, the oldest first. Each call deletes only some of them, and reads only
 * their last records.
 */
export async function deleteExpired(store: RunStore, before: number): Promise<readonly string[]> {
  const gone: string[] = [];
  for (const id of [...(await store.list())].reverse()) {
    if (gone.length >= MOST_EXPIRED) break;
    const last = await store.last(id);
    if (last?.type !== "run.ended" || last.at >= before) continue;
    // A run that was resumed meanwhile is kept.
    await removeRun(store, id).then(
      () => gone.push(id),
      () => undefined,
    );
  }
  if (gone.length > 0) await store.sweep();
  return gone;
}

/**
 * Deletes old runs, and the oldest runs above the size limit; never running or resumable runs. `undefined`: `agree`
 * refused, and nothing was deleted.
 */
export async function collectRuns(
  store: RunStore,
  limits: CollectLimits,
): Promise<readonly CollectedRun[] | undefined> {
  const chosen = await runsAbove(store, limits);
  const { dryRun = false, agree } = limits;
  if (dryRun) return chosen;
  if (agree && chosen.length > 0 && !(await agree(chosen))) return undefined;
  const gone: CollectedRun[] = [];
  for (const run of chosen) {
    const isDeleted = await removeRun(store, run.id).then(
      () => true,
      (error: unknown) => (isCrewError(error) ? false : Promise.reject(error as Error)),
    );
    if (isDeleted) gone.push(run); // otherwise it was just resumed
  }
  await store.sweep();
  return gone;
}

/** The runs that are too old or take too much space, the oldest first. */
async function runsAbove(
  store: RunStore,
  { olderThanMs, maxBytes, unfinished = false, now }: CollectLimits,
): Promise<CollectedRun[]> {
  const all = await Promise.all(
    (await store.list()).map(async (id) => {
      const run = await lookAt(store, id);
      const { bytes, changedAt } = await store.measure(id).catch(() => ({ bytes: 0, changedAt: now }));
      return { ...run, bytes, at: run.state.endedAt ?? Math.max(run.state.startedAt, changedAt) };
    }),
  );
  let total = all.reduce((sum, { bytes }) => sum + bytes, 0);
  const chosen: CollectedRun[] = [];
  for (const { id, life, bytes, at, owner } of all.toSorted((a, b) => a.at - b.at)) {
    // Interrupted, paused and parked runs can be resumed, so they are deleted only if the caller asks for that.
    if (owner !== undefined || (!isEnded(life) && !unfinished)) continue;
    const old = now - at > olderThanMs;
    const much = maxBytes !== undefined && total > maxBytes && isEnded(life);
    if (!old && !much) continue;
    total -= bytes;
    chosen.push({ id, bytes, why: old ? "too old" : "too much space used", life, at });
  }
  return chosen;
}

/** The refusal to delete a run that a process is working on. */
export function runIsBusy(id: string): CrewError {
  return new CrewError("RUN_BUSY", `The run "${id}" is still running.`, `Stop the run first: \`subcrew stop ${id}\`.`);
}
