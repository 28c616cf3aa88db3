import { type Config, type ConfigPath, config } from "../core/config/config.ts";
import { faultsOf } from "../core/schema/parse.ts";
import { readYaml } from "./yaml/yaml.ts";
import { yamlLineAt } from "./yaml/yaml-place.ts";

/** One thing that is wrong with a configuration. */
export type ConfigFault = Readonly<{ message: string; hint: string; line?: number }>;

/** What a configuration file says, and in which line; or everything that is wrong with it. */
export type ConfigReading =
  | Readonly<{ config: Config; lineOf(path: ConfigPath): number | undefined }>
  | Readonly<{ faults: readonly ConfigFault[] }>;

/** Reads a configuration in YAML. An empty file says nothing, and that is fine. */
export function readConfig(source: string): ConfigReading {
  const text = source.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  const read = readYaml(text);
  if (!read.ok) {
    const line = read.line === undefined ? {} : { line: read.line };
    return { faults: [{ message: `The YAML cannot be read: ${read.reason}.`, hint: "Correct the syntax.", ...line }] };
  }
  const value = read.value ?? {};
  const faults = faultsOf(config, value, "configuration");
  if (faults.length === 0) return { config: config.parse(value), lineOf: (path) => yamlLineAt(text, path) };
  return { faults: faults.map(({ path, message, hint }) => located({ message, hint }, yamlLineAt(text, path))) };
}

const located = (fault: ConfigFault, line: number | undefined): ConfigFault =>
  line === undefined ? fault : { ...fault, line };
