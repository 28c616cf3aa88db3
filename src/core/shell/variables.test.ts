import { expect, test } from "vitest";
import { parseShell } from "./parse.ts";
import { runByVariables } from "./variables.ts";

/** The commands in the variables of a command line with one command, as texts. */
function read(line: string): { inner: string[]; perhaps: string[]; problem?: string } {
  const parsed = parseShell(line);
  if ("problem" in parsed) throw new Error(parsed.problem);
  const { inner, perhaps, ...rest } = runByVariables(parsed.commands[0]!);
  const texts = (commands: typeof inner): string[] =>
    commands.map(({ words }) => words.map(({ text }) => text).join(" "));
  return { inner: texts(inner), perhaps: texts(perhaps), ...rest };
}

test.each([
  ["the command of a pager", "PAGER='less -R' git log", ["less -R"]],
  [
    "a setting of git",
    "GIT_CONFIG_KEY_0=a.b GIT_CONFIG_VALUE_0=c git x",
    ["git -c a.b=c status", "git -c a.b=c status"],
  ],
  ["no command in the name of a usual shell", "SHELL=/bin/bash make", []],
  ["no command in a prompt", "PS4='+ ' bash -xc true", []],
  ["no variable in the values of printf", "printf -v X PAGER", []],
])("the command in a variable that a program evaluates is found: %s", (_what, line, inner) => {
  expect(read(line)).toEqual({ inner, perhaps: [] });
});

test.each([
  ["is a prompt that runs something", "PS4='$X' bash -xc true", "programs run the file that the variable PS4 names"],
  [
    "has a key only",
    "GIT_CONFIG_KEY_0=alias.x git x",
    "programs run the file that the variable GIT_CONFIG_KEY_0 names",
  ],
  [
    "has a value only",
    "GIT_CONFIG_VALUE_0=x git x",
    "programs run the file that the variable GIT_CONFIG_VALUE_0 names",
  ],
  ["is no complete command", `PAGER='less "' git log`, "the command in the variable PAGER cannot be read: "],
])("a variable that %s is reported, because its command cannot be read", (_what, line, problem) => {
  expect(read(line).problem).toContain(problem);
});
