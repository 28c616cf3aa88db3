import {
  chmodSync,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  type Stats,
  statfsSync,
} from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  isAbovePlace,
  isUnlisted,
  type LocalPlaces,
  mayBeProtected,
  namesOnTheWay,
  protectedPart,
} from "../../core/policy/protected-paths.ts";
import { gitDirectoryParts } from "./git-directory.ts";
import { opened, type RawPath, rawOf, textOfRaw } from "./raw-path.ts";

/** A folder to scan, and its path in the form that the rules about protected files use. */
export type ScannedRoot = Readonly<{
  root: string;
  place: string;
  /** Folders that the scan does not enter. */
  skipped: readonly string[];
}> &
  LocalPlaces;

/** A file or folder with a protected name or in a protected place. */
export type ProtectedThing = Readonly<{
  path: RawPath;
  kind: "file" | "folder" | "link";
  /** The path that a symbolic link contains, unresolved. */
  target?: RawPath;
  /** True: a hidden entry of a home folder that is on no list, so that other programs may write it at any time. */
  unlisted?: true;
}>;

/**
 * The protected files below one folder, at any depth. The entries of a folder are remembered with its inode and ctime,
 * which no program can set: a folder that did not change is not read again. In a tree of 100,000 files that takes a
 * sixth of the time.
 */
export class ProtectedScan {
  readonly #given: ScannedRoot;
  readonly #isNew: (path: RawPath) => boolean;
  readonly #skipped: ReadonlySet<RawPath>;
  readonly #local: ReadonlySet<string>;
  readonly #remembers = new Map<number, boolean>();
  readonly #top: Folder;
  /** Protected folders that were searched in the last scan because they are new. */
  #refused: ReadonlyMap<RawPath, Folder> = new Map();
  #running: Promise<readonly ProtectedThing[]> | undefined;
  #next: Promise<readonly ProtectedThing[]> | undefined;

  /**
   * `isNew`: tells whether a protected folder is new, so that it will be renamed. The contents of such a folder are
   * judged as if it already had its harmless name.
   */
  constructor(given: ScannedRoot, isNew: (path: RawPath) => boolean = () => false) {
    this.#given = given;
    this.#top = folderAt(rawOf(given.root), given.place);
    this.#isNew = isNew;
    this.#local = namesOnTheWay(given);
    this.#skipped = new Set([...NEVER, ...given.skipped].map(rawOf));
  }

  /** The protected files as they are now. Callers during a scan share the next scan. */
  scan(): Promise<readonly ProtectedThing[]> {
    if (this.#running === undefined) return this.#begin();
    this.#next ??= this.#running.then(
      () => this.#begin(),
      () => this.#begin(),
    );
    return this.#next;
  }

