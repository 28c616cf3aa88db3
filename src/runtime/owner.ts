import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { access, link, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CrewError } from "../core/error.ts";
import { isRecord } from "../core/json.ts";
import { fault } from "./fault.ts";

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
export async function claim(folder: string, above = 0): Promise<Owner> {
  const names = await readdir(folder);
  const last = highest(names, OWNER);
  const living = last > 0 ? await livingClaim(join(folder, `owner.${last}.json`)) : undefined;
  if (living) throw busy(folder, living.pid);
  const epoch = Math.max(last, highest(names, RELEASED), above) + 1;
  const file = join(folder, `owner.${epoch}.json`);
  fault("owner.claim");
  await makeWhole(file, JSON.stringify(await whoWeAre())).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EEXIST" ? busy(folder) : error;
  });
  fault("owner.claimed");
  const released = join(folder, `released.${epoch}.json`);
  // Somebody may have come and gone since the names were read; a number stands for one claim only.
  if (await exists(released)) {
    await rename(file, released);
    return claim(folder, above);
  }
  const next = [join(folder, `owner.${epoch + 1}.json`), join(folder, `released.${epoch + 1}.json`)];
  // Before every write: to ask the kernel costs a few microseconds, to wait for a thread that asks it costs a hundred.
  const hold = (): void => {
    if (next.some((file) => existsSync(file))) throw busy(folder);
  };
  const release = async (): Promise<void> => {
    fault("owner.release");
    await rename(file, released).catch(() => {});
  };
  return { epoch, hold, release };
}

/** The process that works on the run, while it lives. */
export async function ownerOf(folder: string): Promise<number | undefined> {
  const last = highest(await readdir(folder).catch(() => []), OWNER);
  return last > 0 ? (await livingClaim(join(folder, `owner.${last}.json`)))?.pid : undefined;
}

/** True while a living process works on the run. */
export async function isOwned(folder: string): Promise<boolean> {
  const last = highest(await readdir(folder).catch(() => []), OWNER);
  return last > 0 && (await livingClaim(join(folder, `owner.${last}.json`))) !== undefined;
}

const highest = (names: readonly string[], pattern: RegExp): number =>
  Math.max(0, ...names.map((name) => Number(pattern.exec(name)?.[1] ?? 0)));

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** Makes a file that has its text from its first moment on, and fails when there is one. */
async function makeWhole(file: string, text: string): Promise<void> {
  const draft = file.replace(/[^/\\]+$/, `.${randomBytes(8).toString("hex")}.tmp`);
  try {
    await writeFile(draft, text, { flag: "wx", mode: 0o600 });
    fault("owner.drafted");
    await link(draft, file);
  } catch (error) {
    if (!cannotLink(error)) throw error;
    await writeFile(file, text, { flag: "wx", mode: 0o600 });
  } finally {
    await rm(draft, { force: true });
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
export type Claimed = Readonly<{ pid: number; started: string; boot?: string; nonce?: string }>;

/** This process, in words that tell it from every other. */
export async function whoWeAre(): Promise<Claimed> {
  const [started = "", boot] = await Promise.all([startOf(process.pid), bootOf()]);
  return { pid: process.pid, started, ...(boot !== undefined && { boot }), nonce: randomBytes(8).toString("hex") };
}

/** Who a claim names, while that very process lives. */
export async function livingClaim(file: string): Promise<{ pid: number | undefined } | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return undefined; // released since the names were read
  const claimed = claimIn(text);
  if (!claimed) return (await isYoung(file)) ? { pid: undefined } : undefined;
  const [started, boot] = await Promise.all([startOf(claimed.pid), bootOf()]);
  const same =
    started !== undefined && started === claimed.started && (claimed.boot === undefined || claimed.boot === boot);
  return same ? { pid: claimed.pid } : undefined;
}

/** What a claim says; `undefined` when it is empty, half written, or no claim. */
function claimIn(text: string): Claimed | undefined {
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
async function isYoung(file: string): Promise<boolean> {
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: 0 }));
  return Math.abs(Date.now() - mtimeMs) < WRITING_MS;
}

/** Only where files cannot be linked is a claim ever seen half written. */
const WRITING_MS = 1_500;

/** Which start of the machine this is. */
const bootOf = async (): Promise<string | undefined> =>
  (await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => undefined))?.trim();

/** When a process started, in the kernel's words; elsewhere than on Linux, whether it is there at all. */
async function startOf(pid: number): Promise<string | undefined> {
  const line = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
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

function busy(folder: string, pid?: number): CrewError {
  const who = pid === undefined ? "Another process" : `Another process (${pid})`;
  return new CrewError(
    "RUN_BUSY",
    `${who} is working on the run in ${folder}.`,
    "Wait for it to end, or stop it, then try again.",
  );
}
