import { jsonText } from "../../core/text/json-text.ts";
import { readConfigFile, userConfigFile, writeSettings } from "../base/config-file.ts";
import type { Flags } from "../base/flags.ts";
import { crewFor } from "../launch/start.ts";
import { findDefinition } from "../../runtime/discovery/find-definition.ts";
import { terminalLine } from "../../core/view/words.ts";

/** The command `subcrew agents enable AGENT`. */
export const enable = (words: readonly string[], flags: Flags): Promise<number> => turn(words, flags, true);

/** The command `subcrew agents disable AGENT`. */
export const disable = (words: readonly string[], flags: Flags): Promise<number> => turn(words, flags, false);

async function turn([word = ""]: readonly string[], flags: Flags, on: boolean): Promise<number> {
  const { found } = findDefinition(await (await crewFor(flags)).agents(), word);
  const { name } = found;
  const before = readConfigFile(userConfigFile());
  const { file } = before;
  const listed = before.config.disabled?.includes(name) ?? false;
  const needed = on ? listed || found.read.disabled === true : true;
  await writeSettings(before, [[["agents", name, "enabled"], needed ? on : undefined]]);
  const state = on ? "enabled" : "disabled";
  process.stdout.write(
    flags.json ? `${jsonText({ name, enabled: on, file })}\n` : `${name} is ${state} in ${terminalLine(file)}\n`,
  );
  return 0;
}
