import { randomInt } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { WRITE_FLAGS } from "../disk/regular-file.ts";
import { CrewError } from "../../core/schema/error.ts";
import { pause } from "../async/cancel.ts";
import { fault } from "../disk/fault-points.ts";
import { livingClaim, ownerOf, whoWeAre } from "../disk/run-claim.ts";
import { lastEvent, type Store } from "../store/store.ts";
import { isRequested } from "./run-request.ts";

/** Names the process that is about to start a background run, until the run's own process owns it. */
const FILE = "starting.json";

/** True while a living process is about to start the run in the background. */
export async function isStarting(folder: string): Promise<boolean> {
  return (await livingClaim(join(folder, FILE))) !== undefined;
}

/** Default maximum of concurrent background runs. */
export const DEFAULT_BACKGROUND_RUNS = 10;

/** How long a starter waits when it is undecided whether a slot is free. */
const PATIENCE_MS = 30_000;

/**
 * Takes one of the slots for background runs; the returned function gives the reservation up once the process of the run
 * owns it. A starter writes its reservation first and counts afterwards: of two at once, at least one sees the other, so
 * there are never too many. Where each sees the other, both withdraw and try again after a random delay.
 */
export async function reserveSlot(store: Store, run: string, most: number): Promise<() => Promise<void>> {
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
    await writeFile(file, JSON.stringify(await whoWeAre()), { flag: WRITE_FLAGS, mode: 0o600 });
    const { working, starting } = await others(store, run);
    if (working + starting < most) return done;
    await done();
    if (starting > 0 && performance.now() < until) continue;
    if (made !== undefined) await rm(folder, { recursive: true, force: true });
    throw new CrewError(
      "TOO_MANY_RUNS",
      `Maximum concurrent tasks (${most}) reached: ${working + starting} runs already run in the background.`,
      "Wait for one of them (`subcrew ps`), or allow more with the setting background.maxRuns.",
    );
  }
}

/** How many other background runs there are, and how many are about to start. */
async function others(store: Store, run: string): Promise<{ working: number; starting: number }> {
  const all = await Promise.all((await store.list()).filter((id) => id !== run).map((id) => placeOf(store.folder(id))));
  return {
    working: all.filter((place) => place === "working").length,
    starting: all.filter((place) => place === "starting").length,
  };
}

async function placeOf(folder: string): Promise<"working" | "starting" | undefined> {
  // Read first, so that a run that changes from starting to running in between is counted once.
  if (await isStarting(folder)) return "starting";
  if ((await lastEvent(folder).catch(() => undefined))?.type === "run.ended") return undefined;
  return (await ownerOf(folder)) !== undefined && (await isRequested(folder)) ? "working" : undefined;
}
