import { existsSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { movedInto, type Worktree } from "../../core/plan/isolation.ts";
import type { Policy } from "../../core/policy/policy.ts";
import { configuredPlace } from "../../core/policy/protected-paths.ts";
import { wholeFolders } from "../../core/rules/lease.ts";
import type { GuardedRoot } from "../commands/command-record.ts";
import { folderContains } from "../files/folder-contains.ts";
import { type Root, rootOf } from "../files/open-contained.ts";
import type { AccessParts } from "./crew-access.ts";
import { homeAnchors } from "./local-places.ts";

export type TaskPlaces = Awaited<ReturnType<typeof placesFor>> & object;

/** The access of a task. Folders are fixed at the start of the run: no agent can add a folder. */
export async function placesFor(
  { cwd: workspace, settings, homes, configured }: AccessParts,
  { cwd, depth, worktree }: Readonly<{ cwd: string; depth: number; worktree?: Worktree }>,
  rootOf: RootsOfRun,
) {
  const openRoot = async (folder: string): Promise<Root> => {
    const root = await rootOf(folder);
    const moved = worktree ? movedInto(worktree, root.real) : root.real;
    return moved === root.real ? root : rootOf(moved);
  };
  const top = await openRoot(workspace);
  const own = await rootOf(cwd);
  const others = await Promise.all(
    (settings.writableRoots ?? []).map((folder) => openRoot(resolve(workspace, folder))),
  );
  if (depth > 0 && ![top, ...others].some(({ real }) => folderContains(real, own.real))) return undefined;
  const base = folderContains(top.real, own.real) ? top.real : own.real;
  const placeOf = (absolute: string): string =>
    folderContains(base, absolute) ? relative(base, absolute).split(sep).join("/") : absolute;
  // The configuration is that of the workspace, also for a task in a worktree: its changes return to the workspace.
  const origin = base === top.real ? (await rootOf(workspace)).real : base;
  const rootAt = (folder: string): Omit<GuardedRoot, "skipped"> =>
    folderContains(base, folder)
      ? {
          root: folder,
          place: placeOf(folder),
          named: placeOf(folder),
          homes: homeAnchors(base, homes),
          configured: configured.below(origin),
        }
      : {
          root: folder,
          place: "",
          named: folder,
          homes: homeAnchors(folder, homes),
          configured: configured.below(folder),
        };
  const roots = [own, ...others.filter(({ real }) => !folderContains(own.real, real))];
  return {
    roots,
    realOf: (place: string): string => resolve(base, place),
    /** The workspace, and the folders outside of it. */
    tops: [base, ...roots.map(({ real }) => real).filter((real) => !folderContains(base, real))],
    placeOf,
    rootAt,
    /**
     * The places that git's configuration names, including the configuration of repositories on the way to these
     * places.
     */
    configured: (places: readonly string[]): readonly string[] => {
      for (const place of places) if (!isAbsolute(place)) configured.learnAbove(origin, join(origin, place));
      const elsewhere = others.filter(({ real }) => !folderContains(base, real));
      return [
        ...configured.below(origin),
        ...elsewhere.flatMap(({ real }) => configured.below(real).map((inner) => configuredPlace(`${real}/${inner}`))),
      ];
    },
  };
}

/** Resolves a folder once per run, because many tasks use the same folder. */
type RootsOfRun = (folder: string) => Promise<Root>;

export function createRoots(): RootsOfRun {
  const known = new Map<string, Promise<Root>>();
  return (folder) => {
    const before = known.get(folder);
    if (before) return before;
    const root = rootOf(folder);
    known.set(folder, root);
    root.catch(() => known.delete(folder)); // the folder may be created later
    return root;
  };
}

/** The existing writable folders that are completely within every lease (the files that tasks declared to write). */
export function leasedFolders(
  { leases = [] }: Policy,
  roots: readonly Root[],
  placeOf: TaskPlaces["placeOf"],
): string[] {
  const isCovered = (folder: string): boolean =>
    leases.every((lease) => wholeFolders(lease).some((whole) => folderContains(`/${whole}`, `/${placeOf(folder)}`)));
  const wanted = leases.flatMap(wholeFolders).flatMap((whole) =>
    roots.flatMap(({ real }) => {
      const place = placeOf(real);
      if (isAbsolute(place)) return []; // the patterns of leases are relative to the workspace
      if (folderContains(`/${whole}`, `/${place}`)) return [real];
      return folderContains(`/${place}`, `/${whole}`) ? [join(real, relative(`/${place}`, `/${whole}`))] : [];
    }),
  );
  return [...new Set(wanted)].filter((folder) => isCovered(folder) && isPlainFolder(folder));
}

/** False for a symbolic link, which could lead anywhere. */
function isPlainFolder(folder: string): boolean {
  const real = existsSync(folder) && statSync(folder).isDirectory() ? realpathSync.native(folder) : undefined;
  return real === folder;
}
