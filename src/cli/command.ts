import { Command, Help, Option } from "commander";
import type { Flags } from "./flags.ts";

/** One command: its words, its flags, and what it does. Loaded when it is used. */
export type CommandDefinition = Readonly<{
  description: string;
  /** The words after the name, in commander's notation. */
  words?: string;
  options: readonly Option[];
  /** Command lines to copy, with what each does. */
  examples: readonly (readonly [line: string, what: string])[];
  /** More to know, below everything else. */
  notes?: string;
  /** Commands below this one. */
  commands?: Readonly<Record<string, CommandDefinition>>;
  /** Does the work and gives back the exit code. */
  act?(words: readonly string[], flags: Flags): Promise<number>;
}>;

/** The command as commander has it; `done` is told the exit code. */
export function buildCommand(name: string, definition: CommandDefinition, done: (code: number) => void): Command {
  const { description, words, options, examples, notes, commands = {}, act } = definition;
  const command = bare(name).description(description);
  if (words !== undefined) command.arguments(words);
  for (const option of options) command.addOption(option);
  for (const [inner, more] of Object.entries(commands)) command.addCommand(buildCommand(inner, more, done));
  if (examples.length > 0) command.addHelpText("after", `\nExamples:\n${examples.map(([line, what]) => `  ${what}\n    ${line}`).join("\n")}`);
  if (notes !== undefined) command.addHelpText("after", `\n${notes}`);
  if (act) command.action(async () => done(await act(command.args, command.opts<Flags>())));
  return command;
}

/** A command whose mistakes are thrown to us instead of printed by commander. */
export function bare(name: string): Command {
  return new Command(name)
    .exitOverride()
    .helpOption("-h, --help", "show this help")
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .configureOutput({ writeErr: () => {} })
    .configureHelp({ helpWidth: Math.min(process.stdout.columns || 100, 110), styleTitle: bold, subcommandTerm });
}

const bold = (title: string): string => `\u001b[1m${title}\u001b[22m`; // commander takes it away where there are no colours

/** `run [agent] [prompt...]`, without "[options]" in every row. */
function subcommandTerm(command: Command): string {
  return new Help().subcommandTerm(command).replace(" [options]", "");
}
