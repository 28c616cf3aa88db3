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
  /** Throws when somebody else has taken the run over: an old owner must not write. */
  hold(): void;
  release(): Promise<void>;
}>;

const OWNER = /^owner\.(\d{1,9})\.json$/;
const RELEASED = /^released\.(\d{1,9})\.json$/;

/**
 * Takes a run over, unless a living process has it. Each claim is a new numbered file, made exclusively and whole: of two
 * that come at once, one fails. Nothing is ever unlinked and made again. Its number is above all that were there before,
 * and above `above`: who wrote with a lower one can be told from who owns the run.
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
  // Somebody may have come and gone since the names were read; a number stands for one claim only.
  if (disk.existsSync(released)) {
    await disk.rename(file, released);
    return claim(folder, above, disk);
  }
  const next = [join(folder, `owner.${epoch + 1}.json`), join(folder, `released.${epoch + 1}.json`)];
  // Before every write: to ask the kernel costs a few microseconds, to wait for a thread that asks it costs a hundred.
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

/** Makes a file that has its text from its first moment on, and fails when there is one. */
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

/** Some file systems know no second name for a file. */
function cannotLink(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    "syscall" in error &&
    error.syscall === "link" &&
    (error.code === "EPERM" || error.code === "ENOTSUP" || error.code === "ENOSYS")
  );
}

/** What a process is told apart by: its number is used again, and after a start of the machine so is its start time. */
export type RunClaim = Readonly<{ pid: number; started: string; boot?: string; nonce?: string }>;

/** This process, in words that tell it from every other. */
export async function whoWeAre(disk: Disk = machineDisk): Promise<RunClaim> {
  const [started = "", boot] = await Promise.all([startOf(process.pid, disk), bootOf(disk)]);
  return { pid: process.pid, started, ...defined({ boot }), nonce: randomBytes(8).toString("hex") };
}

/** Who a claim names, while that very process lives. */
export async function livingClaim(
  file: string,
  disk: Disk = machineDisk,
): Promise<{ pid: number | undefined } | undefined> {
  const text = await textOf(file, disk);
  if (text === undefined) return undefined; // released since the names were read
  const claimed = claimIn(text);
  if (!claimed) return (await isYoung(file, disk)) ? { pid: undefined } : undefined;
  const [started, boot] = await Promise.all([startOf(claimed.pid, disk), bootOf(disk)]);
  const same =
    started !== undefined && started === claimed.started && (claimed.boot === undefined || claimed.boot === boot);
  return same ? { pid: claimed.pid } : undefined;
}

/** What a claim says; `undefined` when it is empty, half written, or no claim. */
function claimIn(text: string): RunClaim | undefined {
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

/** A claim that cannot be read is being written right now, or its writer died over it a while ago. */
async function isYoung(file: string, disk: Disk): Promise<boolean> {
  const { mtimeMs } = await disk.stat(file).catch(() => ({ mtimeMs: 0 }));
  return Math.abs(Date.now() - mtimeMs) < WRITING_MS;
}

/** Only where files cannot be linked is a claim ever seen half written. */
const WRITING_MS = 1_500;

/** Which start of the machine this is. */
const bootOf = async (disk: Disk): Promise<string | undefined> =>
  (await textOf("/proc/sys/kernel/random/boot_id", disk))?.trim();

/** When a process started, in the kernel's words; elsewhere than on Linux, whether it is there at all. */
async function startOf(pid: number, disk: Disk): Promise<string | undefined> {
  const line = await textOf(`/proc/${pid}/stat`, disk);
  const fields = line?.slice(line.lastIndexOf(")") + 2).split(" ");
  if (fields) return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19]; // one that nobody buried is dead, too
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
