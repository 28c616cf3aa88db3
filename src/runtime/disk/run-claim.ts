import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { CrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import { type Disk, machineDisk } from "./disk.ts";
import { fault } from "./fault-points.ts";

/** A claim on a run: only its holder may write. */
export type Owner = Readonly<{
  epoch: number;
  /** Throws when another process has taken over the run: a replaced owner must not write. */
  hold(): void;
  release(): Promise<void>;
}>;

const OWNER = /^owner\.(\d{1,9})\.json$/;
const RELEASED = /^released\.(\d{1,9})\.json$/;

/**
 * Claims a run, unless a living process owns it. Each claim is a new numbered file, created atomically and exclusively: of two
 * concurrent claims one fails. Files are never deleted and recreated. The number is higher than all earlier ones
 * and than `above`, so that records of a replaced owner can be recognised.
 */
export async function claim(folder: string, above = 0, disk: Disk = machineDisk): Promise<Owner> {
  const names = await disk.readdir(folder);
  const last = highest(names, OWNER);
  const living = last > 0 ? await livingClaim(join(folder, `owner.${last}.json`), disk) : undefined;
  if (living) throw busy(folder, living.pid);
  const epoch = Math.max(last, highest(names, RELEASED), above) + 1;
  const file = join(folder, `owner.${epoch}.json`);
  fault("owner.claim");
  await makeWhole(file, JSON.stringify(await whoWeAre(disk)), disk).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EEXIST" ? busy(folder) : error;
  });
  fault("owner.claimed");
  const released = join(folder, `released.${epoch}.json`);
  // Another owner may have come and gone since the names were read; a number is used for one claim only.
  if (disk.existsSync(released)) {
    await disk.rename(file, released);
    return claim(folder, above, disk);
  }
  const next = [join(folder, `owner.${epoch + 1}.json`), join(folder, `released.${epoch + 1}.json`)];
  // Synchronous, because it runs before every write: a direct call takes microseconds, one through the thread pool a hundred.
  const hold = (): void => {
    if (next.some((file) => disk.existsSync(file))) throw busy(folder);
  };
  const release = async (): Promise<void> => {
    fault("owner.release");
    await disk.rename(file, released).catch(() => {});
  };
  return { epoch, hold, release };
}

/** The process that works on the run, while it lives. */
export async function ownerOf(folder: string): Promise<number | undefined> {
  const last = highest(await machineDisk.readdir(folder).catch(() => []), OWNER);
  return last > 0 ? (await livingClaim(join(folder, `owner.${last}.json`)))?.pid : undefined;
}

/** True while a living process works on the run. */
export async function isOwned(folder: string): Promise<boolean> {
  const last = highest(await machineDisk.readdir(folder).catch(() => []), OWNER);
  return last > 0 && (await livingClaim(join(folder, `owner.${last}.json`))) !== undefined;
}

const highest = (names: readonly string[], pattern: RegExp): number =>
  Math.max(0, ...names.map((name) => Number(pattern.exec(name)?.[1] ?? 0)));

/** Creates a file with its content atomically; fails when it exists. */
export async function makeWhole(file: string, text: string, disk: Disk): Promise<void> {
  const draft = file.replace(/[^/\\]+$/, `.${randomBytes(8).toString("hex")}.tmp`);
  try {
    await disk.writeFile(draft, text, { flag: "wx", mode: 0o600 });
    fault("owner.drafted");
    await disk.link(draft, file);
  } catch (error) {
    if (!cannotLink(error)) throw error;
    await disk.writeFile(file, text, { flag: "wx", mode: 0o600 });
  } finally {
    await disk.rm(draft, { force: true });
  }
}

/** Some file systems do not support hard links. */
function cannotLink(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    "syscall" in error &&
    error.syscall === "link" &&
    (error.code === "EPERM" || error.code === "ENOTSUP" || error.code === "ENOSYS")
  );
}

/** Identity of a process: pid, start time and boot id, since pids are reused. */
export type RunClaim = Readonly<{ pid: number; started: string; boot?: string; nonce?: string }>;

/** The identity of this process. */
export async function whoWeAre(disk: Disk = machineDisk): Promise<RunClaim> {
  const [started = "", boot] = await Promise.all([startOf(process.pid, disk), bootOf(disk)]);
  return { pid: process.pid, started, ...defined({ boot }), nonce: randomBytes(8).toString("hex") };
}

/** The owner of a claim, if that process is alive. */
export async function livingClaim(
  file: string,
  disk: Disk = machineDisk,
): Promise<{ pid: number | undefined } | undefined> {
  const text = await textOf(file, disk);
  if (text === undefined) return undefined; // released since the names were read
  const claimed = claimIn(text);
  if (!claimed) return (await isYoung(file, disk)) ? { pid: undefined } : undefined;
  return (await isLiving(claimed, disk)) ? { pid: claimed.pid } : undefined;
}

/** True while the very process lives that made a claim. */
export async function isLiving(claimed: RunClaim, disk: Disk = machineDisk): Promise<boolean> {
  const [started, boot] = await Promise.all([startOf(claimed.pid, disk), bootOf(disk)]);
  return started !== undefined && started === claimed.started && (claimed.boot === undefined || claimed.boot === boot);
}

/** What a claim says; `undefined` when it is empty, half written, or no claim. */
export function claimIn(text: string): RunClaim | undefined {
  try {
    const claimed: unknown = JSON.parse(text);
    if (!isRecord(claimed)) return undefined;
    const { pid, started, boot } = claimed;
    if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0 || typeof started !== "string")
      return undefined;
    return { pid, started, ...(typeof boot === "string" && { boot }) };
  } catch {
    return undefined;
  }
}

/** An unreadable claim is being written, or its writer died. */
async function isYoung(file: string, disk: Disk): Promise<boolean> {
  const { mtimeMs } = await disk.stat(file).catch(() => ({ mtimeMs: 0 }));
  return Math.abs(Date.now() - mtimeMs) < WRITING_MS;
}

/** Only where files cannot be linked is a claim ever seen half written. */
const WRITING_MS = 1_500;

/** The boot id of the machine. */
const bootOf = async (disk: Disk): Promise<string | undefined> =>
  (await textOf("/proc/sys/kernel/random/boot_id", disk))?.trim();

/** The start time of a process from the kernel; outside of Linux, whether it exists. */
async function startOf(pid: number, disk: Disk): Promise<string | undefined> {
  const line = await textOf(`/proc/${pid}/stat`, disk);
  const fields = line?.slice(line.lastIndexOf(")") + 2).split(" ");
  if (fields) return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19]; // a zombie is dead, too
  if (process.platform === "linux") return undefined;
  try {
    process.kill(pid, 0);
    return "alive";
  } catch {
    return undefined;
  }
}

const textOf = async (file: string, disk: Disk): Promise<string | undefined> =>
  (await disk.readFile(file).catch(() => undefined))?.toString("utf8");

function busy(folder: string, pid?: number): CrewError {
  const who = pid === undefined ? "Another process" : `Another process (${pid})`;
  return new CrewError(
    "RUN_BUSY",
    `${who} is working on the run in ${folder}.`,
    "Wait for it to end, or stop it, then try again.",
  );
}
