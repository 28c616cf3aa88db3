import { readRegularTextSync } from "../disk/regular-file.ts";
import { existsSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { isRecord, parseJson } from "../../core/text/json.ts";
import { type Problem, problem } from "../../core/vocabulary/file-problem.ts";
import { folderContains } from "../files/folder-contains.ts";

/** A plugin that Claude Code installed, and the paths in it that contain agents. */
export type PluginRoot = Readonly<{
  name: string;
  scope: "user" | "project";
  path: string;
  places: readonly string[];
  /** True: `enabledPlugins` in Claude Code's settings disables the plugin. */
  disabled?: true;
}>;

const REGISTRY = ".claude/plugins/installed_plugins.json";

/**
 * The installed plugins that have agents (or the content that `folder` names), first the plugins of the project, then
 * the plugins of the user.
 */
export function pluginRoots(home: string, cwd: string, folder = "agents"): readonly PluginRoot[] {
  const entries = parsePluginRegistry(readJson(join(home, REGISTRY)));
  if (!entries || entries.length === 0) return []; // without entries, the settings in the folders above are not read
  const off = disabledPlugins(home, cwd);
  const roots = entries
    .filter(({ projectPath }) => projectPath === undefined || folderContains(projectPath, cwd))
    .map(({ id, scope, installPath }) => ({
      name: id.split("@")[0]!,
      scope,
      path: installPath,
      places: placesIn(installPath, folder),
      ...(off.has(id) && { disabled: true as const }),
    }))
    .filter(({ places }) => places.length > 0);
  return [...roots.filter(({ scope }) => scope === "project"), ...roots.filter(({ scope }) => scope === "user")];
}

/** Problems of the plugin registry: broken JSON, entries without a path, ids that are not `name@marketplace`. */
export function pluginProblems(home: string): readonly Problem[] {
  const file = join(home, REGISTRY);
  if (!existsSync(file)) return [];
  const content = readJson(file);
  if (parsePluginRegistry(content) === null)
    return [
      problem("bad-registry", "The list of installed Claude Code plugins cannot be read, so all of them are ignored.", {
        file,
        hint: "Install a plugin again in Claude Code, or delete the file.",
      }),
    ];
  const plugins = (content as { plugins: Readonly<Record<string, unknown>> }).plugins;
  return Object.entries(plugins).flatMap(([id, entries]) => [
    ...(PLUGIN_ID.test(id)
      ? []
      : [
          problem("bad-registry", `The plugin id "${id}" is not of the form name@marketplace, so it is ignored.`, {
            file,
            field: id,
          }),
        ]),
    ...(Array.isArray(entries) ? entries : [entries]).flatMap((entry) =>
      pluginEntry(id, entry) === undefined
        ? [
            problem("bad-registry", `The plugin "${id}" has no absolute "installPath", so it is ignored.`, {
              file,
              field: id,
            }),
          ]
        : [],
    ),
  ]);
}

const PLUGIN_ID = /^[\w.-]+@[\w./-]+$/;

/**
 * The plugins that settings of Claude Code disable. In a project the nearest settings count, and those of one person
 * (`settings.local.json`) before those of all. Settings of a project never enable a plugin that the user's settings
 * disable.
 */
function disabledPlugins(home: string, cwd: string): ReadonlySet<string> {
  const files = foldersUp(cwd)
    .toReversed()
    .flatMap((folder) => ["settings.json", "settings.local.json"].map((name) => join(folder, ".claude", name)));
  const inProject = new Map(files.flatMap(switchedPlugins));
  const ofUser = switchedPlugins(join(home, ".claude", "settings.json"));
  return new Set([...inProject, ...ofUser].flatMap(([id, isOn]) => (isOn ? [] : [id])));
}

/** The plugins that one file of settings enables or disables. */
function switchedPlugins(file: string): [id: string, isOn: boolean][] {
  const settings = readJson(file);
  const enabled = isRecord(settings) ? settings["enabledPlugins"] : undefined;
  if (!isRecord(enabled)) return [];
  return Object.entries(enabled).flatMap(([id, isOn]) => (typeof isOn === "boolean" ? [[id, isOn]] : []));
}

/** A folder and all folders above it. */
function foldersUp(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersUp(above)];
}

export type PluginEntry = Readonly<{
  id: string;
  scope: "user" | "project";
  installPath: string;
  projectPath?: string;
}>;

/** The entries of Claude Code's plugin registry; `null` when the content is not a registry. */
export function parsePluginRegistry(content: unknown): readonly PluginEntry[] | null {
  if (!isRecord(content) || typeof content["version"] !== "number" || !isRecord(content["plugins"])) return null;
  return Object.entries(content["plugins"]).flatMap(([id, entries]) =>
    PLUGIN_ID.test(id)
      ? (Array.isArray(entries) ? entries : [entries])
          .map((entry) => pluginEntry(id, entry))
          .filter((entry) => entry !== undefined)
      : [],
  );
}

/** Parses one entry of the plugin registry; without a scope, the plugin belongs to the user. */
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

/**
 * The default folder, such as `agents/`, and the paths that the plugin's manifest names; paths outside of the plugin
 * are left out.
 */
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
  if (!existsSync(file)) return undefined; // the file is usually missing, and an exception costs more than this check
  try {
    return parseJson(readRegularTextSync(file));
  } catch {
    return undefined; // the registry is missing or broken, so there are no plugins
  }
}
