import type { Command, CommanderError } from "commander";
import { CrewError } from "../../core/schema/error.ts";
import { nearest } from "../../core/text/nearest.ts";
import { withFullStop } from "../../core/text/sentence.ts";

/** Converts a usage error of commander to an error of subcrew, with the problem and the fix. */
export function usageError(error: CommanderError, command: Command): CrewError {
  const [first = ""] = Array.from(error.message.matchAll(/'([^']*)'/g), (match) => match[1] ?? "");
  const help = `See \`${nameOf(command)} --help\`.`;
  switch (error.code) {
    case "commander.unknownOption":
      return new CrewError("BAD_INPUT", `Unknown flag ${quoted(first)}.`, flagHint(first, command));
    case "commander.optionMissingArgument":
      return new CrewError(
        "BAD_INPUT",
        `The flag ${quoted(first.split(/[ ,]/).find((part) => part.startsWith("--")) ?? first)} needs a value.`,
        help,
      );
    case "commander.excessArguments":
      return tooMany(command);
    case "commander.invalidArgument": {
      const [, given = "", choices] =
        /argument '([\s\S]*)' is invalid\. Allowed choices are (.*)\.$/.exec(error.message) ?? [];
      if (choices === undefined) break;
      const flag = first.split(/[ ,]/).find((part) => part.startsWith("--")) ?? first;
      const close = nearest(given, choices.split(", "));
      const hint =
        close === undefined ? `Give one of ${choices}.` : `Did you mean ${flag} ${close}? Possible values: ${choices}.`;
      return new CrewError("BAD_INPUT", `${flag} cannot be ${quoted(given)}.`, hint);
    }
    case "commander.missingArgument":
      return new CrewError("BAD_INPUT", `The ${first} is missing.`, help);
    default:
      break;
  }
  return new CrewError("BAD_INPUT", sentence(error.message.replace(/^error: /, "")), help);
}

/** The error for too many arguments. The usual causes are an input file without --input and a text without quotes. */
function tooMany(command: Command): CrewError {
  const name = nameOf(command);
  const taken = command.registeredArguments.length;
  const [surplus = "", ...more] = command.args.slice(taken);
  const message = `Too many arguments for ${quoted(name)}: ${quoted(surplus)}${more.length > 0 ? ` and ${more.length} more` : ""}.`;
  if (FILE.test(surplus) && command.options.some(({ long }) => long === "--input"))
    return new CrewError("BAD_INPUT", message, `Name the file with --input: \`${name} --input ${surplus}\`.`);
  const quotes = taken > 0 ? " Put quotes around a text with spaces." : "";
  return new CrewError("BAD_INPUT", message, `See \`${name} --help\`.${quotes}`);
}

const FILE = /^[\w./@+-]+\.(ya?ml|json)$/i;

/** The error for an unknown command, with the most similar command as a suggestion. */
export function unknownCommand(word: string, names: readonly string[], where = "subcrew"): CrewError {
  const close = nearest(word, names);
  const hint =
    close === undefined ? `See \`${where} --help\` for all commands.` : `Did you mean \`${where} ${close}\`?`;
  return new CrewError("BAD_INPUT", `Unknown command ${quoted(word)}.`, hint);
}

/** The error for a code that does not exist. */
export function unknownCode(word: string, codes: readonly string[]): CrewError {
  const close = nearest(word, codes);
  const hint = close === undefined ? "docs/errors.md lists all codes." : `Did you mean \`subcrew help ${close}\`?`;
  return new CrewError("BAD_INPUT", `Unknown error code ${quoted(word)}.`, hint);
}

/** The error for a command that got no subcommand, or an unknown subcommand. */
export function noneChosen(command: string, word: string | undefined, names: readonly string[]): CrewError {
  if (word !== undefined) return unknownCommand(word, names, `subcrew ${command}`);
  return new CrewError("BAD_INPUT", `No subcommand of \`${command}\` given.`, `Give one of: ${names.join(", ")}.`);
}

function flagHint(flag: string, command: Command): string {
  const flags = command.options
    .flatMap(({ long, short }) => [long, short])
    .filter((one) => one !== undefined && one !== null);
  const named = flag.replace(/=.*$/s, "");
  // For a one-letter flag only the same letter in another case is suggested: every other letter is equally similar.
  const close = nearest(
    named,
    /^-[^-]$/.test(named) ? flags.filter((one) => one.toLowerCase() === named.toLowerCase()) : [...flags, "--help"],
  );
  if (close !== undefined) return `Did you mean ${quoted(close)}?`;
  if (!command.parent) return "Flags come after the command, as in `subcrew run --json ...`.";
  const text = /^-[^-]|\s/.test(flag) ? " Put `--` before a text that begins with a dash." : "";
  return `See \`${nameOf(command)} --help\`.${text}`;
}

function nameOf(command: Command): string {
  return command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
}

const quoted = (text: string): string => `"${text}"`;

function sentence(text: string): string {
  const line = text.split("\n")[0] ?? "";
  return withFullStop(`${line.charAt(0).toUpperCase()}${line.slice(1)}`);
}
