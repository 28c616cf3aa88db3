import { readRegularTextSync } from "../../runtime/disk/regular-file.ts";
import { showHidden } from "../../core/agent/hidden-characters.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { agentFiles } from "../../embedded.ts";
import { ownWriter } from "../../formats/write/own.ts";
import type { FoundAgent } from "../../runtime/discovery/discover.ts";
import type { Flags } from "../base/flags.ts";
import { crewFor } from "../launch/start.ts";
import { type Definition, findDefinition, stateText } from "../../runtime/discovery/find-definition.ts";
import { sourceText } from "./list.ts";

/** The command `subcrew agents show AGENT`. */
export async function show([name = ""]: readonly string[], flags: Flags): Promise<number> {
  const crew = await crewFor(flags);
  const definition = findDefinition(await crew.agents(), name);
  if (flags.json) process.stdout.write(`${jsonText(crew.masked(dataOf(definition)), 2)}\n`);
  else {
    const { found } = definition;
    const about = [`${found.name} (${sourceText(found.agent.source)})`, found.file, stateText(definition)];
    process.stderr.write(`${sanitize(about.filter((line) => line !== undefined).join("\n"))}\n\n`);
    process.stdout.write(showHidden(crew.masked(flags.raw ? rawText(found) : definitionText(found))));
  }
  return 0;
}

function dataOf({ found, state }: Definition): unknown {
  const { agent, file, real, trusted, read, problems } = found;
  return { ...agent, state, trusted, ...(file && { file }), ...(real && { real }), kept: read.kept, problems };
}

/** The definition as it would run, written as an agent file of subcrew. */
const definitionText = ({ agent, read }: FoundAgent): string => ownWriter.write({ ...read, agent }, {});

/** The text of the agent's file. Bundled agents have their text in the program. */
export function rawText(found: FoundAgent): string {
  if (found.file !== undefined) return readRegularTextSync(found.file);
  const { kind, family } = found.agent.source ?? {};
  const name = family === undefined ? found.name : `${family}/${found.name}`;
  return (kind === "bundled" ? agentFiles[name] : undefined) ?? definitionText(found);
}
