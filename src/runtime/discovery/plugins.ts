import { existsSync, readFileSync, realpathSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { isRecord } from "../../core/text/json.ts";
import { folderContains } from "../files/folder-contains.ts";

/** A plugin that Claude Code installed, and where in it agents lie. */
export type PluginRoot = Readonly<{ name: string; scope: "user" | "project"; path: string; places: readonly string[] }>;

const REGISTRY = ".claude/plugins/installed_plugins.json";

/** The installed plugins that hold agents, or something else, those of the project before those of the user. */
export function pluginRoots(home: string, cwd: string, folder = "agents"): readonly PluginRoot[] {
  const entries = parsePluginRegistry(readJson(join(home, REGISTRY)));
  const roots = (entries ?? [])
    .filter(({ projectPath }) => projectPath === undefined || folderContains(projectPath, cwd))
    .map(({ id, scope, installPath }) => ({
      name: id.split("@")[0]!,
      scope,
      path: installPath,
      places: placesIn(installPath, folder),
    }))
    .filter(({ places }) => places.length > 0);
  return [...roots.filter(({ scope }) => scope === "project"), ...roots.filter(({ scope }) => scope === "user")];
}

export type PluginEntry = Readonly<{
  id: string;
  scope: "user" | "project";
  installPath: string;
  projectPath?: string;
}>;

/** The entries of the registry, each of them kept; `null` when it is not a registry. */
export function parsePluginRegistry(content: unknown): readonly PluginEntry[] | null {
  if (!isRecord(content) || typeof content["version"] !== "number" || !isRecord(content["plugins"])) return null;
  return Object.entries(content["plugins"]).flatMap(([id, entries]) =>
    (Array.isArray(entries) ? entries : [entries])
      .map((entry) => pluginEntry(id, entry))
      .filter((entry) => entry !== undefined),
  );
}

/** One entry; nobody is asked for its scope, so it is the user's when it does not say. */
export function pluginEntry(id: string, entry: unknown): PluginEntry | undefined {
  if (!isRecord(entry) || typeof entry["installPath"] !== "string" || !isAbsolute(entry["installPath"]))
    return undefined;
  const { installPath, projectPath } = entry;
  return {
    id,
    scope: entry["scope"] === "project" || entry["scope"] === "local" ? "project" : "user",
    installPath,
    ...(typeof projectPath === "string" ? { projectPath } : {}),
  };
}

/** The folder, `agents/` say, and what the manifest names besides; nothing outside of the plugin. */
function placesIn(root: string, folder: string): string[] {
  const manifest = readJson(join(root, ".claude-plugin", "plugin.json"));
  const named = isRecord(manifest) ? [manifest[folder]].flat().filter((path) => typeof path === "string") : [];
  const places = [folder, ...named]
    .map((path) => join(root, path))
    .filter((path) => existsSync(path) && staysInside(path, root));
  return [...new Set(places)];
}

function staysInside(path: string, root: string): boolean {
  try {
    return folderContains(realpathSync.native(root), realpathSync.native(path));
  } catch {
    return false;
  }
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined; // missing or broken: there are no plugins
  }
}
