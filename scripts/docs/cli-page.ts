import type { Option } from "commander";
import type { CliCommand } from "../../src/cli/base/command.ts";

type Loaded = Readonly<{ name: string; summary: string; group: string; command: CliCommand }>;

/** docs/cli.md: every command with its flags and examples, from the definitions that the command itself uses. */
export function cliPage(all: readonly Loaded[]): string {
  const groups = [...new Set(all.map(({ group }) => group))];
  const common = sharedOptions(all);
  return [
    "# CLI reference",
    "",
    "<!-- Made by `npm run docs` from src/cli. Edit that. -->",
    "",
    "`subcrew COMMAND --help` prints the common flags of a command with examples, and `--help --all` every flag.",
    "Standard output carries the result and nothing else; progress and warnings go to standard error.",
    "",
    "| exit code | meaning |",
    "|---|---|",
    "| 0 | ok |",
    "| 1 | the task failed |",
    "| 2 | a mistake in the command line, a file or a setting |",
    "| 3 | refused by a rule, an answer is needed, or a change was not made because nobody could be asked |",
    "| 4 | a limit was reached |",
    "| 5 | the result is invalid or empty |",
    "| 129, 130, 143 | ended by a closed terminal, by Ctrl-C or a cancel, by SIGTERM |",
    "",
    ...groups.flatMap((group) => [
      `## ${group.replace(/:$/, "")}`,
      "",
      "| command | does |",
      "|---|---|",
      ...all
        .filter((each) => each.group === group)
        .map(({ name, summary }) => `| [\`${name}\`](#subcrew-${name}) | ${cell(summary)} |`),
      "",
    ]),
    "## Flags that many commands share",
    "",
    ...optionTable(common),
    "",
    ...all.flatMap(({ name, command }) => section(name, command, common)),
  ].join("\n");
}

/** Options that at least four commands have with exactly the same text. */
function sharedOptions(all: readonly Loaded[]): Option[] {
  const seen = new Map<string, { option: Option; count: number }>();
  for (const { command } of all)
    for (const option of command.options) {
      const key = keyOf(option);
      seen.set(key, { option, count: (seen.get(key)?.count ?? 0) + 1 });
    }
  return [...seen.values()].filter(({ count }) => count > 3).map(({ option }) => option);
}

const keyOf = ({ flags, description }: Option): string => `${flags} ${description}`;

function section(name: string, command: CliCommand, common: readonly Option[]): string[] {
  const shared = new Set(common.map(keyOf));
  const own = command.options.filter((option) => !option.hidden && !shared.has(keyOf(option)));
  const others = command.options.length - command.options.filter(({ hidden }) => hidden).length - own.length;
  return [
    `### subcrew ${name}`,
    "",
    `\`subcrew ${[name, command.usage, "[flags]"].filter(Boolean).join(" ")}\`${command.alias === undefined ? "" : ` (also \`${command.alias}\`)`}`,
    "",
    command.description,
    "",
    ...(own.length > 0 ? [...optionTable(own), ""] : []),
    ...(others > 0
      ? [
          `Also ${others} of the [shared flags](#flags-that-many-commands-share); \`subcrew ${name} --help --all\` lists them.`,
          "",
        ]
      : []),
    ...(command.examples.length > 0
      ? ["<!-- checked -->", "```sh", ...command.examples.flatMap(([line, what]) => [`# ${what}`, line]), "```", ""]
      : []),
    ...(command.notes === undefined ? [] : [command.notes, ""]),
    ...Object.entries(command.commands ?? {}).flatMap(([inner, more]) => section(`${name} ${inner}`, more, common)),
  ];
}

function optionTable(options: readonly Option[]): string[] {
  return [
    "| flag | does |",
    "|---|---|",
    ...options
      .filter(({ hidden }) => !hidden)
      .map(({ flags, description, argChoices, defaultValue }) => {
        const choices = argChoices ? ` (${argChoices.join(", ")})` : "";
        const otherwise =
          defaultValue === undefined || defaultValue === false ? "" : ` (default: ${String(defaultValue)})`;
        return `| \`${flags.replaceAll("|", "\\|")}\` | ${cell(`${description}${choices}${otherwise}`)} |`;
      }),
  ];
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ").replaceAll("<", "&lt;");
