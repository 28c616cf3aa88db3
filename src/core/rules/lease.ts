import { globMatcher } from "./glob.ts";
import { globsMeet } from "./globs-overlap.ts";

/** A lease: the files that a task declares to write. Tasks whose leases overlap run one after the other. */
export type Lease = Readonly<{
  /** The path of the task that holds the lease. */
  of: string;
  /** Patterns of file paths, relative to the workspace. */
  globs: readonly string[];
}>;

/** A held or requested lease. `under`: the parent task whose lease contains this one. */
export type LeaseWish = Lease & Readonly<{ under?: string }>;

/**
 * The waiting leases that can be granted: leases that overlap with no holder and no earlier waiter. There is no
 * deadlock: a task takes its whole lease at once, before any other resource, so no two tasks wait for each other.
 * Subagents compete only within the lease of their parent, so they never wait for it.
 */
export function grantable<W extends LeaseWish>(held: readonly LeaseWish[], waiting: readonly W[]): W[] {
  const before: LeaseWish[] = [...held];
  return waiting.filter((wish) => {
    const free = !before.some((other) => other.under === wish.under && meet(other.globs, wish.globs));
    before.push(wish);
    return free;
  });
}

/** The tasks that block a lease, with the overlapping patterns. */
export function blockersOf(
  wish: LeaseWish,
  before: readonly LeaseWish[],
): Readonly<{ task: string; files: readonly string[] }>[] {
  return before.flatMap((other) => {
    if (other.under !== wish.under) return [];
    const files = other.globs.filter((glob) => meet([glob], wish.globs));
    return files.length === 0 ? [] : [{ task: other.of, files }];
  });
}

/** The path of the nearest parent task that holds a lease. */
export function leaseAbove(held: readonly Lease[], path: string): string | undefined {
  const above = held.map(({ of }) => of).filter((of) => isBelow(of, path));
  return above.toSorted((one, other) => other.length - one.length)[0];
}

/**
 * True if `path` is below `above`. The subagent `scout` of the task `lead` has the path `lead/scout`; in the second
 * round of `lead` it is `lead.2/scout`.
 */
function isBelow(above: string, path: string): boolean {
  return path.startsWith(above) && /^(?:\.\d+)?\//.test(path.slice(above.length));
}

/** Makes the patterns absolute, so that leases of nested folders can be compared. */
export function patternsBelow(folder: string, globs: readonly string[]): string[] {
  const root = folder.replace(/\/+$/, "").replace(/[\\*?[\]{}!]/g, "\\$&");
  return globs.map((glob) => root + anchored(glob));
}

/** Whether a lease covers a file, given by its path relative to the workspace. */
export function covers({ globs }: Pick<Lease, "globs">, place: string): boolean {
  return !place.startsWith("/") && globs.some((glob) => globMatcher(anchored(glob))(place));
}

/** The folders that a lease covers entirely, relative to the workspace; `""` is the workspace itself. */
export function wholeFolders({ globs }: Pick<Lease, "globs">): string[] {
  return globs
    .map((glob) => /^((?:[^*?[\]{}\\]+\/)?)\*\*$/.exec(anchored(glob).slice(1))?.[1])
    .filter((folder) => folder !== undefined)
    .map((folder) => folder.replace(/\/$/, ""));
}

/**
 * Makes a pattern relative to the workspace, even a pattern without a slash. A pattern for a folder matches everything
 * in it.
 */
function anchored(glob: string): string {
  const plain = glob.replace(/^(?:\.?\/)+/, "");
  return `/${plain.endsWith("/") || plain === "" ? `${plain}**` : plain}`;
}

function meet(ours: readonly string[], theirs: readonly string[]): boolean {
  return ours.some((one) => theirs.some((other) => globsMeet(anchored(one), anchored(other))));
}
