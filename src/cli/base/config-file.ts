import { existsSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readRegularTextSync } from "../../runtime/disk/regular-file.ts";
import { CrewError } from "../../core/schema/error.ts";
import type { Config, ConfigPath } from "../../core/config/config.ts";
import { readConfig } from "../../formats/config.ts";
import { writeAtomic } from "../../runtime/disk/write-atomic.ts";
import { projectRoot } from "../../runtime/discovery/places.ts";
import { CONFIG_FILE, PROJECT_CONFIG } from "../../runtime/settings/load-config.ts";
import { withSetting } from "./edit-yaml.ts";
import { homes } from "./home.ts";

/** The text of a settings file and the settings parsed from it. */
export type ConfigFileText = Readonly<{ file: string; text: string; config: Config }>;

/** The user's own settings file. */
export const userConfigFile = (): string => join(homes().state, CONFIG_FILE);

/** The settings file of the project of a folder. */
export function projectConfigFile(cwd = "."): string {
  const from = resolve(cwd);
  return join(projectRoot(from, homes().home) ?? from, PROJECT_CONFIG);
}

/** Reads a settings file before a change. A broken file is an error, so that a change never hides the fault. */
export function readConfigFile(file: string): ConfigFileText {
  const text = existsSync(file) ? readRegularTextSync(file) : "";
  const read = readConfig(text);
  if ("config" in read) return { file, text, config: read.config };
  const [fault] = read.faults;
  const where = fault?.line === undefined ? file : `${file}:${fault.line}`;
  throw new CrewError(
    "BAD_CONFIG",
    `${where}: ${fault?.message ?? "The file cannot be read."}`,
    `Correct the file first, for example with \`subcrew config edit\`. ${fault?.hint ?? ""}`.trim(),
  );
}

/** Writes settings to a file and keeps the comments in the file. `undefined` removes a setting. */
export async function writeSettings(
  { file, text }: ConfigFileText,
  changes: readonly (readonly [path: ConfigPath, value: unknown])[],
): Promise<void> {
  const after = changes.reduce((now, [path, value]) => withSetting(now, path, value), text);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if (after !== text) await writeAtomic(file, after);
}
