import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { maskSecrets } from "../../core/config/mask-secrets.ts";
import { configVariables } from "../../core/config/variables.ts";
import { CrewError } from "../../core/schema/error.ts";
import { terminalLine } from "../../core/view/words.ts";
import { readConfig } from "../../formats/config.ts";
import { readRegularTextSync } from "../../runtime/disk/regular-file.ts";
import { writeAtomic } from "../../runtime/disk/write-atomic.ts";
import {
  type ConfigFileText,
  projectConfigFile,
  readConfigFile,
  userConfigFile,
  writeSettings,
} from "../base/config-file.ts";
import type { Flags } from "../base/flags.ts";
import { crewFor } from "../launch/start.ts";
import { knownPath, valueFor, valueText } from "./setting-key.ts";

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

const fileFor = (flags: Flags): ConfigFileText => readConfigFile(targetFile(flags));
const targetFile = (flags: Flags): string => (flags.project ? projectConfigFile(flags.cwd) : userConfigFile());

/** Warns when an environment variable overrides the setting that was just written. `value`: without secrets. */
async function tellIfOverruled(key: string, value: unknown): Promise<void> {
  const { origins } = (await crewFor({ quiet: true })).settings;
  if (origins.get(key) !== "environment") return;
  const variable = configVariables().find(({ path }) => path.join(".") === key);
  process.stderr.write(
    `warn    ${variable?.name ?? "A variable"} is set and takes precedence over ${terminalLine(valueText(value))}.\n`,
  );
}
