import { Command, type CommanderError, Option } from "commander";
import { expect, test } from "vitest";
import { usageError } from "./usage.ts";

/** The usage error for these words after `team`: its message and its hint. */
function told(...words: readonly string[]): readonly [message: string, hint: string] {
  const command = new Command("team").allowExcessArguments(false).configureOutput({ writeErr: () => {} });
  command.addOption(new Option("-o, --output <format>", "the form").choices(["text", "json"]));
  command.addOption(new Option("--input <file>", "a file")).exitOverride();
  try {
    command.parse([...words], { from: "user" });
  } catch (error) {
    const { message, hint } = usageError(error as CommanderError, command);
    return [message, hint];
  }
  throw new Error("nothing is wrong with it");
}

test("an extra argument is named, and a file among them gets a hint about --input", () => {
  expect(told("team.yaml")).toEqual([
    'Too many arguments for "team": "team.yaml".',
    "Name the file with --input: `team --input team.yaml`.",
  ]);
  expect(told("a", "b", "c")[0]).toBe('Too many arguments for "team": "a" and 2 more.');
});

test("a value outside of the choices is refused; the error lists the choices and suggests the nearest choice", () => {
  expect(told("-o", "yaml")).toEqual(['--output cannot be "yaml".', "Give one of text, json."]);
  expect(told("--output", "jsn")[1]).toBe("Did you mean --output json? Possible values: text, json.");
});

test("an unknown flag of one letter does not suggest a flag with another letter", () => {
  expect(told("-x")[1]).toBe("Flags come after the command, as in `subcrew run --json ...`.");
  expect(told("-O", "json")[1]).toBe('Did you mean "-o"?');
});
