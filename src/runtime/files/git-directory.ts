import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { protectedPart } from "../../core/policy/protected-paths.ts";

const PARTS = /^(?:head|objects|refs|commondir|config|config\.worktree|hooks)$/i;
const NONE: ReadonlySet<string> = new Set();

/**
 * The names in a folder that make it a git directory, although it has no protected name such as `.git`. Git treats a
 * folder with these entries as a repository when a person works in it, and runs the programs in its configuration and
 * hooks.
 */
export function gitDirectoryParts(names: Iterable<string>): ReadonlySet<string> {
  const by = new Map(Array.from(names).flatMap((name) => (PARTS.test(name) ? [[name.toLowerCase(), name]] : [])));
  const whole = by.has("head") && ((by.has("objects") && by.has("refs")) || by.has("commondir"));
  return whole
    ? new Set([...by].flatMap(([part, name]) => (part === "objects" || part === "refs" ? [] : [name])))
    : NONE;
}

/**
 * The folder that becomes a git directory when files are written to these paths below `base`; at least one of the paths
 * is a part of it. Paths with a protected name, such as `.git`, do not count: rules decide about them.
 */
export async function writtenGitDirectory(base: string, paths: readonly string[]): Promise<string | undefined> {
  const added = new Map<string, Set<string>>();
  for (const path of paths) {
    const steps = path.split("/");
    if (!steps.some((step) => PARTS.test(step)) || protectedPart(path) !== undefined) continue;
    for (const [at, step] of steps.entries()) {
      if (!PARTS.test(step)) continue;
      const folder = steps.slice(0, at).join("/");
      added.set(folder, (added.get(folder) ?? new Set()).add(step));
    }
  }
  for (const [folder, names] of added) {
    const there = await readdir(join(base, folder)).catch(() => []);
    if (gitDirectoryParts([...there, ...names]).size > 0) return folder === "" ? "." : folder;
  }
  return undefined;
}
