import { access, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CrewError } from "../core/error.ts";
import { isRecord } from "../core/json.ts";

/** A claim on a run: only its holder may write. */
export type Owner = Readonly<{
  epoch: number;
  /** Throws when somebody else has taken the run over: an old owner must not write. */
  hold(): Promise<void>;
  release(): Promise<void>;
}>;

const OWNER = /^owner\.(\d{1,9})\.json$/;
const RELEASED = /^released\.(\d{1,9})\.json$/;

/**
 * Takes a run over, unless a living process has it. Each claim is a new numbered file, made exclusively: of two
 * that come at once, one fails. Nothing is ever unlinked and made again.
 */
export async function claim(folder: string): Promise<Owner> {
  const names = await readdir(folder);
  const highest = (pattern: RegExp): number => Math.max(0, ...names.map((name) => Number(pattern.exec(name)?.[1] ?? 0)));
  const last = highest(OWNER);
  if (last > 0 && (await isAlive(join(folder, `owner.${last}.json`)))) throw busy(folder);
  const epoch = Math.max(last, highest(RELEASED)) + 1;
  const file = join(folder, `owner.${epoch}.json`);
  const record = JSON.stringify({ pid: process.pid, started: await startOf(process.pid) });
  await writeFile(file, record, { flag: "wx", mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EEXIST" ? busy(folder) : error;
  });
  const released = join(folder, `released.${epoch}.json`);
  // Somebody may have come and gone since the names were read; a number stands for one claim only.
  if (await exists(released)) {
    await rename(file, released);
    return claim(folder);
  }
  const hold = async (): Promise<void> => {
    const next = await Promise.all([exists(join(folder, `owner.${epoch + 1}.json`)), exists(join(folder, `released.${epoch + 1}.json`))]);
    if (next.some(Boolean)) throw busy(folder);
  };
  return { epoch, hold, release: () => rename(file, released).catch(() => {}) };
}

/** The process that works on the run, while it lives. */
export async function ownerOf(folder: string): Promise<number | undefined> {
  const names = await readdir(folder).catch(() => []);
  const last = Math.max(0, ...names.map((name) => Number(OWNER.exec(name)?.[1] ?? 0)));
  const file = join(folder, `owner.${last}.json`);
  const pid = last > 0 && (await isAlive(file)) ? (await claimIn(file))?.pid : undefined;
  return typeof pid === "number" ? pid : undefined;
}

/** True while a living process works on the run. */
export async function isOwned(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  const last = Math.max(0, ...names.map((name) => Number(OWNER.exec(name)?.[1] ?? 0)));
  return last > 0 && isAlive(join(folder, `owner.${last}.json`));
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** A process id alone proves nothing, since it is used again; with its start time it does. */
async function isAlive(file: string): Promise<boolean> {
  const claimed = await claimIn(file);
  if (!claimed) return isYoung(file);
  const { pid, started } = claimed;
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return false;
  const now = await startOf(pid);
  return now !== undefined && now === started;
}

/** What a claim says; `undefined` when it is empty or half written. A file that is gone says nothing. */
async function claimIn(file: string): Promise<{ pid?: unknown; started?: unknown } | undefined> {
  try {
    const claimed: unknown = JSON.parse(await readFile(file, "utf8").catch(() => "{}"));
    return isRecord(claimed) ? claimed : undefined;
  } catch {
    return undefined;
  }
}

/** A claim that cannot be read is being written right now, or its writer died over it a while ago. */
async function isYoung(file: string): Promise<boolean> {
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: 0 }));
  return Date.now() - mtimeMs < WRITING_MS;
}

const WRITING_MS = 10_000;

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

function busy(folder: string): CrewError {
  return new CrewError("RUN_BUSY", `Another process is working on the run in ${folder}.`, "Wait for it to end, or stop it, then try again.");
}
