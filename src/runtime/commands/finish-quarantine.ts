import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { uptime } from "node:os";
import { lifts } from "../../core/policy/judge-call.ts";
import type { Rule } from "../../core/rules/rule.ts";
import { ProtectedScan, type ProtectedThing } from "../files/protected-scan.ts";
import { restoreLink, type QuarantinedFile, setAside } from "../files/quarantine.ts";
import { opened, type RawPath, rawOf, textOfRaw } from "../files/raw-path.ts";
import type { CommandRecord, GuardedRoot } from "./command-record.ts";
import { endBearers } from "./process-tree.ts";
import { fingerprint } from "./protected-mounts.ts";

/**
 * The protected files that existed before a command, and the permission rules that allow commands to write some of
 * them.
 */
export type Before = Readonly<{
  roots: readonly GuardedRoot[];
  existing: ReadonlySet<RawPath>;
  /** New protected folders in which a tool was allowed to write a file meanwhile. */
  shared: ReadonlySet<RawPath>;
  links: readonly Readonly<{ path: RawPath; target?: RawPath }>[];
  watched: ReadonlyMap<RawPath, string>;
  allow(): readonly Rule[];
}>;

/** Moves all new protected files to quarantine, and restores symbolic links. */
export function quarantine(
  before: Before,
  found: readonly ProtectedThing[],
  spares: Spares = () => false,
): QuarantinedFile[] {
  const { existing, shared, links, watched } = before;
  const isNew = ({ path }: ProtectedThing): boolean => !existing.has(path) && !spares(path);
  const changed = [...watched].filter(([path, was]) => {
    const now = fingerprint(path);
    return now !== "" && now !== was && !spares(path);
  });
  const replaced = [...shared].filter((path) => isNoFolder(path) && !spares(path));
  const all = [...found.filter(isNew).map(({ path }) => path), ...changed.map(([path]) => path), ...replaced];
  const outer = new Set(all);
  const wanted = all.filter((path) => !REST.test(path) || !hasAbove(outer, path));
  // Nested entries first, because renaming the outer one changes their path. Only the outermost is reported.
  const moved = wanted
    .toSorted((one, other) => other.length - one.length)
    .map((path) => {
      const root = rootOfPath(before, path);
      return root && setAside(root.root, path);
    })
    .filter((each) => each !== undefined);
  const places = new Set(moved.map(({ place }) => place));
  const outermost = moved
    .filter(({ place }) => !hasAbove(places, place))
    .map((each): QuarantinedFile => (places.has(`${each.place}/HEAD`) ? { ...each, repository: true } : each));
  const restored = links.flatMap(({ path, target = "" }) => {
    const root = rootOfPath(before, path);
    if (root === undefined || spares(path) || linkAt(path) === target) return [];
    return [restoreLink(root.root, path, target)];
  });
  return [...outermost, ...restored.filter((each) => each !== undefined)];
}

/**
 * Parts of a git repository that are not renamed when the repository itself is put into quarantine. It is not a
 * repository without `HEAD`, and a person who wants to keep it has only two names to restore.
 */
const REST = /\/(?:config|config\.worktree|commondir|hooks)$/i;

function hasAbove(paths: ReadonlySet<string>, path: string): boolean {
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1))
    if (paths.has(path.slice(0, at))) return true;
  return false;
}

/** What is in the same folder as a protected file that a tool was allowed to write, and is neither allowed nor a draft. */
export function besidePermitted({ existing, shared }: Pick<Before, "existing" | "shared">): ProtectedThing[] {
  return [...shared]
    .flatMap((folder) => entriesOf(folder).map((name): RawPath => `${folder}/${name}`))
    .filter((path) => !existing.has(path) && !DRAFT.test(path) && !REFUSED.test(path))
    .map((path) => ({ path, kind: "file" }));
}

/** True for a link or a file in place of a folder. */
function isNoFolder(path: RawPath): boolean {
  try {
    return lstatSync(opened(path), { throwIfNoEntry: false })?.isDirectory() === false;
  } catch {
    return false; // a folder above it is gone
  }
}

/** A file that a tool writes and then moves into place. */
const DRAFT = /\/\.[0-9a-f]{16}\.tmp$/;
/** A file that was quarantined before. */
const REFUSED = /[/.]refused-[0-9a-f]{6}$/;

function entriesOf(folder: RawPath): string[] {
  try {
    return readdirSync(opened(folder), { encoding: "latin1" });
  } catch {
    return []; // the folder is gone
  }
}

/** True for a file that the command created or replaced. */
export function isMade({ existing, watched }: Pick<Before, "existing" | "watched">, path: RawPath): boolean {
  if (!existing.has(path)) return true;
  const was = watched.get(path);
  return was !== undefined && fingerprint(path) !== was;
}

/** Tells which files are not moved to quarantine. */
export type Spares = (path: RawPath) => boolean;

/** Whether a permission rule of the user allows the command to write a protected path. */
export function isLifted(before: Before, path: RawPath): boolean {
  const root = rootOfPath(before, path);
  if (root === undefined) return false;
  const inner = textOfRaw(path.slice(rawOf(root.root).length)).replace(/^\//, "");
  return lifts({ ...root, allow: before.allow() }, root.named === "" ? inner : `${root.named}/${inner}`);
}

/** The writable folder that contains a path. */
export function rootOfPath({ roots }: Pick<Before, "roots">, path: RawPath): GuardedRoot | undefined {
  return roots.find(({ root }) => path.startsWith(root === "/" ? "/" : `${rawOf(root)}/`));
}

function linkAt(path: RawPath): RawPath | undefined {
  try {
    return readlinkSync(opened(path), "latin1");
  } catch {
    return undefined;
  }
}

/**
 * Cleans up after a command whose subcrew process has died: kills the remaining processes of the command, and
 * quarantines its files. Files that are newer than a restart of the machine are left alone, because the command did not
 * create them.
 */
export async function finishQuarantine(record: CommandRecord): Promise<QuarantinedFile[]> {
  await endBearers(record.marker);
  const before = beforeOf(record);
  const since = record.boot === bootId() ? Number.POSITIVE_INFINITY : Date.now() - uptime() * 1_000;
  const found = await Promise.all(
    record.roots.map((root) => new ProtectedScan(root, (path) => isMade(before, path)).scan()),
  );
  return quarantine(
    before,
    [...found.flat(), ...besidePermitted(before)],
    (path) => isLifted(before, path) || bornAt(path) > since,
  );
}

/** The state before the command, from its record. */
export function beforeOf({ roots, existing, shared = [], links, watched, allow }: CommandRecord): Before {
  return {
    roots,
    existing: new Set(existing),
    shared: new Set(shared),
    links,
    watched: new Map(watched),
    allow: () => allow,
  };
}

function bootId(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return undefined;
  }
}

/** When a file was created; 0 if that is unknown, as in a folder that may not be entered. */
function bornAt(path: RawPath): number {
  try {
    return lstatSync(opened(path)).birthtimeMs;
  } catch {
    return 0;
  }
}
