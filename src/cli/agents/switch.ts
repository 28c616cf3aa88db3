import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { CrewError } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { readConfig } from "../../formats/config.ts";
import { writeAtomic } from "../../runtime/disk/write-atomic.ts";
import { CONFIG_FILE } from "../../runtime/settings/load-config.ts";
import type { Flags } from "../base/flags.ts";
import { crewFor } from "../launch/start.ts";
import { withSetting } from "./edit-config.ts";
import { findDefinition } from "./find.ts";

/** `subcrew agents enable AGENT` */
export const enable = (words: readonly string[], flags: Flags): Promise<number> => turn(words, flags, true);

/** `subcrew agents disable AGENT` */
export const disable = (words: readonly string[], flags: Flags): Promise<number> => turn(words, flags, false);

async function turn([word = ""]: readonly string[], flags: Flags, on: boolean): Promise<number> {
  const { found } = findDefinition(await (await crewFor(flags)).agents(), word);
  const { name } = found;
  const home = process.env["SUBCREW_HOME"] ?? join(process.env["HOME"] ?? homedir(), ".subcrew");
  const file = join(home, CONFIG_FILE);
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const before = readConfig(text);
  if ("faults" in before)
    throw new CrewError("BAD_CONFIG", `${file} cannot be changed before it is correct.`, before.faults[0]?.hint ?? "");
  const listed = before.config.disabled?.includes(name) ?? false;
  const needed = on ? listed || found.read.disabled === true : true;
  const after = withSetting(text, ["agents", name, "enabled"], needed ? on : undefined);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if (after !== text) await writeAtomic(file, after);
  const state = on ? "on" : "off";
  process.stdout.write(
    flags.json ? `${jsonText({ name, enabled: on, file })}\n` : `${name} is switched ${state} in ${file}\n`,
  );
  return 0;
}
