import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { bare, buildCommand, type CliCommand } from "../../../src/cli/base/command.ts";
import { commands } from "../../../src/cli/commands.ts";

/** Every command with its name as typed, including subcommands. */
async function everyCommand(): Promise<(readonly [name: string, command: CliCommand])[]> {
  const rows = Object.entries(commands).filter(([, { hidden }]) => !hidden);
  const loaded = await Promise.all(rows.map(async ([name, { load }]) => [name, await load()] as const));
  const below = (name: string, command: CliCommand): (readonly [string, CliCommand])[] => [
    [name, command],
    ...Object.entries(command.commands ?? {}).flatMap(([inner, more]) => below(`${name} ${inner}`, more)),
  ];
  return loaded.flatMap(([name, command]) => below(name, command));
}
const all = await everyCommand();

/** The command line as commander parses it; the command is not run. */
async function parsed(name: string, words: readonly string[]): Promise<readonly string[]> {
  const definition = await commands[name]!.load();
  const done: string[] = [];
  const quiet = (command: CliCommand, path: string): CliCommand => ({
    ...command,
    ...(command.commands && {
      commands: Object.fromEntries(
        Object.entries(command.commands).map(([inner, more]) => [inner, quiet(more, `${path} ${inner}`)]),
      ),
    }),
    ...(command.act && {
      act: async () => {
        done.push(path);
        return 0;
      },
    }),
  });
  const program = bare("subcrew").enablePositionalOptions();
  program.addCommand(buildCommand(name, quiet(definition, name), () => {}));
  await program.parseAsync([name, ...words], { from: "user" });
  return done;
}

/** The words of an example's subcrew command: without variables before it, pipes and redirections. */
function wordsOf(line: string): string[] {
  const own = line.slice(line.indexOf("subcrew ")).split(/ [|>&] /, 1)[0]!;
  return Array.from(own.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g), ([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, (_, a?: string, b?: string) => a ?? b ?? ""),
  ).slice(1);
}

test.each(all)("subcrew %s has an example", (_, { examples }) => {
  expect(examples.length).toBeGreaterThan(0);
});

const examples = all.flatMap(([, { examples: own }]) => own.map(([line]) => line));

test.each([...new Set(examples)])("the example `%s` is a valid command line", async (line) => {
  const [name = "", ...words] = wordsOf(line);
  expect(Object.keys(commands)).toContain(name);
  expect(await parsed(name, words)).toHaveLength(1);
});

test("an unknown flag or an extra word in an example is noticed", async () => {
  await expect(parsed("ps", ["--no-such-flag"])).rejects.toThrow();
  await expect(parsed("runs", ["--all", "--limit", "3"])).rejects.toThrow();
  await expect(parsed("status", ["one", "two"])).rejects.toThrow();
});

describe("help at 80 columns", () => {
  test.each(all)("subcrew %s", async (name) => {
    const [first = "", ...rest] = name.split(" ");
    let command: Command = buildCommand(first, await commands[first]!.load(), () => {});
    for (const word of rest) command = command.commands.find((each) => each.name() === word)!;
    let page = "";
    command.configureOutput({ writeOut: (text) => void (page += text), getOutHelpWidth: () => 80 });
    command.outputHelp();
    const plain = page.replace(/\u001b\[\d+m/g, "");
    expect(plain.split("\n").filter((line) => line.length > 80 && !line.startsWith("    subcrew"))).toEqual([]);
    await expect(plain).toMatchFileSnapshot(`help/${name.replaceAll(" ", "-")}.txt`);
  });
});
