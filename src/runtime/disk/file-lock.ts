import { randomBytes, randomInt } from "node:crypto";
import { link, mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { readRegularText } from "./regular-file.ts";
import { pause, reasonOf } from "../async/cancel.ts";
import { machineDisk } from "./disk.ts";
import { claimIn, isLiving, isNeighbor, livingClaim, makeWhole, whoWeAre } from "./process-claim.ts";

/** Runs a function under an inter-process lock. Breaks a lock held by a dead process. */
export async function alone<T>(file: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const claim = JSON.stringify(await whoWeAre());
  while (!(await takes(file, claim))) {
    await removeStale(file, isHeld);
    await pause(randomInt(5, 50), signal);
    if (signal.aborted) throw new Error(`another process holds the lock ${file}: ${reasonOf(signal)}`);
  }
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function takes(file: string, claim: string): Promise<boolean> {
  try {
    await makeWhole(file, claim, machineDisk);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/**
 * Removes the claim file (lock) of a dead process, and no other claim: a claim that another process made meanwhile is
 * restored.
 */
export async function removeStale(
  file: string,
  counts: (file: string, claim: string) => Promise<boolean>,
): Promise<void> {
  const claim = await textOf(file);
  // Checks the claim again before the file is moved: by now, the file may belong to another process.
  if (claim === undefined || (await counts(file, claim))) return;
  const aside = `${file}.${randomBytes(8).toString("hex")}`;
  await rename(file, aside).catch(() => {});
  const taken = await textOf(aside);
  if (taken !== undefined && taken !== claim) await link(aside, file).catch(() => {});
  await rm(aside, { force: true });
}

/**
 * True while the process that wrote a lock file is alive. An unreadable lock file may be a file that is just being
 * written.
 */
async function isHeld(file: string, claim: string): Promise<boolean> {
  const claimed = claimIn(claim);
  if (claimed && (await isNeighbor(claimed))) return isYoung(file);
  return claimed ? isLiving(claimed) : (await livingClaim(file)) !== undefined;
}

/** Locks are held for milliseconds: after this time, the process of another pid namespace that holds one has died. */
const LONGEST_HELD_MS = 5_000;

async function isYoung(file: string): Promise<boolean> {
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: 0 }));
  return Math.abs(Date.now() - mtimeMs) < LONGEST_HELD_MS;
}

const textOf = (file: string): Promise<string | undefined> => readRegularText(file).catch(() => undefined);
