import { Option } from "commander";
import type { Skill, WorkflowCommand } from "../../core/agent/skill.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { Workflows } from "../../defaults.ts";
import { distrustText } from "../../runtime/discovery/distrust.ts";
import type { Discovery } from "../../runtime/discovery/discover.ts";
import type { CliCommand } from "../base/command.ts";
import type { Flags } from "../base/flags.ts";
import { searchRows } from "../base/search.ts";
import { placeOptions } from "./agents.ts";

const allOption = (): Option => new Option("--all", "also list those that cannot be used, with the reason");

/** The command `subcrew skills`. */
export const skillsCommand: CliCommand = {
  description: "Lists the skills that can be used here.",
  words: "[words...]",
  usage: "[WORDS]",
  options: [allOption(), ...placeOptions()],
  examples: [
    ["subcrew skills", "what `subcrew skill` can run"],
    ["subcrew skills review", "entries whose name or description has this word"],
  ],
  act: (words, flags) => list(flags, "skills", words),
};

/** The command `subcrew commands`. */
export const commandsCommand: CliCommand = {
  description: "Lists the workflow commands that can be used here.",
  words: "[words...]",
  usage: "[WORDS]",
  options: [allOption(), ...placeOptions()],
  examples: [
    ["subcrew commands", "what `subcrew command` can run"],
    ["subcrew commands review", "entries whose name or description has this word"],
  ],
  act: (words, flags) => list(flags, "commands", words),
};

async function list(flags: Flags, what: "skills" | "commands", words: readonly string[]): Promise<number> {
  const [{ crewFor }, { table }, { stdoutLook }] = await Promise.all([
    import("../launch/start.ts"),
    import("../base/table.ts"),
    import("../base/terminal.ts"),
  ]);
  const crew = await crewFor(flags);
  const found: Workflows<Skill | WorkflowCommand> = await crew[what]();
  const usable = crew.masked(found.all.filter((one) => flags.all || !("userInvocable" in one) || one.userInvocable));
  const shown = searchRows(usable, words, ({ name, description, source }) => [name, description, source]);
  const others = flags.all
    ? searchRows(crew.masked(unusable(found.discovery)), words, ({ name, file, reason }) => [name, file, reason])
    : [];
  if (flags.json) {
    const rows = shown.map(({ instructions: _text, ...row }) => ({ ...row, state: "ready" }));
    process.stdout.write(`${jsonText([...rows, ...others], 2)}\n`);
    return 0;
  }
  const look = stdoutLook(flags);
  if (shown.length === 0) process.stderr.write(words.length > 0 ? `No ${what} match.\n` : `No ${what} were found.\n`);
  const rows = shown.map(({ name, agent = "general", source, argumentHint = "", description }) => ({
    name: `${name} ${argumentHint}`.trim(),
    agent,
    source,
    description,
  }));
  process.stdout.write(table(rows, look, { name: 32, agent: 16 }));
  if (others.length > 0) process.stdout.write(`\n${table(others, look, { name: 24, file: 40 })}`);
  return 0;
}

type Other = Readonly<{ name: string; state: string; file: string; reason: string }>;

function unusable({ shadowed, untrusted, skipped }: Discovery): Other[] {
  return [
    ...shadowed.map(({ found: { name, file = "bundled" }, by }) => ({
      name,
      state: "shadowed",
      file,
      reason: `shadowed by ${by.file ?? "another file"}`,
    })),
    ...untrusted.map(({ name, file = "", distrust = "project" }) => ({
      name,
      state: "untrusted",
      file,
      reason: distrustText[distrust],
    })),
    ...skipped.map(({ name = "-", file = "", problems }) => ({
      name,
      state: "skipped",
      file,
      reason: problems[0]?.message ?? "the file cannot be read",
    })),
  ];
}
