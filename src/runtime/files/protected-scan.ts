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
import { type HomeAnchor, isAbovePlace, mayBeProtected, protectedPart } from "../../core/policy/protected-paths.ts";
import { opened, type RawPath, rawOf, textOfRaw } from "./raw-path.ts";

/** A folder to scan, and its path as rules about protected places see it. */
export type ScannedRoot = Readonly<{
  root: string;
  place: string;
  homes: readonly HomeAnchor[];
  /** Folders that the scan does not enter. */
  skipped: readonly string[];
}>;

/** Something with a protected name or in a protected place. */
export type ProtectedThing = Readonly<{
  path: RawPath;
  kind: "file" | "folder" | "link";
  /** The target of a link, unresolved. */
  target?: RawPath;
}>;

/**
 * The protected things below one folder, at any depth. What a folder held is remembered with its inode and ctime, which no
 * program can set: a folder that did not change is not read again. In a tree of 100,000 files that takes a sixth of the time.
 */
export class ProtectedScan {
  readonly #given: ScannedRoot;
  readonly #isNew: (path: RawPath) => boolean;
  readonly #skipped: ReadonlySet<RawPath>;
  readonly #remembers = new Map<number, boolean>();
  #listed = new Map<RawPath, Listing>();
  #running: Promise<readonly ProtectedThing[]> | undefined;
  #next: Promise<readonly ProtectedThing[]> | undefined;

  /** `isNew`: tells whether a protected folder will be renamed; its contents are judged as if it already had been. */
  constructor(given: ScannedRoot, isNew: (path: RawPath) => boolean = () => false) {
    this.#given = given;
    this.#isNew = isNew;
    this.#skipped = new Set([...NEVER, ...given.skipped].map(rawOf));
  }

  /** The current state. Callers during a scan share the next scan. */
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
    const listed = new Map<RawPath, Listing>();
    const open: Folder[] = [{ path: rawOf(this.#given.root), place: this.#given.place }];
    let until = performance.now() + SLICE_MS;
    try {
      for (let count = 1, folder = open.pop(); folder !== undefined; folder = open.pop(), count++) {
        if (count % 32 === 0 && performance.now() > until) {
          await nextTurn();
          until = performance.now() + SLICE_MS;
        }
        const near = within(folder);
        const listing = this.#list(near);
        const enter = (path: RawPath, name: string): void => {
          if (near.base) near.base.users += 1;
          open.push({ path, place: `${folder.place}/${name}`, ...(near.base && { base: near.base }) });
        };
        if (listing !== undefined) {
          listed.set(folder.path, listing);
          for (const name of listing.folders) enter(childOf(folder.path, name), textOfRaw(name));
          for (const thing of listing.things) {
            found.push(thing);
            if (thing.kind === "folder" && this.#isNew(thing.path)) enter(thing.path, HARMLESS);
          }
        }
        release(near.base);
      }
    } finally {
      for (const { base } of open) release(base);
    }
    this.#listed = listed;
    return found;
  }

  /** The entries of a folder; `undefined`: it is missing or not a folder. */
  #list(near: Folder): Listing | undefined {
    const { path } = near;
    const at = reached(path, near);
    const stats = lstatSync(opened(at), { throwIfNoEntry: false });
    if (!stats?.isDirectory()) return undefined;
    const known = this.#listed.get(path);
    if (known?.settled && known.ino === stats.ino && known.ctimeMs === stats.ctimeMs) return known;
    const entries = entriesIn(at, stats.mode);
    const settled = Date.now() - stats.ctimeMs > SETTLED_MS && this.#canRemember(stats.dev, at);
    return { ino: stats.ino, ctimeMs: stats.ctimeMs, settled, ...this.#sort(near, at, entries) };
  }

  #sort({ path, place }: Folder, at: RawPath, entries: readonly Dirent[]): Pick<Listing, "folders" | "things"> {
    const [folders, things]: [string[], ProtectedThing[]] = [[], []];
    const parts = repositoryParts(entries);
    for (const entry of entries) {
      const inner = childOf(path, entry.name);
      if (this.#skipped.has(inner)) continue;
      const kind = entry.isSymbolicLink() ? "link" : entry.isDirectory() ? "folder" : "file";
      if (parts.has(entry.name) || this.#isProtected(place, entry.name, kind))
        things.push({ path: inner, kind, ...(kind === "link" && { target: targetOf(childOf(at, entry.name)) }) });
      else if (kind === "folder") folders.push(entry.name);
    }
    return { folders, things };
  }

  #isProtected(place: string, raw: RawPath, kind: ProtectedThing["kind"]): boolean {
    const name = textOfRaw(raw);
    if (!mayBeProtected(name)) return false;
    const { homes } = this.#given;
    const inner = `${place}/${name}`;
    return protectedPart(inner, homes) !== undefined || (kind === "link" && isAbovePlace(inner, homes));
  }

  /** True for local file systems: only these reliably change the ctime of a folder with each change. */
  #canRemember(device: number, at: RawPath): boolean {
    const known = this.#remembers.get(device);
    if (known !== undefined) return known;
    let local = false;
    try {
      local = LOCAL.has(statfsSync(opened(at)).type);
    } catch {
      // it was deleted
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
  folders: readonly string[];
  things: readonly ProtectedThing[];
}>;

/** A harmless name that stands for a protected folder while its entries are judged. */
const HARMLESS = "refused";
/** How long the scan runs before other work gets a turn. */
const SLICE_MS = 10;
/** The resolution of timestamps: some file systems count in steps of two seconds. */
const SETTLED_MS = 2_500;
/** The magic numbers of ext, xfs, btrfs, tmpfs, overlay, f2fs, zfs and bcachefs. */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e]);
/** Folders that are replaced in every sandbox, so no command writes the real ones. */
const NEVER = ["/proc", "/sys", "/dev", "/run", "/tmp", "/var/tmp"];

/**
 * The parts of a git directory that has no protected name. Git treats a folder with these entries as a repository when
 * a person works in it, and runs the programs in its configuration and hooks.
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

/** A folder to read; `base`: an open ancestor, from which the path is short enough for the kernel. */
type Folder = Readonly<{ path: RawPath; place: string; base?: Base }>;
type Base = { readonly fd: number; readonly from: number; users: number };

/** Maximum length of a path in system calls; a tree can be deeper. */
const LONGEST = 3_000;

/** The folder relative to a nearer base, once its path is too long. */
function within(folder: Folder): Folder {
  const from = folder.base?.from ?? 0;
  if (folder.path.length - from <= LONGEST) return folder;
  try {
    const fd = openSync(opened(reached(folder.path, folder)), FOLDER_FLAGS);
    release(folder.base);
    return { ...folder, base: { fd, from: folder.path.length, users: 1 } };
  } catch {
    return folder;
  }
}

function release(base: Base | undefined): void {
  if (base === undefined) return;
  base.users -= 1;
  if (base.users === 0) closeSync(base.fd);
}

const reached = (path: RawPath, { base }: Folder): RawPath =>
  base === undefined ? path : `/proc/self/fd/${base.fd}/.${path.slice(base.from)}`;

/** Opens a folder itself, also one that may not be listed, and never through a link. */
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
    return []; // owned by another user: a command cannot change a folder that we cannot list
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
