import { access, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CrewError } from "../core/error.ts";

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
  const hold = async (): Promise<void> => {
    const next = await Promise.all([exists(join(folder, `owner.${epoch + 1}.json`)), exists(join(folder, `released.${epoch + 1}.json`))]);
    if (next.some(Boolean)) throw busy(folder);
  };
  return { epoch, hold, release: () => rename(file, join(folder, `released.${epoch}.json`)).catch(() => {}) };
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
  const { pid, started } = JSON.parse(await readFile(file, "utf8").catch(() => "{}")) as { pid?: unknown; started?: unknown };
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return false;
  const now = await startOf(pid);
  return now !== undefined && now === started;
}

/** When a process started, in the kernel's words; elsewhere than on Linux, whether it is there at all. */
async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat !== undefined) return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
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
