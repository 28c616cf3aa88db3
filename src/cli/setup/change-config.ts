import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { readRegularTextSync } from "../../runtime/disk/regular-file.ts";
import { type ConfigPath, config as schema } from "../../core/config/config.ts";
import { fromLeaves, leavesOf } from "../../core/config/layers.ts";
import { maskSecrets } from "../../core/config/mask-secrets.ts";
import { configVariables } from "../../core/config/variables.ts";
import { CrewError } from "../../core/schema/error.ts";
import { faultsOf } from "../../core/schema/parse.ts";
import { descriptionAt, keysAt } from "../../core/schema/schema-place.ts";
import { isRecord } from "../../core/text/json.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { nearest } from "../../core/text/nearest.ts";
import { readConfig } from "../../formats/config.ts";
import { readYaml } from "../../formats/yaml/yaml.ts";
import { projectRoot } from "../../runtime/discovery/places.ts";
import { writeAtomic } from "../../runtime/disk/write-atomic.ts";
import { PROJECT_CONFIG } from "../../runtime/settings/load-config.ts";
import { type ConfigFileText, readConfigFile, userConfigFile, writeSettings } from "../base/config-file.ts";
import type { Flags } from "../base/flags.ts";
import { homes } from "../base/home.ts";
import { table } from "../base/table.ts";
import { stdoutLook } from "../base/terminal.ts";
import { crewFor } from "../launch/start.ts";
import { terminalLine } from "../../core/view/words.ts";
import { sanitize } from "../../core/text/sanitize.ts";

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

/** The command `subcrew config set KEY VALUE`. */
export async function setSetting([key = "", ...words]: readonly string[], flags: Flags): Promise<number> {
  const path = knownPath(key);
  const value = valueFor(path, words.join(" "));
  const before = fileFor(flags);
  await writeSettings(before, [[path, value]]);
  process.stdout.write(
    `${key} = ${terminalLine(valueText(maskSecrets(value, path)))}  (${terminalLine(before.file)})\n`,
  );
  await tellIfOverruled(key, maskSecrets(value, path));
  return 0;
}

/** The command `subcrew config unset KEY`. */
export async function unsetSetting([key = ""]: readonly string[], flags: Flags): Promise<number> {
  const before = fileFor(flags);
  await writeSettings(before, [[knownPath(key), undefined]]);
  process.stdout.write(`${key} is no longer set in ${terminalLine(before.file)}\n`);
  return 0;
}

/** The command `subcrew config path`. */
export async function printPaths(_: readonly string[], flags: Flags): Promise<number> {
  const paths = { user: userConfigFile(), project: projectFile(flags), state: homes().state };
  const lines = Object.entries(paths).map(
    ([name, path]) => `${name.padEnd(8)} ${terminalLine(path)}${existsSync(path) ? "" : "  (does not exist yet)"}`,
  );
  process.stdout.write(flags.json ? `${jsonText(paths, 2)}\n` : `${lines.join("\n")}\n`);
  return 0;
}

/**
 * `subcrew config edit`: opens the file in an editor and replaces it only by a valid text. An invalid draft is kept,
 * and its path is printed.
 */
export async function editSettings(_: readonly string[], flags: Flags): Promise<number> {
  const file = targetFile(flags);
  const text = existsSync(file)
    ? readRegularTextSync(file)
    : "# Settings of subcrew. docs/config.md lists every key.\n";
  const folder = mkdtempSync(join(tmpdir(), "subcrew-config-"));
  const draft = join(folder, "config.yaml");
  writeFileSync(draft, text, { mode: 0o600 });
  const editor = process.env["VISUAL"] || process.env["EDITOR"] || "vi";
  const ran = spawnSync("/bin/sh", ["-c", `${editor} "$1"`, "sh", draft], { stdio: "inherit" });
  if (ran.status !== 0)
    throw new CrewError(
      "BAD_INPUT",
      `The editor "${editor}" failed, so nothing was changed.`,
      "Set $EDITOR to an editor that works here.",
    );
  const after = readRegularTextSync(draft);
  const read = readConfig(after);
  if ("faults" in read) {
    const [fault] = read.faults;
    throw new CrewError(
      "BAD_CONFIG",
      `${fault?.line === undefined ? "" : `Line ${fault.line}: `}${fault?.message} ${file} was not changed.`,
      `Your draft is kept in ${draft}. ${fault?.hint ?? ""}`.trim(),
    );
  }
  rmSync(folder, { recursive: true });
  if (after === text && existsSync(file)) process.stdout.write("No changes.\n");
  else {
    // called without values, only to create the folder of the file
    await writeSettings({ file, text: after, config: read.config }, []);
    await writeAtomic(file, after);
    process.stdout.write(`Saved ${terminalLine(file)}\n`);
  }
  return 0;
}

