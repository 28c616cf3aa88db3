import {
  chmodSync,
  closeSync,
  constants,
  type Dirent,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  statfsSync,
} from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  isAbovePlace,
  type LocalPlaces,
  mayBeProtected,
  namesOnTheWay,
  protectedPart,
} from "../../core/policy/protected-paths.ts";
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
   * `isNew`: tells whether a protected folder is new and will be renamed; its contents are judged as if it already had
   * its harmless name.
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
        const base = within(folder, bases.pop());
        const enter = (inner: Folder): void => {
          if (base) base.users += 1;
          open.push(inner);
          bases.push(base);
        };
        folder.listing = this.#list(folder, base);
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

  /** The entries of a folder; `undefined`: the folder is missing or not a folder. */
  #list(folder: Folder, base: Base | undefined): Listing | undefined {
    const at = base === undefined ? folder.opened : opened(reached(folder.path, base));
    const stats = lstatSync(at, IF_THERE);
    if (!stats?.isDirectory()) return undefined;
    const known = folder.listing;
    if (known?.settled && known.ino === stats.ino && known.ctimeMs === stats.ctimeMs) return known;
    const way = reached(folder.path, base);
    const entries = entriesIn(way, stats.mode);
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
    const parts = repositoryParts(entries);
    for (const entry of entries) {
      const inner = childOf(path, entry.name);
      if (this.#skipped.has(inner)) continue;
      const kind = entry.isSymbolicLink() ? "link" : entry.isDirectory() ? "folder" : "file";
      if (parts.has(entry.name) || this.#isProtected(place, entry.name, kind))
        things.push({ path: inner, kind, ...(kind === "link" && { target: targetOf(childOf(at, entry.name)) }) });
      else if (kind === "folder")
        folders.push(known.get(inner) ?? folderAt(inner, `${place}/${textOfRaw(entry.name)}`));
    }
    return { folders, things };
  }

  #isProtected(place: string, raw: RawPath, kind: ProtectedThing["kind"]): boolean {
    const name = textOfRaw(raw);
    if (!mayBeProtected(name, this.#local)) return false;
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
 * How old a change must be for timestamps to tell it from a later one: some file systems count in steps of two seconds.
 */
const SETTLED_MS = 2_500;
/** The magic numbers of ext, xfs, btrfs, tmpfs, overlay, f2fs, zfs and bcachefs. */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e]);
/** Folders that are replaced in every sandbox, so no command can write the real ones. */
const NEVER = ["/proc", "/sys", "/dev", "/run", "/tmp", "/var/tmp"];

/**
 * The entries that make a folder a git directory, if it has no protected name. Git treats a folder with these entries
 * as a repository when a person works in it, and runs the programs in its configuration and hooks.
 */
function repositoryParts(entries: readonly Dirent[]): ReadonlySet<string> {
  const by = new Map(entries.flatMap(({ name }) => (PARTS.test(name) ? [[name.toLowerCase(), name] as const] : [])));
  const whole = by.has("head") && ((by.has("objects") && by.has("refs")) || by.has("commondir"));
  return whole
    ? new Set([...by].flatMap(([part, name]) => (part === "objects" || part === "refs" ? [] : [name])))
    : NONE;
}

const PARTS = /^(?:head|objects|refs|commondir|config|config\.worktree|hooks)$/i;
const NONE: ReadonlySet<string> = new Set();

const childOf = (path: RawPath, name: string): RawPath => (path === "/" ? `/${name}` : `${path}/${name}`);

/** A folder to scan: its path as bytes, its path for rules, and the path with which it is opened. */
type Folder = Readonly<{ path: RawPath; place: string; opened: ReturnType<typeof opened> }> & {
  listing?: Listing | undefined;
};

const folderAt = (path: RawPath, place: string): Folder => ({ path, place, opened: opened(path) });

const IF_THERE = { throwIfNoEntry: false } as const;

/** An open ancestor of a folder, relative to which the folder's path is short enough for the kernel. */
type Base = { readonly fd: number; readonly from: number; users: number };

/** Maximum length of a path in system calls; a tree can be deeper. */
const LONGEST = 3_000;

/** An open ancestor that is nearer to a folder whose path has become too long. */
function within({ path }: Folder, base: Base | undefined): Base | undefined {
  if (path.length - (base?.from ?? 0) <= LONGEST) return base;
  try {
    const fd = openSync(opened(reached(path, base)), FOLDER_FLAGS);
    release(base);
    return { fd, from: path.length, users: 1 };
  } catch {
    return base;
  }
}

function release(base: Base | undefined): void {
  if (base === undefined) return;
  base.users -= 1;
  if (base.users === 0) closeSync(base.fd);
}

const reached = (path: RawPath, base: Base | undefined): RawPath =>
  base === undefined ? path : `/proc/self/fd/${base.fd}/.${path.slice(base.from)}`;

/** Flags that open a folder even if it may not be listed, and never through a symbolic link. */
export const FOLDER_FLAGS = 0o10000000 | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** The entries of a folder. A folder without read permission is made readable temporarily. */
function entriesIn(at: RawPath, mode: number): Dirent[] {
  try {
    return list(at);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") return [];
  }
  try {
    chmodSync(opened(at), (mode & 0o7777) | 0o700);
    try {
      return list(at);
    } finally {
      chmodSync(opened(at), mode & 0o7777);
    }
  } catch {
    return []; // the folder belongs to another user: a command cannot change a folder that this process cannot list
  }
}

const list = (at: RawPath): Dirent[] => readdirSync(opened(at), { withFileTypes: true, encoding: "latin1" });

function targetOf(at: RawPath): RawPath {
  try {
    return readlinkSync(opened(at), "latin1");
  } catch {
    return "";
  }
}
