import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SourceScope } from "../../core/agent/source-scope.ts";
import { type PluginRoot, pluginRoots } from "./plugins.ts";
import type { Order, Preset, Row } from "./sources.ts";

/** A folder or file that exists and may contain agents. */
export type SourceFolder = Readonly<{
  family: string;
  dialect: string;
  scope: "project" | "user" | "plugin";
  path: string;
  deep?: true;
  folders?: string;
  /** The root of the project whose trust applies; absent for places of plugins and of the user. */
  root?: string;
  plugin?: PluginRoot;
}>;

export type PlacesOptions = Readonly<{ cwd: string; home: string; preset: Preset; order: Order; scope: SourceScope }>;

/** The existing places of agents, in order of precedence. */
export function findPlaces({ cwd, home, preset, order, scope }: PlacesOptions): readonly SourceFolder[] {
  const ancestors = scope === "user" ? [] : ancestorsOf(cwd, home);
  const project: SourceFolder[][] = preset.families.map((rows) => rows.flatMap((row) => projectPlaces(row, ancestors)));
  const has = seer(home);
  const user: SourceFolder[][] =
    scope === "project" ? [] : preset.families.map((rows) => rows.flatMap((row) => userPlaces(row, home, has)));
  const inFamilies =
    order === "scope-first"
      ? [...project.flat(), ...user.flat()]
      : preset.families.flatMap((_, index) => [...project[index]!, ...(user[index] ?? [])]);
  return preset.plugins ? [...inFamilies, ...pluginPlaces({ cwd, home, preset, scope })] : inFamilies;
}

/** The nearest directory with agents of one program, in `cwd` or above it, or `undefined`. */
export function nearestPlace(cwd: string, relative: string, home?: string): string | undefined {
  for (const { dir } of ancestorsOf(cwd, home)) if (existsSync(join(dir, relative))) return join(dir, relative);
  return undefined;
}

/** The nearest file of that name in the project that contains `cwd`, and the project whose trust applies to it. */
export function nearestInProject(
  cwd: string,
  relative: string,
  home: string,
): { readonly path: string; readonly root: string } | undefined {
  const near = ancestorsOf(cwd, home).find(({ has }) => has(relative));
  return near && { path: join(near.dir, relative), root: canonical(near.root) };
}

/** The root of the project that `cwd` is in: its repository, or the folder itself. */
export function projectRoot(cwd: string, home: string): string {
  return ancestorsOf(cwd, home)[0]?.root ?? cwd;
}

type Ancestor = { readonly dir: string; readonly root: string; readonly has: (relative: string) => boolean };

/**
 * The folders from `cwd` up to the root of its repository, or up to the top without a repository. The home directory
 * and the folders above it do not belong to a project.
 */
export function ancestorsOf(cwd: string, home: string | undefined): readonly Ancestor[] {
  const dirs: string[] = [];
  let repository: string | undefined;
  for (let dir = cwd; dir !== home; dir = dirname(dir)) {
    dirs.push(dir);
    if (existsSync(join(dir, ".git"))) repository = dir;
    if (repository !== undefined || dirname(dir) === dir) break;
  }
  return dirs.map((dir) => ({ dir, root: repository ?? dir, has: seer(dir) }));
}

/**
 * Returns a function that tells whether a path exists below `dir`. If the first folder of the path is missing, the rest
 * is not looked up.
 */
function seer(dir: string): (relative: string) => boolean {
  const first = new Map<string, boolean>();
  return (relative) => {
    const name = relative.slice(0, (relative.indexOf("/") + 1 || relative.length + 1) - 1);
    let there = first.get(name);
    if (there === undefined) {
      there = existsSync(join(dir, name));
      first.set(name, there);
    }
    return there && (name === relative || existsSync(join(dir, relative)));
  };
}

function projectPlaces(row: Row, ancestors: readonly Ancestor[]): SourceFolder[] {
  for (const { dir, root, has } of ancestors) {
    const there = row.project.filter(has);
    if (there.length > 0)
      return there.map((path) => ({ ...placeOf(row, join(dir, path), "project"), root: canonical(root) }));
  }
  return [];
}

function userPlaces(row: Row, home: string, has: Ancestor["has"]): SourceFolder[] {
  return row.user.filter(has).map((path) => placeOf(row, join(home, path), "user"));
}

function pluginPlaces({ cwd, home, preset, scope }: Omit<PlacesOptions, "order">): SourceFolder[] {
  const row = preset.families.flat().find(({ family }) => family === "claude");
  return pluginRoots(home, cwd, row?.inPlugins)
    .filter((plugin) => scope === "both" || plugin.scope === scope)
    .flatMap((plugin) =>
      plugin.places.map(
        (path) =>
          ({
            family: "claude",
            dialect: row?.dialect ?? "claude",
            scope: "plugin",
            path,
            deep: true,
            plugin,
            ...(row?.folders === undefined ? {} : { folders: row.folders }),
          }) as const,
      ),
    );
}

const placeOf = (row: Row, path: string, scope: "project" | "user"): SourceFolder => ({
  family: row.family,
  dialect: row.dialect,
  scope,
  path,
  ...(row.deep ? { deep: true } : {}),
  ...(row.folders === undefined ? {} : { folders: row.folders }),
});

function canonical(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