  #begin(): Promise<readonly ProtectedThing[]> {
    this.#next = undefined;
    const running = this.#walk().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  async #walk(): Promise<readonly ProtectedThing[]> {
    const found: ProtectedThing[] = [];
    const refused = new Map<RawPath, Folder>();
    const open: Folder[] = [this.#top];
    const bases: (Base | undefined)[] = [undefined];
    let until = performance.now() + SLICE_MS;
    try {
      for (let count = 1, folder = open.pop(); folder !== undefined; folder = open.pop(), count++) {
        if (count % 32 === 0 && performance.now() > until) {
          await nextTurn();
          until = performance.now() + SLICE_MS;
        }
        const near = within(folder, bases.pop());
        const stats = statsOf(folder, near);
        const base = stats && isClosed(stats) ? unlock(folder, stats, near) : near;
        const enter = (inner: Folder): void => {
          if (base) base.users += 1;
          open.push(inner);
          bases.push(base);
        };
        folder.listing = stats && this.#list(folder, stats, base);
        if (folder.listing !== undefined) {
          for (const inner of folder.listing.folders) enter(inner);
          for (const thing of folder.listing.things) {
            found.push(thing);
            if (thing.kind !== "folder" || !this.#isNew(thing.path)) continue;
            const inner = this.#refused.get(thing.path) ?? folderAt(thing.path, `${folder.place}/${HARMLESS}`);
            refused.set(thing.path, inner);
            enter(inner);
          }
        }
        release(base);
      }
    } finally {
      for (const base of bases) release(base);
    }
    this.#refused = refused;
    return found;
  }

  /** The entries of a scanned folder. */
  #list(folder: Folder, stats: Stats, base: Base | undefined): Listing {
    const known = folder.listing;
    if (known?.settled && known.ino === stats.ino && known.ctimeMs === stats.ctimeMs) return known;
    const way = reached(folder.path, base);
    const entries = entriesIn(way);
    const settled = Date.now() - stats.ctimeMs > SETTLED_MS && this.#canRemember(stats.dev, way);
    return { ino: stats.ino, ctimeMs: stats.ctimeMs, settled, ...this.#sort(folder, way, entries) };
  }

  #sort(
    { path, place, listing }: Folder,
    at: RawPath,
    entries: readonly Dirent[],
  ): Pick<Listing, "folders" | "things"> {
    const [folders, things]: [Folder[], ProtectedThing[]] = [[], []];
    const known = new Map(listing?.folders.map((folder) => [folder.path, folder]));
    const parts = gitDirectoryParts(entries.map(({ name }) => name));
    for (const entry of entries) {
      const inner = childOf(path, entry.name);
      if (this.#skipped.has(inner)) continue;
      const kind = entry.isSymbolicLink() ? "link" : entry.isDirectory() ? "folder" : "file";
      if (parts.has(entry.name) || this.#isProtected(place, entry.name, kind))
        things.push({
          path: inner,
          kind,
          ...(kind === "link" && { target: targetOf(childOf(at, entry.name)) }),
          ...(isUnlisted(`${place}/${textOfRaw(entry.name)}`, this.#given) && { unlisted: true as const }),
        });
      else if (kind === "folder")
        folders.push(known.get(inner) ?? folderAt(inner, `${place}/${textOfRaw(entry.name)}`));
    }
    return { folders, things };
  }

  #isProtected(place: string, raw: RawPath, kind: ProtectedThing["kind"]): boolean {
    const name = textOfRaw(raw);
    if (!mayBeProtected(name, this.#local, place)) return false;
    const inner = `${place}/${name}`;
    return protectedPart(inner, this.#given) !== undefined || (kind === "link" && isAbovePlace(inner, this.#given));
  }

  /** True for local file systems: only these reliably change the ctime of a folder with each change. */
  #canRemember(device: number, at: RawPath): boolean {
    const known = this.#remembers.get(device);
    if (known !== undefined) return known;
    let local = false;
    try {
      local = LOCAL.has(statfsSync(opened(at)).type);
    } catch {
      // the folder was deleted
    }
    this.#remembers.set(device, local);
    return local;
  }
}

type Listing = Readonly<{
  ino: number;
  ctimeMs: number;
  /** True when the folder's last change was long enough before the scan that a further change would be visible. */
  settled: boolean;
  folders: readonly Folder[];
  things: readonly ProtectedThing[];
}>;

/** A harmless name that is used for a protected folder while its entries are judged. */
const HARMLESS = "refused";
/** How long the scan runs before other work gets a turn, in milliseconds. */
const SLICE_MS = 10;
/**
 * How old a change must be for timestamps to tell it from a later change: some file systems count in steps of two
 * seconds.
 */
const SETTLED_MS = 2_500;
/**
 * The numbers by which the system identifies the file systems ext, xfs, btrfs, tmpfs, overlay, f2fs, zfs and bcachefs.
 */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e]);
/** Folders that are replaced in every sandbox, so no command can write the real folders. */
const NEVER = ["/proc", "/sys", "/dev", "/run", "/tmp", "/var/tmp"];

const childOf = (path: RawPath, name: string): RawPath => (path === "/" ? `/${name}` : `${path}/${name}`);

/** A folder to scan: its path as bytes, its path for rules, and the path with which it is opened. */
type Folder = Readonly<{ path: RawPath; place: string; opened: ReturnType<typeof opened> }> & {
  listing?: Listing | undefined;
};

const folderAt = (path: RawPath, place: string): Folder => ({ path, place, opened: opened(path) });

const IF_THERE = { throwIfNoEntry: false } as const;

/**
 * The state of a folder; `undefined`: it is missing, not a folder, or in a folder of another user that this user may
 * not enter.
 */
function statsOf({ path, opened: short }: Folder, base: Base | undefined): Stats | undefined {
  try {
    const stats = isAt(base, path)
      ? fstatSync(base.fd)
      : lstatSync(base === undefined ? short : opened(reached(path, base)), IF_THERE);
    return stats?.isDirectory() ? stats : undefined;
  } catch {
    return undefined;
  }
}

/**
 * True for a folder of this user that may not be listed or entered. False for a folder of another user: a command
 * cannot write in a folder that this process cannot open.
 */
const isClosed = ({ mode, uid }: Stats): boolean =>
  (mode & 0o500) !== 0o500 && uid !== 0 && uid === process.geteuid?.();

/** Permits this user to list and enter a folder, until the scan has left it and everything below it. */
function unlock(folder: Folder, { mode }: Stats, base: Base | undefined): Base | undefined {
  const near = isAt(base, folder.path) ? base : openBase(folder, base);
  if (near === undefined) return base;
  try {
    chmodSync(`/proc/self/fd/${near.fd}`, (mode & 0o7777) | 0o700);
    near.mode = mode & 0o7777;
  } catch {
    // the folder was deleted, or given to another user
  }
  return near;
}

/**
 * An open ancestor of a folder. The path from it is short enough for the kernel, and every folder on that path may be
 * entered.
 */
type Base = {
  readonly fd: number;
  readonly from: number;
  users: number;
  /** The permissions that the ancestor gets back when the scan has left it. */
  mode?: number;
};

/** Maximum length of a path in system calls; a tree can be deeper. */
const LONGEST = 3_000;

/**
 * An open ancestor that is nearer to a folder than the last one, because the path from the last one has become too
 * long.
 */
function within(folder: Folder, base: Base | undefined): Base | undefined {
  if (folder.path.length - (base?.from ?? 0) <= LONGEST) return base;
  return openBase(folder, base) ?? base;
}

/** Opens a folder, and releases the ancestor from which it was opened. */
function openBase({ path }: Folder, base: Base | undefined): Base | undefined {
  try {
    const fd = openSync(opened(reached(path, base)), FOLDER_FLAGS);
    release(base);
    return { fd, from: path.length, users: 1 };
  } catch {
    return undefined;
  }
}

/** True if a folder itself is open, so that it can be examined even if it may not be entered. */
const isAt = (base: Base | undefined, path: RawPath): base is Base => base?.from === path.length;

function release(base: Base | undefined): void {
  if (base === undefined) return;
  base.users -= 1;
  if (base.users > 0) return;
  try {
    if (base.mode !== undefined) chmodSync(`/proc/self/fd/${base.fd}`, base.mode);
  } catch {
    // the folder now belongs to another user
  }
  closeSync(base.fd);
}

const reached = (path: RawPath, base: Base | undefined): RawPath =>
  base === undefined ? path : `/proc/self/fd/${base.fd}/.${path.slice(base.from)}`;

/** Flags that open a folder even if it may not be listed, and never through a symbolic link. */
export const FOLDER_FLAGS = 0o10000000 | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

function entriesIn(at: RawPath): Dirent[] {
  try {
    return readdirSync(opened(at), { withFileTypes: true, encoding: "latin1" });
  } catch {
    return []; // the folder is gone, or a closed one of another user
  }
}

function targetOf(at: RawPath): RawPath {
  try {
    return readlinkSync(opened(at), "latin1");
  } catch {
    return "";
  }
}
