import { join } from "node:path";
import type { RunOwner } from "../../core/run/run-store.ts";
import { CrewError } from "../../core/schema/error.ts";
import { type Disk, machineDisk } from "../disk/disk.ts";
import { fault } from "../disk/fault-points.ts";
import { openLifeSocket } from "../disk/life-socket.ts";
import { isOfOther, livingClaim, makeWhole, whoWeAre } from "../disk/process-claim.ts";

/** The ownership of a run (a claim): only the process that holds the claim may write the run's records. */
export type Owner = Readonly<{
  epoch: number;
  /** Throws when another process has taken over the run: a replaced owner must not write. */
  hold(): void;
  release(): Promise<void>;
}>;

/** The number of the first owner of a run. */
export const FIRST_EPOCH = 1;

const OWNER = /^owner\.(\d{1,9})\.json$/;
const SOCKET = /^live\.owner\.\d{1,9}\.sock$/;
const RELEASED = /^released\.(\d{1,9})\.json$/;

/**
 * Options for claiming a run. `above`: the highest owner number in the journal; `force`: takes a run over from another
 * machine; `sole`: the process works on no other run, which is recorded with the claim.
 */
export type ClaimOptions = Readonly<{ above?: number; disk?: Disk; force?: boolean; sole?: boolean }>;

/**
 * Takes ownership of a run, unless a living process of this machine or any process of another machine owns it. Each
 * claim is a new numbered file, created atomically and exclusively: of two concurrent claims one fails. Files are never
 * deleted and recreated. The number is higher than all earlier numbers and than `above`, so that records of a replaced
 * owner can be recognised.
 */
export async function claim(
  folder: string,
  { above = 0, disk = machineDisk, force = false, sole = false }: ClaimOptions = {},
): Promise<Owner> {
  const names = await disk.readdir(folder);
  const last = highest(names, OWNER);
  const living = last > 0 ? await livingClaim(join(folder, `owner.${last}.json`), disk) : undefined;
  if (living && !(force && living.host !== undefined)) throw busy(folder, living);
  const epoch = Math.max(last, highest(names, RELEASED), above) + 1;
  const file = join(folder, `owner.${epoch}.json`);
  fault("owner.claim");
  await makeWhole(file, JSON.stringify({ ...(await whoWeAre(disk)), ...(sole && { sole }) }), disk).catch(
    (error: NodeJS.ErrnoException) => {
      throw error.code === "EEXIST" ? busy(folder) : error;
    },
  );
  fault("owner.claimed");
  // Another owner may have taken and released the run since the file names were read; each number is used only once.
  if (disk.existsSync(releasedFile(folder, epoch))) {
    await disk.rename(file, releasedFile(folder, epoch));
    return claim(folder, { above, disk, force, sole });
  }
  for (const name of names) if (SOCKET.test(name)) await disk.rm(join(folder, name), { force: true });
  return ownerWith(folder, epoch, disk);
}

/**
 * Takes ownership of a run whose folder this process has just created. A half-written claim counts as being written.
 */
export async function claimNew(folder: string, options: ClaimOptions = {}): Promise<Owner> {
  const { disk = machineDisk, sole = false } = options;
  const file = join(folder, `owner.${FIRST_EPOCH}.json`);
  fault("owner.claim");
  const text = JSON.stringify({ ...(await whoWeAre(disk)), ...(sole && { sole }) });
  try {
    await disk.writeFile(file, text, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw busy(folder);
    await disk.rm(file, { force: true });
    throw error;
  }
  fault("owner.claimed");
  if (!disk.existsSync(releasedFile(folder, FIRST_EPOCH))) return ownerWith(folder, FIRST_EPOCH, disk);
  await disk.rename(file, releasedFile(folder, FIRST_EPOCH));
  return claim(folder, options);
}

const releasedFile = (folder: string, epoch: number): string => join(folder, `released.${epoch}.json`);

function ownerWith(folder: string, epoch: number, disk: Disk): Owner {
  const next = claimFiles(folder, epoch + 1);
  // Synchronous, because this runs before every write: a direct call takes microseconds, one through the thread pool a
  // hundred.
  const hold = (): void => {
    if (next.some((file) => disk.existsSync(file))) throw busy(folder);
  };
  const life = disk === machineDisk ? openLifeSocket(join(folder, `owner.${epoch}.json`)) : undefined;
  const release = async (): Promise<void> => {
    fault("owner.release");
    await disk.rename(join(folder, `owner.${epoch}.json`), releasedFile(folder, epoch)).catch(() => {});
    await (await life)?.(); // afterwards: a claim without its socket would count as alive
  };
  return { epoch, hold, release };
}

/** The living process that works on the run. */
export async function ownerOf(folder: string): Promise<RunOwner | undefined> {
  const last = highest(await machineDisk.readdir(folder).catch(() => []), OWNER);
  return last > 0 ? livingClaim(join(folder, `owner.${last}.json`)) : undefined;
}

/** True if another process claimed the run last, or claimed and released it although this process held it. */
export async function isTakenOver(folder: string): Promise<boolean> {
  const names = await machineDisk.readdir(folder).catch(() => []);
  const last = highest(names, OWNER);
  if (last === 0) return false;
  return (await isOfOther(join(folder, `owner.${last}.json`))) === last > highest(names, RELEASED);
}

/** True while a living process owns the run and has written no record yet: those in the journal end with this epoch. */
export async function isContinued(folder: string, epoch: number): Promise<boolean> {
  const last = highest(await machineDisk.readdir(folder).catch(() => []), OWNER);
  return last > epoch && (await livingClaim(join(folder, `owner.${last}.json`))) !== undefined;
}

/** True for an owner that this process cannot signal: one of another machine or pid namespace. */
export const isElsewhereOwner = (owner: RunOwner | undefined): boolean =>
  owner?.host !== undefined || owner?.pidNamespace !== undefined;

/**
 * True if the claims of the run are complete around this owner, and no process has claimed the run after it.
 * Synchronous, like the check before each write.
 */
export function isLastOwner(folder: string, epoch: number): boolean {
  const hasClaim = (number: number): boolean => claimFiles(folder, number).some((file) => machineDisk.existsSync(file));
  return hasClaim(epoch) && !hasClaim(epoch + 1);
}

const claimFiles = (folder: string, epoch: number): string[] => [
  releasedFile(folder, epoch),
  join(folder, `owner.${epoch}.json`),
];

const highest = (names: readonly string[], pattern: RegExp): number =>
  Math.max(0, ...names.map((name) => Number(pattern.exec(name)?.[1] ?? 0)));

function busy(folder: string, { pid, host, pidNamespace }: Partial<RunOwner> = {}): CrewError {
  if (host !== undefined)
    return new CrewError(
      "RUN_BUSY",
      `The run in ${folder} runs on the machine "${host}" (process ${pid}), according to the last record.`,
      `Stop the run on that machine. If "${host}" no longer runs it, take the run over with \`subcrew resume RUN --force\`.`,
    );
  const place = pidNamespace === undefined ? "" : " of another container";
  const who = pid === undefined ? "Another process" : `Another process${place} (${pid})`;
  return new CrewError(
    "RUN_BUSY",
    `${who} is working on the run in ${folder}.`,
    "Wait for the run to end, or stop it, then try again.",
  );
}
