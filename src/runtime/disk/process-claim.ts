import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { defined } from "../../core/text/defined.ts";
import { isRecord, parseJson } from "../../core/text/json.ts";
import { type Disk, machineDisk } from "./disk.ts";
import { fault } from "./fault-points.ts";
import { probeLife } from "./life-socket.ts";

/** Creates a file with its content atomically; fails when the file exists. */
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
    // At this point the claim was made or has failed; a draft file that cannot be deleted does not change that.
    await disk.rm(draft, { force: true }).catch(() => {});
  }
}

/** True for an error of a file system that does not support hard links. */
function cannotLink(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    "syscall" in error &&
    error.syscall === "link" &&
    (error.code === "EPERM" || error.code === "ENOTSUP" || error.code === "ENOSYS")
  );
}

/**
 * Identity of a process: host, pid and its namespace, start time and boot id, since pids are reused. Claims written by
 * version 0.1 name no host, those of older versions no namespace.
 */
export type ProcessClaim = Readonly<{
  pid: number;
  started: string;
  boot?: string;
  pidNamespace?: string;
  host?: string;
  nonce?: string;
  sole?: true;
}>;

/** Determines the identity of this process. */
export async function whoWeAre(disk: Disk = machineDisk): Promise<ProcessClaim> {
  const own = ours.get(disk) ?? readOurs(disk);
  ours.set(disk, own);
  return { ...(await own), nonce: randomBytes(8).toString("hex") };
}

/** The identity of this process, read once because it does not change. */
const ours = new WeakMap<Disk, Promise<Omit<ProcessClaim, "nonce">>>();

async function readOurs(disk: Disk): Promise<Omit<ProcessClaim, "nonce">> {
  const [started = "", boot, pidNamespace] = await Promise.all([
    startOf(process.pid, disk),
    bootOf(disk),
    disk.readlink("/proc/self/ns/pid").catch(() => undefined),
  ]);
  return { pid: process.pid, started, ...defined({ boot, pidNamespace }), host: hostname() };
}

/**
 * A claim (file that says which process owns something) whose process is alive, or may be alive: with `host`, it cannot
 * be seen from here whether the process lives. `pidNamespace`: the living process is in another pid namespace.
 */
export type LivingClaim = Readonly<{ pid: number | undefined; host?: string; pidNamespace?: string; sole?: true }>;

/** The process that owns a claim, if it is alive, or cannot be reached from here. */
export async function livingClaim(file: string, disk: Disk = machineDisk): Promise<LivingClaim | undefined> {
  const text = await textOf(file, disk);
  if (text === undefined) return undefined; // the claim was released after the list of files was read
  const claimed = claimIn(text);
  if (!claimed) return (await isYoung(file, disk)) ? { pid: undefined } : undefined;
  if (await isNeighbor(claimed, disk)) {
    const { pid, pidNamespace, sole, host = hostname() } = claimed;
    const life = await probeLife(file);
    if (life === "dead") return undefined;
    return { pid, ...(life === "alive" ? defined({ pidNamespace }) : { host }), ...defined({ sole }) };
  }
  if (await isLiving(claimed, disk)) return { pid: claimed.pid, ...(claimed.sole && { sole: true }) };
  return isElsewhere(claimed) ? { pid: claimed.pid, ...defined({ host: claimed.host }) } : undefined;
}

/** True for the claim of another process than this one; false for a file that is no claim. */
export async function isOfOther(file: string, disk: Disk = machineDisk): Promise<boolean> {
  const claimed = claimIn((await textOf(file, disk)) ?? "");
  const { nonce: _, ...own } = await whoWeAre(disk);
  return claimed !== undefined && !isDeepStrictEqual({ ...claimed, sole: undefined }, { ...own, sole: undefined });
}

/** True for a claim made on another host, as on a shared disk. */
export const isElsewhere = ({ host }: ProcessClaim): boolean => host !== undefined && host !== hostname();

/** True for a claim of a process of this kernel in another pid namespace, whose pid means nothing here. */
export async function isNeighbor(claimed: ProcessClaim, disk: Disk = machineDisk): Promise<boolean> {
  if (claimed.pidNamespace === undefined || claimed.boot === undefined) return false;
  const { boot, pidNamespace } = await whoWeAre(disk);
  return boot === claimed.boot && pidNamespace !== undefined && pidNamespace !== claimed.pidNamespace;
}

/** True while the same process that made a claim is alive, as far as this pid namespace shows. */
export async function isLiving(claimed: ProcessClaim, disk: Disk = machineDisk): Promise<boolean> {
  if (await isNeighbor(claimed, disk)) return false;
  const [started, boot] = await Promise.all([startOf(claimed.pid, disk), bootOf(disk)]);
  return started !== undefined && started === claimed.started && (claimed.boot === undefined || claimed.boot === boot);
}

/** Parses a claim; `undefined` if it is empty, half written or invalid. */
export function claimIn(text: string): ProcessClaim | undefined {
  try {
    const claimed: unknown = parseJson(text);
    if (!isRecord(claimed)) return undefined;
    const { pid, started, boot, pidNamespace, host, sole } = claimed;
    if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0 || typeof started !== "string")
      return undefined;
    return {
      pid,
      started,
      ...(typeof boot === "string" && { boot }),
      ...(typeof pidNamespace === "string" && { pidNamespace }),
      ...(typeof host === "string" && { host }),
      ...(sole === true && { sole }),
    };
  } catch {
    return undefined;
  }
}

/** True for a claim file that was just created: if it is unreadable, it may still be being written. */
async function isYoung(file: string, disk: Disk): Promise<boolean> {
  const { mtimeMs } = await disk.stat(file).catch(() => ({ mtimeMs: 0 }));
  return Math.abs(Date.now() - mtimeMs) < WRITING_MS;
}

/** How long a half-written claim counts as being written. Such claims occur only on file systems without hard links. */
const WRITING_MS = 1_500;

/** The boot id of the machine. */
const bootOf = async (disk: Disk): Promise<string | undefined> =>
  (await textOf("/proc/sys/kernel/random/boot_id", disk))?.trim();

/** The start time of a process from the kernel; on other systems than Linux, only whether it exists. */
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
