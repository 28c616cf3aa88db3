import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Hold, parseHold } from "../../core/model/hold.ts";
import { machineDisk } from "../disk/disk.ts";
import { removeStale } from "../disk/file-lock.ts";
import { readRegularText } from "../disk/regular-file.ts";
import { livingClaim, makeWhole, whoWeAre } from "../disk/process-claim.ts";
import { writeAtomic } from "../disk/write-atomic.ts";

/**
 * The API keys that providers refuse right now, for every process of this machine. Such a ban on a key is called a
 * hold.
 */
export type ProviderHolds = Readonly<{
  look(key: string): Promise<Hold | undefined>;
  /** Checks a moment later whether a key is still refused; all waiting tasks share one check. */
  lookLater(key: string): Promise<Hold | undefined>;
  put(key: string, change: (before: Hold | undefined) => Hold): Promise<void>;
  lift(key: string): Promise<void>;
  /** Claims the right to test a refused key with a request; `undefined`: another task has it. */
  claimProbe(key: string): Promise<ProbeClaim | undefined>;
}>;

/** The right to test a refused key with a request, until it is released. */
export type ProbeClaim = Readonly<{ release(): Promise<void> }>;

const LOOK_EVERY_MS = 250;
/**
 * How long it takes at most until a hold (ban on a refused key) made by another process is noticed; a hold made by this
 * process is noticed at once.
 */
const FREE_MS = 20;
/** After this time without a result, a task's test of a refused key no longer keeps other tasks from testing it. */
const PROBE_MS = 120_000;

/**
 * An identifier for a provider's address and key, or for one model there. It does not reveal the key.
 */
export function holdKey(
  address: string,
  key: string | undefined,
  headers: Readonly<Record<string, string>>,
  model?: string,
): string {
  const sent = Object.entries(headers).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([address, key ?? null, sent, ...(model === undefined ? [] : [model])]))
    .digest("hex")
    .slice(0, 40);
}

/** The holds in this folder that have not expired. */
export async function listHolds(folder: string): Promise<readonly Hold[]> {
  const names = await readdir(folder).catch(() => []);
  const texts = names
    .filter((name) => name.endsWith(".json"))
    .map((name) => readRegularText(join(folder, name)).catch(() => ""));
  const now = Date.now();
  return (await Promise.all(texts))
    .flatMap((text) => parseHold(text, now) ?? [])
    .filter(({ probeAt }) => probeAt > now);
}

/**
 * Stores holds (bans on refused keys) in files of this folder. Without a folder, or if it cannot be written, the holds
 * exist in this process alone.
 */
export function openProviderHolds(folder: string | undefined): ProviderHolds {
  const own = new Map<string, Hold>();
  const probing = new Set<string>();
  const looks = new Map<string, Promise<Hold | undefined>>();
  /** Keys that had no hold when they were last checked, and the time until which they are not checked again. */
  const freeUntil = new Map<string, number>();
  const fileOf = (key: string): string => join(folder ?? "", `${key}.json`);

  const look: ProviderHolds["look"] = async (key) => {
    const kept = own.get(key);
    if (kept) return parseHold(JSON.stringify(kept), Date.now());
    if (folder === undefined || performance.now() < (freeUntil.get(key) ?? 0)) return undefined;
    // Synchronous, because this runs before requests: a direct call takes microseconds, one through the thread pool a
    // hundred.
    if (!existsSync(fileOf(key))) {
      freeUntil.set(key, performance.now() + FREE_MS);
      return undefined;
    }
    const text = await readRegularText(fileOf(key)).catch(() => undefined);
    return text === undefined ? undefined : parseHold(text, Date.now());
  };
  const later = async (key: string): Promise<Hold | undefined> => {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    looks.delete(key);
    return look(key);
  };
  const lookLater: ProviderHolds["lookLater"] = (key) => {
    const next = looks.get(key) ?? later(key);
    looks.set(key, next);
    return next;
  };
  return {
    look,
    lookLater,
    put: async (key, change) => {
      freeUntil.delete(key);
      const hold = change(await look(key));
      try {
        if (folder === undefined) throw new Error("no state folder to store the refused key in");
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeAtomic(fileOf(key), JSON.stringify(hold));
        own.delete(key);
      } catch {
        own.set(key, hold);
      }
      freeUntil.delete(key); // removed, because a check made before the file existed may have set it
    },
    lift: async (key) => {
      own.delete(key);
      if (folder !== undefined) await rm(fileOf(key), { force: true }).catch(() => {});
    },
    claimProbe: async (key) => {
      if (probing.has(key)) return undefined;
      probing.add(key);
      const file = folder === undefined ? undefined : join(folder, `${key}.probe`);
      const leave = file === undefined ? async (): Promise<void> => {} : await takeClaim(file);
      if (!leave) {
        probing.delete(key);
        return undefined;
      }
      // A task that hangs while it tests a key does not block other tasks of this process longer than those of other
      // processes.
      const late = setTimeout(() => probing.delete(key), PROBE_MS).unref();
      return {
        release: async () => {
          clearTimeout(late);
          probing.delete(key);
          await leave();
        },
      };
    },
  };
}

/**
 * Creates a file that claims the right to test a key, and returns a function that removes it; `undefined`: a living
 * process has the right.
 */
async function takeClaim(file: string): Promise<(() => Promise<void>) | undefined> {
  const text = JSON.stringify(await whoWeAre());
  const takes = (): Promise<boolean> =>
    makeWhole(file, text, machineDisk).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== "EEXIST", // without write access, refused keys cannot be shared
    );
  if (!(await takes())) {
    await removeStale(file, isLiving);
    if (!(await takes())) return undefined;
  }
  return async () => {
    const now = await readRegularText(file).catch(() => undefined);
    if (now === text) await rm(file, { force: true }).catch(() => {});
  };
}

async function isLiving(file: string): Promise<boolean> {
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: 0 }));
  return Math.abs(Date.now() - mtimeMs) < PROBE_MS && (await livingClaim(file)) !== undefined;
}
