import { globMatcher } from "./glob.ts";
import { globsMeet } from "./globs-overlap.ts";

/** The files that a task says it writes, and nothing else. */
export type Lease = Readonly<{
  /** The task. */
  of: string;
  /** Patterns from the workspace on. */
  globs: readonly string[];
}>;

/** A lease that somebody holds or waits for. `under`: the lease of a task above, inside of which this one counts. */
export type LeaseWish = Lease & Readonly<{ under?: string }>;

/**
 * Which of those that wait may begin, in order: whoever meets nobody that holds and nobody that waits longer.
 *
 * Nobody can wait for ever. A task takes all it wants at once, before anything else that is scarce, so no two ever wait for
 * each other; and what a task starts competes only below the same lease, so it never waits for the one that waits for it.
 */
export function grantable<W extends LeaseWish>(held: readonly LeaseWish[], waiting: readonly W[]): W[] {
  const before: LeaseWish[] = [...held];
  return waiting.filter((wish) => {
    const free = !before.some((other) => other.under === wish.under && meet(other.globs, wish.globs));
    before.push(wish);
    return free;
  });
}

/** Who keeps a wish waiting, and with which of their patterns. */
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

/** The lease of the nearest task above that holds one. */
export function leaseAbove(held: readonly Lease[], path: string): string | undefined {
  const above = held.map(({ of }) => of).filter((of) => isBelow(of, path));
  return above.toSorted((one, other) => other.length - one.length)[0];
}

/** What a task starts lies at `lead/scout`, and the second time at `lead.2/scout`. */
function isBelow(above: string, path: string): boolean {
  return path.startsWith(above) && /^(?:\.\d+)?\//.test(path.slice(above.length));
}

/** Whether a lease covers a file, by its place from the workspace on. */
export function covers({ globs }: Pick<Lease, "globs">, place: string): boolean {
  return !place.startsWith("/") && globs.some((glob) => globMatcher(anchored(glob))(place));
}

/** The folders that a lease covers whole, from the workspace on; `""` is all of it. */
export function wholeFolders({ globs }: Pick<Lease, "globs">): string[] {
  return globs
    .map((glob) => /^((?:[^*?[\]{}\\]+\/)?)\*\*$/.exec(anchored(glob).slice(1))?.[1])
    .filter((folder) => folder !== undefined)
    .map((folder) => folder.replace(/\/$/, ""));
}

/** Leases begin at the workspace, also those without a slash; a folder means everything in it. */
function anchored(glob: string): string {
  const plain = glob.replace(/^(?:\.?\/)+/, "");
  return `/${plain.endsWith("/") || plain === "" ? `${plain}**` : plain}`;
}

function meet(ours: readonly string[], theirs: readonly string[]): boolean {
  return ours.some((one) => theirs.some((other) => globsMeet(anchored(one), anchored(other))));
}
