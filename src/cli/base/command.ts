import { Command, Help, Option } from "commander";
import { CrewError } from "../../core/schema/error.ts";
import { engineWords } from "../../engines/table.ts";
import type { Flags } from "./flags.ts";
import { noneChosen, usageError } from "./usage.ts";

/**
 * The definition of one command: its arguments, its flags and its action. It is loaded only when the command is used.
 */
export type CliCommand = Readonly<{
  description: string;
  /** Another name of the command. */
  alias?: string;
  /** The positional arguments: in commander's notation, and as help shows them. */
  words?: string;
  usage?: string;
  options: readonly Option[];
  /** Example command lines, each with an explanation. */
  examples: readonly (readonly [line: string, what: string])[];
  /** Further notes at the end of the help. */
  notes?: string;
  /** The subcommands of the command. */
  commands?: Readonly<Record<string, CliCommand>>;
  /** Runs the command and returns the exit code. */
  act?(words: readonly string[], flags: Flags): Promise<number>;
}>;

/** Builds a commander command from this definition. `done` is called with the exit code. */
export function buildCommand(name: string, definition: CliCommand, done: (code: number) => void): Command {
  const { description, alias, words, usage, examples, notes, commands = {}, act } = definition;
  const options = act ? [...definition.options, engineOption()] : definition.options;
  const command = bare(name).description(description).usage([usage, "[flags]"].filter(Boolean).join(" "));
  if (alias !== undefined) command.alias(alias);
  if (words !== undefined) command.arguments(words);
  for (const option of options) command.addOption(option);
  const rest = options.filter((option) => isFurther(option, options)).length;
  if (rest > 0) {
    command.configureHelp({ ...helpSettings, visibleOptions: commonOptions });
    command.addHelpText("after", () => (showsAll() ? "" : `\n${rest} more flags: \`subcrew ${name} --help --all\`.`));
  }
  if (act && Object.keys(commands).length > 0) command.enablePositionalOptions(); // flags after the name of a subcommand belong to the subcommand
  for (const [inner, more] of Object.entries(commands)) command.addCommand(buildCommand(inner, more, done));
  if (examples.length > 0)
    command.addHelpText(
      "after",
      `\nExamples:\n${examples.map(([line, what]) => `${wrapped(`  ${what}`)}\n    ${line}`).join("\n")}`,
    );
  if (notes !== undefined) command.addHelpText("after", `\n${wrapped(notes)}`);
  if (act)
    command.action(async () => {
      const flags = command.opts<Flags>();
      if (flags.engine !== undefined) process.env[ENGINE_VARIABLE] = flags.engine; // settings and child processes read the engine from the environment
      done(await act(command.args, flags));
    });
  else
    command
      .arguments("[mode] [words...]")
      .allowUnknownOption()
      .action(() => fail(noneChosen(name, command.args[0], Object.keys(commands))));
  return command;
}

const ENGINE_VARIABLE = "SUBCREW_ENGINE";

/** The flag `--engine` of every command: the engine that stores and executes the runs. */
const engineOption = (): Option =>
  new Option("--engine <url>", `use the runs and workers of this engine, ${engineWords("what")} (setting: engine)`)
    .argParser(engineAddress)
    .helpGroup("Engine:");

/**
 * An empty address is refused: it is mostly a variable that is not set, and the run would work on this machine alone.
 */
function engineAddress(text: string): string {
  if (text.trim() !== "") return text;
  throw new CrewError(
    "BAD_INPUT",
    "--engine is empty.",
    `Give the address of ${engineWords("what")}, as in --engine ${engineWords("example")}, or leave the flag out.`,
  );
}

function fail(error: Error): never {
  throw error;
}

/** A commander command that throws usage errors instead of printing them. */
export function bare(name: string): Command {
  const command = new Command(name);
  return command
    .exitOverride((error) => {
      throw helped.has(error.code) ? error : usageError(error, command);
    })
    .addHelpOption(new Option("-h, --help", "show this help").helpGroup("Output:"))
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .configureOutput({ writeErr: () => {} })
    .configureHelp(helpSettings);
}

/** If a command has more flags than this number, its help shows only the common flags. */
const MOST_FLAGS = 20;

/** The flags that help shows by default, in addition to a command's flags in the group "Work". */
const COMMON: ReadonlySet<string> = new Set([
  "--model",
  "--tools",
  "--context-file",
  "--cwd",
  "--yes",
  "--bg",
  "--max-usd",
  "--output",
  "--help",
]);

const isFurther = (option: Option, all: readonly Option[]): boolean =>
  all.length > MOST_FLAGS &&
  !option.hidden &&
  option.helpGroupHeading !== "Work:" &&
  !COMMON.has(option.long ?? option.short ?? "");

/** True when the command line asks for `--help --all`. */
const showsAll = (): boolean => process.argv.includes("--all");

function commonOptions(this: Help, command: Command): Option[] {
  const all = Help.prototype.visibleOptions.call(this, command);
  return showsAll() ? all : all.filter((option) => !isFurther(option, command.options));
}

/** Codes with which commander reports that it printed help or the version. They are not errors. */
export const helped: ReadonlySet<string> = new Set(["commander.help", "commander.helpDisplayed", "commander.version"]);

const bold = (title: string): string => `\u001b[1m${title}\u001b[22m`; // commander removes the sequence when colours are off

const WIDEST = 100;

/** Wraps lines to the width of the help. Continuation lines keep the indentation. */
function wrapped(text: string): string {
  const { helpWidth } = helpSettings;
  return text
    .split("\n")
    .map((line) => {
      const indent = /^ */.exec(line)?.[0] ?? "";
      const fitted = new Help().boxWrap(line.trimStart(), helpWidth - indent.length);
      return fitted.replace(/^/gm, indent);
    })
    .join("\n");
}

/** The name of a subcommand. Its arguments and flags are on its own help page. */
const subcommandTerm = (command: Command): string => command.name();

const helpSettings = {
  helpWidth: Math.min(process.stdout.columns || 80, WIDEST),
  styleTitle: bold,
  subcommandTerm,
};
