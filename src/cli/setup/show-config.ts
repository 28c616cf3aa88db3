import { existsSync } from "node:fs";
import { config as schema } from "../../core/config/config.ts";
import { leavesOf } from "../../core/config/layers.ts";
import { maskSecrets } from "../../core/config/mask-secrets.ts";
import { configVariables } from "../../core/config/variables.ts";
import { descriptionAt } from "../../core/schema/schema-place.ts";
import { isRecord } from "../../core/text/json.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { terminalLine } from "../../core/view/words.ts";
import { projectConfigFile, userConfigFile } from "../base/config-file.ts";
import type { Flags } from "../base/flags.ts";
import { homes } from "../base/home.ts";
import { table } from "../base/table.ts";
import { stdoutLook } from "../base/terminal.ts";
import { crewFor } from "../launch/start.ts";
import { knownPath, valueText } from "./setting-key.ts";

/** The command `subcrew config list`. */
export async function listSettings(_: readonly string[], flags: Flags): Promise<number> {
  const { config, origins, placeOf } = (await crewFor({ quiet: true })).settings;
  const rows = leavesOf(config).map(([path, value]) => {
    const key = path.join(".");
    const place = placeOf(key);
    const from = place === undefined ? (origins.get(key) ?? "default") : `${place.file}:${place.line ?? 1}`;
    return {
      key,
      value: maskSecrets(value, path),
      from: origins.get(key) === "environment" ? "variable" : from,
    };
  });
  const unset = flags.all ? unsetKeys(new Set(rows.map(({ key }) => key))) : [];
  if (flags.json) process.stdout.write(`${jsonText([...rows, ...unset], 2)}\n`);
  else if (rows.length + unset.length === 0)
    process.stderr.write(`Nothing is set. \`subcrew config list --all\` shows what can be set.\n`);
  else {
    const look = stdoutLook(flags);
    const shown = rows.map(({ key, value, from }) => ({ key, value: valueText(value), from }));
    const others = unset.map(({ key, meaning }) => ({ key, value: "(not set)", from: meaning }));
    process.stdout.write(table([...shown, ...others], look, { key: 40, value: 40 }));
  }
  return 0;
}

/** The command `subcrew config get KEY`. */
export async function getSetting([key = ""]: readonly string[], flags: Flags): Promise<number> {
  const path = knownPath(key);
  const { config } = (await crewFor({ quiet: true })).settings;
  const value = path.reduce<unknown>((at, step) => (isRecord(at) ? at[step] : undefined), config);
  if (value === undefined) {
    if (flags.json) process.stdout.write("null\n");
    else process.stderr.write(`${key} is not set: ${descriptionAt(schema, path) || "the default applies"}.\n`);
    return 1;
  }
  const shown = typeof value === "string" ? value : maskSecrets(value, path); // one value that is named is not masked
  process.stdout.write(`${flags.json || typeof shown !== "string" ? jsonText(shown, 2) : sanitize(shown)}\n`);
  return 0;
}

/** The command `subcrew config path`. */
export async function printPaths(_: readonly string[], flags: Flags): Promise<number> {
  const paths = { user: userConfigFile(), project: projectConfigFile(flags.cwd), state: homes().state };
  const lines = Object.entries(paths).map(
    ([name, path]) => `${name.padEnd(8)} ${terminalLine(path)}${existsSync(path) ? "" : "  (does not exist yet)"}`,
  );
  process.stdout.write(flags.json ? `${jsonText(paths, 2)}\n` : `${lines.join("\n")}\n`);
  return 0;
}

function unsetKeys(set: ReadonlySet<string>): { key: string; meaning: string }[] {
  return configVariables()
    .map(({ path }) => ({ key: path.join("."), meaning: descriptionAt(schema, path) }))
    .filter(({ key }) => !set.has(key));
}
