import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { hiddenCharacters } from "../../core/agent/hidden-characters.ts";
import { type Config, type ConfigPath, config as schema } from "../../core/config/config.ts";
import { type ConfigLayer, type SettledConfig, settleConfig } from "../../core/config/layers.ts";
import { configFromVariables } from "../../core/config/variables.ts";
import { CrewError, messageOf } from "../../core/schema/error.ts";
import { faultsOf } from "../../core/schema/parse.ts";
import { hashTexts } from "../discovery/files.ts";
import type { Trust } from "../discovery/distrust.ts";
import { openText } from "../discovery/open.ts";
import { nearestInProject } from "../discovery/places.ts";
import { folderContains } from "../files/folder-contains.ts";

/** The name of the user's settings file, below the state folder. */
export const CONFIG_FILE = "config.yaml";
/** The settings file of a project. */
export const PROJECT_CONFIG = ".subcrew/config.yaml";

/** Parses a settings file to values with their lines, or to a problem; the caller supplies this function. */
export type ConfigReader = (
  text: string,
) =>
  | Readonly<{ config: Config; lineOf(path: ConfigPath): number | undefined }>
  | Readonly<{ faults: readonly Readonly<{ message: string; hint: string; line?: number }>[] }>;

export type LoadConfigOptions = Readonly<{
  cwd: string;
  /** The user's home folder, which is never a project. */
  home: string;
  /** Subcrew's state folder. */
  state: string;
  env: Readonly<Record<string, string | undefined>>;
  trust: Trust;
  read: ConfigReader;
}>;

/** The effective settings, with the files they come from. */
export type LoadedConfig = SettledConfig &
  Readonly<{
    files: readonly ConfigFile[];
    /** The file and line where a value was set. */
    placeOf: (key: string) => Readonly<{ file: string; line?: number }> | undefined;
    /** Warnings for the user: a key that a project may not set, a file that is not trusted. */
    warnings: readonly string[];
  }>;

export type ConfigFile = Readonly<{ layer: ConfigLayer; file: string; trusted: boolean; hash: string; root?: string }>;

/** The settings when there are no settings files. */
export const noConfig: LoadedConfig = { ...settleConfig({}), files: [], placeOf: () => undefined, warnings: [] };

/**
 * Reads the settings of the user, a trusted project and the environment. A file that cannot be read is an error that
 * names the place; the file of an untrusted project is not read.
 */
export function loadConfig({ cwd, home, state, env, trust, read }: LoadConfigOptions): LoadedConfig {
  const user = fileAt(join(state, CONFIG_FILE), { layer: "user" });
  const near = nearestInProject(cwd, PROJECT_CONFIG, home);
  const project = near && fileAt(near.path, { layer: "project", root: near.root, trust });
  const files = [user, project].filter((file) => file !== undefined);
  const readings = new Map(files.filter(({ trusted }) => trusted).map((file) => [file.layer, reading(file, read)]));
  const environment = configFromVariables(env);
  const settled = settleConfig({
    user: readings.get("user")?.config ?? {},
    project: readings.get("project")?.config ?? {},
    environment,
  });
  const [fault] = faultsOf(schema, settled.config, "configuration");
  if (fault !== undefined) throw new CrewError("BAD_CONFIG", fault.message, fault.hint);
  const placeOf: LoadedConfig["placeOf"] = (key) => {
    const layer = settled.origins.get(key);
    const file = files.find((one) => one.layer === layer)?.file;
    if (layer === undefined || file === undefined) return undefined;
    const line = readings.get(layer)?.lineOf(stepsOf(key, settled.config));
    return { file, ...(line === undefined ? {} : { line }) };
  };
  const warnings = settled.ignored.map((path) => {
    const line = readings.get("project")?.lineOf(path);
    return `${project!.file}${line === undefined ? "" : `:${line}`}: a project cannot set "${path.join(".")}", so this setting is ignored.`;
  });
  return { ...settled, files: files.map(({ text: _text, ...file }) => file), placeOf, warnings };
}

type Opened = ConfigFile & Readonly<{ text: string }>;
type Whose = Readonly<{ layer: ConfigLayer; root?: string; trust?: Trust }>;

function fileAt(path: string, { layer, root, trust }: Whose): Opened | undefined {
  if (!existsSync(path)) return undefined;
  if (root === undefined) return { layer, file: path, ...textAt(path), trusted: true };
  if (trust?.project(root) !== true) return { layer, file: path, text: "", hash: "", trusted: false, root };
  const real = realpathSync.native(path);
  if (!folderContains(realpathSync.native(root), real) && trust.isClosed?.(real) === true)
    throw new CrewError("BAD_CONFIG", `${path} leads to a file that may not be read.`, "Delete the link.");
  const { text, hash } = textAt(path);
  const hidden = hiddenCharacters(text) !== undefined;
  const trusted = trust.file?.({ root, path: real, hash, hidden }) ?? !hidden;
  return { layer, file: path, text, hash, trusted, root };
}

function textAt(path: string): Readonly<{ text: string; hash: string }> {
  try {
    const opened = openText(path);
    if ("text" in opened) return { text: opened.text, hash: hashTexts([opened.text]) };
    throw new CrewError("BAD_CONFIG", `${path}: ${opened.problem.message}`, "Correct the file, or delete it.");
  } catch (error) {
    if (error instanceof CrewError) throw error;
    throw new CrewError(
      "BAD_CONFIG",
      `${path} cannot be read: ${messageOf(error)}`,
      "Correct its permissions, or delete the file.",
    );
  }
}

type Read = Extract<ReturnType<ConfigReader>, { config: Config }>;

function reading({ file, text }: Opened, read: ConfigReader): Read {
  const result = read(text);
  if ("config" in result) return result;
  const [first, ...more] = result.faults;
  const lines = result.faults.map(({ line, message }) => `${file}${line === undefined ? "" : `:${line}`}: ${message}`);
  const hint = more.length === 0 ? (first?.hint ?? "") : "Correct these settings; docs/config.md lists every key.";
  throw new CrewError("BAD_CONFIG", lines.join("\n"), hint);
}

/** The parts of a settings key. The names of agents and of events in it may contain dots. */
function stepsOf(key: string, { agents = {} }: Config): ConfigPath {
  if (key.startsWith("on.")) return ["on", key.slice("on.".length)];
  const name = Object.keys(agents).find((one) => key.startsWith(`agents.${one}.`));
  if (name === undefined) return key.split(".");
  return ["agents", name, ...key.slice(`agents.${name}.`.length).split(".")];
}
