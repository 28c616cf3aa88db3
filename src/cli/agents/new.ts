import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { shellWord } from "../../core/text/shell-word.ts";
import { CrewError } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { nameFault } from "../../core/vocabulary/agent-name.ts";
import type { Crew } from "../../crew/crew-type.ts";
import { convert } from "../../formats/write/convert.ts";
import { ownWriter } from "../../formats/write/own.ts";
import { projectRoot } from "../../runtime/discovery/places.ts";
import type { Flags } from "../base/flags.ts";
import { crewFor } from "../launch/start.ts";
import { findDefinition } from "../../runtime/discovery/find-definition.ts";
import { trustOwnFile } from "../trust/review-project.ts";
import { rawText } from "./show.ts";
import { terminalLine } from "../../core/view/words.ts";

/** The command `subcrew agents new NAME`. */
export async function newAgent([name = ""]: readonly string[], flags: Flags): Promise<number> {
  checkAgentName(name);
  const crew = await crewFor(flags);
  const text = flags.from === undefined ? template(name) : await variantOf(crew, flags.from, name);
  return write(crew, { name, text, flags });
}

/** Throws for an invalid agent name. */
export function checkAgentName(name: string): void {
  const fault = nameFault(name);
  if (fault === undefined) return;
  const message = fault === "bad-name" ? `"${name}" cannot be the name of an agent.` : `"${name}" is a reserved name.`;
  throw new CrewError("BAD_INPUT", message, "Use letters, digits, dashes and underscores, at most 64.");
}

/** The file of an agent below a home folder or the root of a project. */
export const fileOfAgent = (root: string, name: string): string => join(root, ownWriter.folder, ownWriter.file(name));

/** The command `subcrew agents eject AGENT`. */
export async function eject([name = ""]: readonly string[], flags: Flags): Promise<number> {
  const crew = await crewFor(flags);
  const { found } = findDefinition(await crew.agents(), name);
  const isOwn = found.agent.source?.kind === "bundled" || found.agent.source?.dialect === "own";
  const { text, losses } = isOwn ? { text: rawText(found), losses: [] } : convert(found.read, "own");
  for (const { field, kind, note } of losses) process.stderr.write(sanitize(`${kind} ${field}: ${note}\n`));
  return write(crew, { name: found.name, text, flags });
}

async function variantOf(crew: Crew, from: string, name: string): Promise<string> {
  const { found } = findDefinition(await crew.agents(), from);
  const { displayName: _shown, ...agent } = found.read.agent;
  const { aliases: _names, disabled: _off, ...read } = found.read;
  return convert({ ...read, agent: { ...agent, name } }, "own").text;
}

type Made = Readonly<{ name: string; text: string; flags: Flags }>;

/** Writes a new file; never overwrites an existing one. */
async function write(crew: Crew, { name, text, flags }: Made): Promise<number> {
  const home = process.env["HOME"] ?? homedir();
  const root = flags.user ? home : projectRoot(crew.cwd, home);
  const file = fileOfAgent(root, name);
  if (existsSync(file))
    throw new CrewError("BAD_FILE", `"${file}" already exists.`, "Edit the file, or choose another name.");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { flag: "wx" });
  process.stdout.write(flags.json ? `${jsonText({ name, file: resolve(file) })}\n` : `${terminalLine(file)}\n`);
  if (!flags.user) await trustOwnFile(crew.cwd, file);
  if (!flags.json) process.stderr.write(`Edit the file, then run the agent: subcrew run ${shellWord(name)} "..."\n`);
  return 0;
}

/** A new agent file with comments that explain its fields. */
export const template = (name: string): string => `---
name: ${name}
# When other agents should choose this agent: what it does, and what for.
description: Says in one or two sentences what ${name} is for.
# Leave this out to give the agent every tool; [] gives it none.
tools: [read_file, list_files, glob, grep_files]
# A tier (fast, balanced, powerful), a shortcut (haiku, sonnet, opus) or provider/model. Left out: the default model.
# model: balanced
# maxTurns: 100
---

You are ${name}. Describe here the role of the agent, how it works, and the form of its answer.
`;
