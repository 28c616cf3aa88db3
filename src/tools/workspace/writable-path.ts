import type { Stats } from "node:fs";
import { rmdir } from "node:fs/promises";
import { protectedPart } from "../../core/policy/protected-paths.ts";
import type { CallAccess, ToolContext } from "../../core/task/tool.ts";
import { writtenGitDirectory } from "../../runtime/files/git-directory.ts";
import { quoted, type Root, refusal, rootOf } from "../../runtime/files/open-contained.ts";
import { rootFor } from "../../runtime/files/resolve-subject.ts";
import {
  openContainedPath,
  lookOf,
  type ContainedPath,
  type ContainedPathOptions,
} from "../../runtime/files/write-contained.ts";

/**
 * Opens the path that a tool call may change. The opened path must be the path that the permission rules judged: if a
 * folder on the way was replaced meanwhile, the call is refused.
 */
export async function writablePath(
  context: ToolContext,
  path: string,
  options: ContainedPathOptions = {},
): Promise<ContainedPath> {
  const { access } = context;
  if (!access && protectedPart(path) !== undefined)
    throw refusal(
      "DENIED",
      `${quoted(path)} is executed or loaded as configuration later, so it cannot be changed here`,
    );
  const root = await rootOfCall(context, path);
  const spot = await openContainedPath(root, path, options);
  const repository = await writtenGitDirectory(root.real, [spot.path]);
  const isSecret = await isClosedLink(root, spot);
  if (repository === undefined && !isSecret && isAgreed(access, spot)) {
    await access?.noteWrite?.(spot.real);
    return spot;
  }
  await spot.close();
  for (const folder of spot.made.toReversed()) await rmdir(folder).catch(() => {});
  if (repository !== undefined)
    throw refusal(
      "DENIED",
      `${quoted(path)} is part of a folder that git treats as a repository and whose settings it obeys (${quoted(repository)}): use another name`,
    );
  if (isSecret)
    throw refusal(
      "DENIED",
      `${quoted(path)} may not be changed: it is another name of a file that this agent may not read`,
    );
  throw refusal("DENIED", `${quoted(path)} now points to a different place: check the path and repeat the call`);
}

/** True for another name (hard link) of a file that may not be read: its text would be part of the recorded change. */
async function isClosedLink({ isClosedFile }: Root, spot: ContainedPath): Promise<boolean> {
  const stats = isClosedFile && (await spot.stats());
  return stats !== undefined && stats.isFile() && stats.nlink > 1 && (await isClosedFile!(stats));
}

/** The folder to which a path in a tool call is relative. */
export async function rootOfCall({ cwd, access }: Pick<ToolContext, "cwd" | "access">, path: string): Promise<Root> {
  const roots = await Promise.all([cwd, ...(access?.roots ?? [])].map((folder) => rootOf(folder)));
  const root = rootFor(roots, path);
  return access ? { ...root, ...access.closedIn(root.real) } : root;
}

function isAgreed(access: CallAccess | undefined, { real, path }: ContainedPath): boolean {
  if (!access) return protectedPart(path) === undefined;
  const place = access.placeOf(real);
  return access.judged.some((subject) => subject.kind === "path" && subject.change && subject.places.includes(place));
}

/** True if something else changed a file since this task last read or wrote it. */
export function hasForeignChange(
  { access }: ToolContext,
  { real }: Pick<ContainedPath, "real">,
  stats: Stats | undefined,
): boolean {
  const seen = access?.seen.get(real);
  return seen !== undefined && seen !== lookOf(stats);
}

/** Throws when something else changed an existing file since this task last read or wrote it. */
export function checkUnchanged(context: ToolContext, spot: ContainedPath, stats: Stats | undefined): void {
  if (stats?.isFile() && hasForeignChange(context, spot, stats)) throw changedSince([spot.path], "since you read it");
}

/** Throws when an entry was changed after it was examined. */
export async function checkStill(spot: ContainedPath, stats: Stats | undefined): Promise<void> {
  if (lookOf(await spot.stats()) !== lookOf(stats)) throw changedSince([spot.path], "just now");
}

/** The error about files that something else changed. */
export function changedSince(paths: readonly string[], when: "since you read it" | "just now"): Error {
  const names = paths.slice(0, MOST_NAMED).map(quoted).join(", ");
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : "";
  return new Error(`${names}${more} was changed by another process ${when}: read it again, then repeat the change`);
}

const MOST_NAMED = 20;

/** Stores the fingerprint of a file that this task has read or written. */
export async function remember({ access }: ToolContext, spot: ContainedPath): Promise<void> {
  const stats = await spot.stats();
  if (stats) access?.seen.set(spot.real, lookOf(stats));
}
