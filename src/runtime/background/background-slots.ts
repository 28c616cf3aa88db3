import { randomInt } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CrewError } from "../../core/schema/error.ts";
import { pause } from "../async/cancel.ts";
import { fault } from "../disk/fault-points.ts";
import { livingClaim, ownerOf, whoWeAre } from "../disk/run-claim.ts";
import { lastEvent, type Store } from "../store/store.ts";
import { isRequested } from "./worker-request.ts";

/** Says who is about to start a worker for a run, until that worker has it. */
const FILE = "starting.json";

/** True while a living process is about to start a worker for the run. */
export async function isStarting(folder: string): Promise<boolean> {
  return (await livingClaim(join(folder, FILE))) !== undefined;
}

/** How many runs may work in the background at once when nothing else is said. */
export const DEFAULT_BACKGROUND_RUNS = 10;

/** How long somebody waits who cannot know yet whether there is room for one more. */
const PATIENCE_MS = 30_000;

/**
 * Takes one of the places for runs in the background, and gives back how to say that the worker has it now. Whoever wants
 * one says so first and counts then: of two who come at once at least one sees the other, so there are never too many.
 * Where each sees the other, both step back and come again after a while of their own.
 */
export async function takePlace(store: Store, run: string, most: number): Promise<() => Promise<void>> {
  const folder = store.folder(run);
  const file = join(folder, FILE);
  const done = async (): Promise<void> => {
    fault("place.leave");
    await rm(file, { force: true });
  };
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  const never = new AbortController().signal;
  for (const until = performance.now() + PATIENCE_MS; ; await pause(randomInt(10, 150), never)) {
    fault("place.take");
    await writeFile(file, JSON.stringify(await whoWeAre()), { mode: 0o600 });
    const { working, starting } = await others(store, run);
    if (working + starting < most) return done;
    await done();
    if (starting > 0 && performance.now() < until) continue;
    if (made !== undefined) await rm(folder, { recursive: true, force: true });
    throw new CrewError(
      "TOO_MANY_RUNS",
      `Maximum concurrent tasks (${most}) reached: ${working + starting} runs work in the background already.`,
      "Wait for one of them (`subcrew ps`), or allow more with the setting background.maxRuns.",
    );
  }
}

/** How many other runs have a worker, and how many are about to get one. */
async function others(store: Store, run: string): Promise<{ working: number; starting: number }> {
  const all = await Promise.all((await store.list()).filter((id) => id !== run).map((id) => placeOf(store.folder(id))));
  return {
    working: all.filter((place) => place === "working").length,
    starting: all.filter((place) => place === "starting").length,
  };
}

async function placeOf(folder: string): Promise<"working" | "starting" | undefined> {
  // Asked first: when its worker takes a run over, it is seen as the one or the other.
  if (await isStarting(folder)) return "starting";
  if ((await lastEvent(folder).catch(() => undefined))?.type === "run.ended") return undefined;
  return (await ownerOf(folder)) !== undefined && (await isRequested(folder)) ? "working" : undefined;
}
