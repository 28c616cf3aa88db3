import type { Command, CommanderError } from "commander";
import { CrewError } from "../../core/schema/error.ts";
import { nearest } from "../../core/text/nearest.ts";
import { withFullStop } from "../../core/text/sentence.ts";

/** What commander found wrong with a command line, in our words: what it is, and what to do. */
export function usageError(error: CommanderError, command: Command): CrewError {
  const [first = ""] = Array.from(error.message.matchAll(/'([^']*)'/g), (match) => match[1] ?? "");
  const help = `See \`${nameOf(command)} --help\`.`;
  switch (error.code) {
    case "commander.unknownOption":
      return new CrewError("BAD_INPUT", `There is no flag ${quoted(first)}.`, flagHint(first, command));
    case "commander.optionMissingArgument":
      return new CrewError(
        "BAD_INPUT",
        `The flag ${quoted(first.split(/[ ,]/).find((part) => part.startsWith("--")) ?? first)} needs a value.`,
        help,
      );
    case "commander.excessArguments":
      return new CrewError("BAD_INPUT", `Too many arguments for ${quoted(nameOf(command))}.`, help);
    case "commander.missingArgument":
      return new CrewError("BAD_INPUT", `The ${first} is missing.`, help);
    default:
      return new CrewError("BAD_INPUT", sentence(error.message.replace(/^error: /, "")), help);
  }
}

/** What a person most likely meant by the name of a command that does not exist. */
export function unknownCommand(word: string, names: readonly string[], where = "subcrew"): CrewError {
  const close = nearest(word, names);
  const hint = close === undefined ? `See \`${where} --help\` for all of them.` : `Did you mean \`${where} ${close}\`?`;
  return new CrewError("BAD_INPUT", `There is no command ${quoted(word)}.`, hint);
}

/** The error for a code that does not exist. */
export function unknownCode(word: string, codes: readonly string[]): CrewError {
  const close = nearest(word, codes);
  const hint = close === undefined ? "docs/errors.md lists all codes." : `Did you mean \`subcrew help ${close}\`?`;
  return new CrewError("BAD_INPUT", `There is no error code ${quoted(word)}.`, hint);
}

/** A command that only holds others was given none of them. */
export function noneChosen(command: string, word: string | undefined, names: readonly string[]): CrewError {
  if (word !== undefined) return unknownCommand(word, names, `subcrew ${command}`);
  return new CrewError("BAD_INPUT", `No subcommand of \`${command}\` given.`, `Give one of: ${names.join(", ")}.`);
}

function flagHint(flag: string, command: Command): string {
  const flags = command.options
    .flatMap(({ long, short }) => [long, short])
    .filter((one) => one !== undefined && one !== null);
  const close = nearest(flag.replace(/=.*$/s, ""), [...flags, "--help"]);
  if (close !== undefined) return `Did you mean ${quoted(close)}?`;
  if (!command.parent) return "Flags come after the command, as in `subcrew run --json ...`.";
  const text = /^-[^-]|\s/.test(flag) ? " A text that begins with a dash comes after `--`." : "";
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
