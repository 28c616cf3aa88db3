import { CONFIG_VERSION, type Config, type ConfigPath, config } from "../core/config/config.ts";
import { isRecord } from "../core/text/json.ts";
import { faultsOf } from "../core/schema/parse.ts";
import { readYaml } from "./yaml/yaml.ts";
import { yamlLineAt } from "./yaml/yaml-place.ts";

/** One mistake in a configuration file. */
export type ConfigFault = Readonly<{ message: string; hint: string; line?: number }>;

/** The settings of a configuration file with their lines, or all mistakes in it. */
export type ConfigReading =
  | Readonly<{ config: Config; lineOf(path: ConfigPath): number | undefined }>
  | Readonly<{ faults: readonly ConfigFault[] }>;

/** Reads a configuration in YAML. An empty file is valid and sets nothing. */
export function readConfig(source: string): ConfigReading {
  const text = source.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  const read = readYaml(text);
  if (!read.ok) {
    const line = read.line === undefined ? {} : { line: read.line };
    return {
      faults: [
        { message: `The settings file is not valid YAML: ${read.reason}.`, hint: "Correct the syntax.", ...line },
      ],
    };
  }
  // The version belongs to the file and is not a setting.
  const { version = CONFIG_VERSION, ...value } = isRecord(read.value) ? read.value : {};
  const unread = versionFault(version);
  if (unread) return { faults: [located(unread, yamlLineAt(text, ["version"]))] };
  const faults = faultsOf(config, isRecord(read.value) ? value : (read.value ?? {}), "configuration");
  if (faults.length === 0) return { config: config.parse(value), lineOf: (path) => yamlLineAt(text, path) };
  return { faults: faults.map(({ path, message, hint }) => located({ message, hint }, yamlLineAt(text, path))) };
}

function versionFault(version: unknown): ConfigFault | undefined {
  if (version === CONFIG_VERSION) return undefined;
  const isNewer = typeof version === "number" && version > CONFIG_VERSION;
  return isNewer
    ? {
        message: `The settings were written for a newer version of subcrew (version ${version}, this version reads ${CONFIG_VERSION}).`,
        hint: "Update subcrew, then try again.",
      }
    : {
        message: `"version" must be ${CONFIG_VERSION}.`,
        hint: `Write \`version: ${CONFIG_VERSION}\`, or leave out \`version\`.`,
      };
}

const located = (fault: ConfigFault, line: number | undefined): ConfigFault =>
  line === undefined ? fault : { ...fault, line };
