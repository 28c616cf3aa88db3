/** How a call counts in the order of the calls of its turn: it only reads, it changes something, or it starts agents. */
export type CallOrder = "read" | "write" | "spawn";

/** A path that a call touches, with everything below it. */
export type TouchedPath = Readonly<{ path: string; change: boolean }>;

/** What a call touches: exactly these real paths, or possibly anything if `paths` is absent. */
export type CallReach = Readonly<{ order: CallOrder; paths?: readonly TouchedPath[] }>;

/** The reach of a call that is refused, whatever the calls before it do. */
export const TOUCHES_NOTHING: CallReach = { order: "read", paths: [] };

/**
 * True if two calls of a turn may run at the same time: both only read, both start agents, or what they touch is
 * certainly disjoint.
 */
export function mayOverlap(one: CallReach, other: CallReach): boolean {
  if (one.order === other.order && one.order !== "write") return true;
  if (one.paths?.length === 0 || other.paths?.length === 0) return true;
  const { paths } = other;
  if (one.paths === undefined || paths === undefined) return false;
  return one.paths.every((a) => paths.every((b) => (!a.change && !b.change) || areApart(a.path, b.path)));
}

/**
 * True if neither path is the other or lies below it. Paths that differ only in case or in the form of a character may
 * be the same file, depending on the file system.
 */
function areApart(one: string, other: string): boolean {
  const [a, b] = [folded(one), folded(other)];
  return !isBelow(a, b) && !isBelow(b, a);
}

const folded = (path: string): string => path.normalize("NFC").toLowerCase();

/** True if a path is a folder or in it. The empty path is the workspace; everything counts as in it. */
const isBelow = (path: string, folder: string): boolean =>
  folder === "" || path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
