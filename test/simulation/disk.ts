import { dirname } from "node:path";
import type { Disk } from "../../src/runtime/disk/disk.ts";
import type { DiskFile } from "../../src/runtime/disk/open-file.ts";
import type { Dice } from "./dice.ts";
import type { Time } from "./time.ts";

/** The rate of each kind of disk fault: one in this many calls fails; absent if none does. */
export type DiskFaults = Readonly<{ full?: number; broken?: number; short?: number; slow?: number }>;

/** The content of a file, and the part that would survive a power cut. */
type Inode = { ino: number; live: Buffer; safe: Buffer; at: number };

/** One disk that several processes share. */
export type SimulatedDisk = Readonly<{
  /** The disk as one process sees it; all earlier processes count as dead. */
  for(life: number): Disk;
  /** Operations that were running when a process ended may have happened, completely or in part. */
  interrupt(life: number): void;
  /** Unsynced data may be lost, in part or completely. */
  cutPower(): void;
  files(): ReadonlyMap<string, Buffer>;
}>;

export function createDisk(time: Time, dice: Dice, faults: () => DiskFaults): SimulatedDisk {
  let names = new Map<string, Inode>();
  let safeNames = new Map<string, Inode>();
  const folders = new Set(["/", "/state"]);
  const underWay = new Map<number, Set<() => void>>();
  let boots = 1;
  let inodes = 0;

  const error = (code: string, call: string): NodeJS.ErrnoException =>
    Object.assign(new Error(`${code}: simulated, ${call}`), { code, syscall: call });
  const inodeAt = (path: string, call: string): Inode => {
    const found = names.get(path);
    if (!found) throw error("ENOENT", call);
    return found;
  };
  const goesWrong = (kind: keyof DiskFaults): boolean => {
    const many = faults()[kind];
    return many !== undefined && dice.oneIn(many);
  };
  const fresh = (text: string | Uint8Array = ""): Inode => ({
    ino: (inodes += 1),
    live: Buffer.from(text as string),
    safe: Buffer.alloc(0),
    at: time.now(),
  });

  /** An operation that takes time and then has its effect; a process that ends meanwhile never gets its result. */
  const doing = async <T>(life: number, effect: () => T, partly: () => void = effect): Promise<T> => {
    if (time.isOver(life)) return new Promise<never>(() => {});
    const all = underWay.get(life) ?? new Set();
    underWay.set(life, all);
    all.add(partly);
    await time.pass(goesWrong("slow") ? 500 + dice.below(8_000) : dice.below(4));
    all.delete(partly);
    return effect();
  };

  const fileOf = (inode: Inode, life: number): DiskFile => {
    const append = (bytes: Uint8Array): void => {
      inode.live = Buffer.concat([inode.live, bytes]);
      inode.at = time.now();
    };
    const sync = (): Promise<void> =>
      doing(
        life,
        () => {
          if (goesWrong("broken")) throw error("EIO", "fsync");
          inode.safe = inode.live;
        },
        () => {},
      );
    return {
      write: (data: string | Uint8Array, offset?: number) => {
        const bytes = Buffer.from(data as string).subarray(offset ?? 0);
        return doing(
          life,
          () => {
            if (goesWrong("full")) {
              append(bytes.subarray(0, dice.below(bytes.length)));
              throw error("ENOSPC", "write");
            }
            const written = goesWrong("short") ? 1 + dice.below(bytes.length) : bytes.length;
            append(bytes.subarray(0, written));
            return { bytesWritten: written };
          },
          () => append(bytes.subarray(0, dice.below(bytes.length + 1))),
        );
      },
      datasync: sync,
      sync,
      truncate: (length) =>
        doing(life, () => {
          inode.live = inode.live.subarray(0, length);
        }),
      stat: () => doing(life, () => ({ size: inode.live.length, ino: inode.ino })),
      close: () => doing(life, () => {}),
    };
  };
  const folderOf = (folder: string, life: number): DiskFile => {
    const sync = (): Promise<void> =>
      doing(life, () => {
        for (const path of new Set([...names.keys(), ...safeNames.keys()])) {
          if (dirname(path) !== folder) continue;
          const inode = names.get(path);
          if (inode) safeNames.set(path, inode);
          else safeNames.delete(path);
        }
      });
    const none = (): Promise<never> => Promise.reject(error("EISDIR", "write"));
    return { write: none, truncate: none, stat: none, datasync: sync, sync, close: () => doing(life, () => {}) };
  };

  const forLife = (life: number): Disk => ({
    open: (path, flags) =>
      doing(life, () => {
        if (folders.has(path)) return folderOf(path, life);
        if (flags === "a" && !names.has(path)) names.set(path, fresh());
        return fileOf(inodeAt(path, "open"), life);
      }),
    openToRead: (path) =>
      doing(life, () => {
        const bytes = inodeAt(path, "open").live;
        let at = 0;
        return {
          read: async (into, offset, length) => {
            const bytesRead = bytes.copy(into, offset, at, at + length);
            at += bytesRead;
            return { bytesRead };
          },
          close: async () => {},
        };
      }),
    readFile: (path) =>
      doing(life, () => {
        if (path.endsWith("boot_id")) return Buffer.from(`boot-${boots}\n`);
        if (path === `/proc/${process.pid}/stat`) return Buffer.from(statLine(life));
        return inodeAt(path, "read").live;
      }),
    readlink: () => doing(life, () => "pid:[1]"), // all processes of a simulation live in one pid namespace
    writeFile: (path, text, { flush }) =>
      doing(life, () => {
        if (names.has(path)) throw error("EEXIST", "open");
        const inode = fresh();
        names.set(path, inode);
        if (goesWrong("full")) throw error("ENOSPC", "write");
        inode.live = Buffer.from(text);
        if (flush) inode.safe = inode.live;
      }),
    copyFile: (from, to) =>
      doing(life, () => void names.set(to, { ...fresh(inodeAt(from, "copyfile").live), at: time.now() })),
    rename: (from, to) =>
      doing(life, () => {
        names.set(to, inodeAt(from, "rename"));
        names.delete(from);
      }),
    link: (from, to) =>
      doing(life, () => {
        if (names.has(to)) throw error("EEXIST", "link");
        names.set(to, inodeAt(from, "link"));
      }),
    rm: (path) => doing(life, () => void names.delete(path)),
    stat: (path) => doing(life, () => ({ mtimeMs: inodeAt(path, "stat").at })),
    mkdir: (path) =>
      doing(life, () => {
        const missing: string[] = [];
        for (let at = path; !folders.has(at); at = dirname(at)) missing.push(at);
        for (const folder of missing) folders.add(folder);
        return missing.at(-1);
      }),
    readdir: ((path: string, how?: object) =>
      doing(life, () => {
        if (!folders.has(path)) throw error("ENOENT", "scandir");
        const inside = (file: string): boolean =>
          how ? file.startsWith(`${path}/`) : dirname(file) === path && file !== path;
        const found = [...names.keys()].filter(inside).toSorted();
        if (!how) return found.map((file) => file.slice(path.length + 1));
        return found.map((file) => ({ name: file.slice(dirname(file).length + 1), parentPath: dirname(file) }));
      })) as Disk["readdir"],
    existsSync: (path) => names.has(path),
    inodeSync: (path) => names.get(path)?.ino,
  });

  return {
    for: forLife,
    interrupt: (life) => {
      for (const partly of underWay.get(life) ?? []) if (dice.oneIn(2)) attempt(partly);
      underWay.delete(life);
    },
    cutPower: () => {
      boots += 1;
      const after = new Map<string, Inode>();
      for (const path of new Set([...names.keys(), ...safeNames.keys()])) {
        const kept = dice.oneIn(2) ? names.get(path) : safeNames.get(path);
        if (kept) after.set(path, kept);
      }
      for (const inode of new Set(after.values())) inode.live = inode.safe = survived(inode, dice);
      names = after;
      safeNames = new Map(after);
    },
    files: () => new Map([...names].map(([path, { live }]) => [path, live])),
  };
}

/** Some of the data that was added since the last sync survives, and the rest may read as zeros. */
function survived({ live, safe }: Inode, dice: Dice): Buffer {
  if (live.length <= safe.length) return dice.oneIn(2) ? live : safe;
  const written = safe.length + dice.below(live.length - safe.length + 1);
  const there = live.subarray(0, written);
  if (!dice.oneIn(3)) return there;
  return Buffer.concat([there, Buffer.alloc(dice.below(live.length - written + 1))]);
}

/** The kernel's record of a process: each process of the simulation started at another time. */
const statLine = (life: number): string => `${process.pid} (node) S ${"0 ".repeat(18)}${life} 0 0\n`;

function attempt(act: () => void): void {
  try {
    act();
  } catch {
    // The write failed, and no process is left to handle the error.
  }
}