const valueText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const fileFor = (flags: Flags): ConfigFileText => readConfigFile(targetFile(flags));
const targetFile = (flags: Flags): string => (flags.project ? projectFile(flags) : userConfigFile());

function projectFile({ cwd = "." }: Flags): string {
  const from = resolve(cwd);
  return join(projectRoot(from, homes().home) ?? from, PROJECT_CONFIG);
}

/** Parses a key such as `agents.explore.model`; a name that contains a dot is quoted. */
function knownPath(key: string): ConfigPath {
  const steps = Array.from(key.matchAll(/"([^"]+)"|([^."]+)/g), (match) => match[1] ?? match[2]!);
  for (const [at, step] of steps.entries()) {
    const above = steps.slice(0, at);
    const known = keysAt(schema, above);
    if (known.length === 0 || known.includes(step)) continue;
    const close = nearest(step, known);
    throw new CrewError(
      "BAD_INPUT",
      `Unknown setting "${steps.slice(0, at + 1).join(".")}".`,
      close === undefined ? `Known keys: ${known.join(", ")}.` : `Did you mean "${[...above, close].join(".")}"?`,
    );
  }
  if (steps.length > 0) return steps;
  throw new CrewError("BAD_INPUT", "No setting given.", "Give a key, as in `subcrew config get model`.");
}

/**
 * The value of a typed text: parsed as YAML, as a comma-separated list, or the text itself. The first form that the
 * schema accepts is used.
 */
function valueFor(path: ConfigPath, text: string): unknown {
  const read = readYaml(text);
  const value = read.ok ? read.value : undefined;
  const list = text.split(",").map((part) => part.trim());
  const isPlain = typeof value === "string" || value === undefined || value === null;
  const candidates = [...(isPlain ? [] : [value]), ...(list.length > 1 ? [list] : []), text, list];
  const faultOf = (value: unknown): ReturnType<typeof faultsOf>[number] | undefined =>
    faultsOf(schema, fromLeaves([[path, value]]), "settings").find(({ path: at }) =>
      path.every((step, index) => at[index] === undefined || at[index] === step),
    );
  const fits = candidates.find((value) => faultOf(value) === undefined);
  if (fits !== undefined) return fits;
  const fault = faultOf(candidates[0]);
  throw new CrewError(
    "BAD_CONFIG",
    fault?.message ?? `"${text}" is not a valid value for this setting.`,
    fault?.hint ?? "docs/config.md lists the values of each setting.",
  );
}

/** Warns when an environment variable overrides the setting that was just written. `value`: without secrets. */
async function tellIfOverruled(key: string, value: unknown): Promise<void> {
  const { origins } = (await crewFor({ quiet: true })).settings;
  if (origins.get(key) !== "environment") return;
  const variable = configVariables().find(({ path }) => path.join(".") === key);
  process.stderr.write(
    `warn    ${variable?.name ?? "A variable"} is set and takes precedence over ${terminalLine(valueText(value))}.\n`,
  );
}

function unsetKeys(set: ReadonlySet<string>): { key: string; meaning: string }[] {
  return configVariables()
    .map(({ path }) => ({ key: path.join("."), meaning: descriptionAt(schema, path) }))
    .filter(({ key }) => !set.has(key));
}
