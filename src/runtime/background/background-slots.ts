import { randomInt } from "node:crypto";
import type { RunStore } from "../../core/run/run-store.ts";
import { CrewError } from "../../core/schema/error.ts";
import { pause } from "../async/cancel.ts";
import { isRequested } from "./run-request.ts";

/** The default for the maximum number of background runs at once. */
export const DEFAULT_BACKGROUND_RUNS = 10;

/** How long a new background run waits while it is unclear whether a slot is free. */
const PATIENCE_MS = 30_000;

/**
 * Takes one of the slots for background runs. The returned function releases the reservation; it is called once a
 * process owns the run. A process that starts a run first announces its run and then counts the other runs: of two
 * concurrent starters, at least one sees the other, so there are never too many runs. If each sees the other, both
 * withdraw and retry after a random delay.
 */
export async function reserveSlot(store: RunStore, run: string, most: number): Promise<() => Promise<void>> {
  const never = new AbortController().signal;
  for (const until = performance.now() + PATIENCE_MS; ; await pause(randomInt(10, 150), never)) {
    const withdraw = await store.announce(run);
    const { working, starting } = await others(store, run);
    if (working + starting < most) return withdraw;
    await withdraw();
    if (starting > 0 && performance.now() < until) continue;
    throw new CrewError(
      "TOO_MANY_RUNS",
      `Maximum concurrent tasks (${most}) reached: ${working + starting} runs already run in the background.`,
      "Wait until a run has ended (`subcrew ps`), or raise the setting background.maxRuns.",
    );
  }
}

/** How many other background runs there are, and how many are about to start. */
async function others(store: RunStore, run: string): Promise<{ working: number; starting: number }> {
  const all = await Promise.all((await store.list()).filter((id) => id !== run).map((id) => placeOf(store, id)));
  return {
    working: all.filter((place) => place === "working").length,
    starting: all.filter((place) => place === "starting").length,
  };
}

async function placeOf(store: RunStore, run: string): Promise<"working" | "starting" | undefined> {
  // "Starting" is checked before "working", so that a run that changes from one to the other meanwhile is still counted.
  if (await store.isAnnounced(run)) return "starting";
  if ((await store.last(run).catch(() => undefined))?.type === "run.ended") return undefined;
  return (await store.owner(run)) !== undefined && (await isRequested(store, run)) ? "working" : undefined;
}
