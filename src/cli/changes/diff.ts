import { resolve } from "node:path";
import { Option } from "commander";
import { jsonText } from "../../core/text/json-text.ts";
import { sanitize, spellInvisible } from "../../core/text/sanitize.ts";
import type { Look } from "../../core/view/look.ts";
import { counted, terminalLine } from "../../core/view/words.ts";
import type { ChangeReport } from "../../crew/run-changes.ts";
import type { CliCommand } from "../base/command.ts";
import { colorOption, jsonOption } from "../base/flags.ts";

/** The command `subcrew diff RUN [FILE...]`. */
export const diffCommand: CliCommand = {
  description: "Shows what a run, or one task of it, changed: each file with its diff.",
  words: "[run] [files...]",
  usage: "RUN[/TASK] [FILE...]",
  options: [
    new Option("--stat", "only list the files, with the number of changed lines"),
    new Option("--no-pager", "do not use a pager"),
    jsonOption(),
    colorOption(),
  ],
  examples: [
    ["subcrew diff nightly", "everything that a run changed"],
    ["subcrew diff run_4k2x/build src/a.ts", "the changes of one task to one file"],
    ["subcrew diff nightly --stat", "the list of files"],
  ],
  notes:
    "Changes by file tools are always recorded. Changes by commands are recorded in a git repository, except in ignored files.\n`subcrew undo RUN` restores the files.",
  act: async ([word, ...names], flags) => {
    const [{ findRun, warnOfDamage }, { stdoutLook }, { printPaged }] = await Promise.all([
      import("../runs/find-run.ts"),
      import("../base/terminal.ts"),
      import("../base/pager.ts"),
    ]);
    const { crew, run, path } = await findRun(word);
    warnOfDamage(run);
    const report = await crew.changes(run.id, {
      ...(path !== undefined && { task: path }),
      files: filesFrom(names, run.state.cwd),
    });
    if (flags.json) {
      process.stdout.write(`${jsonText(report, 2)}\n`);
      return 0;
    }
    const look = stdoutLook(flags);
    const text = flags.stat ? statLines(report, look) : diffText(report, look);
    await printPaged(text, { pager: flags.pager !== false });
    process.stderr.write(remarks(report));
    return 0;
  },
};

/** Converts typed file names. A name is relative to the current folder if it then names a file of the run's folder. */
export function filesFrom(names: readonly string[], cwd: string): string[] {
  const inside = resolve(".") === resolve(cwd);
  return names.map((name) => (inside || name.startsWith("/") ? resolve(cwd, name) : name));
}

function statLines({ files }: ChangeReport, { colors }: Look): string {
  const width = Math.max(0, ...files.map(({ name }) => name.length));
  return files
    .map(({ name, how, added, removed, note }) => {
      const counts = note ?? `${colors.green(`+${added}`)} ${colors.red(`-${removed}`)}`;
      return `${how.padEnd(7)}  ${terminalLine(name).padEnd(width)}  ${counts}\n`;
    })
    .join("");
}

function diffText({ files }: ChangeReport, look: Look): string {
  const { colors } = look;
  return files
    .map(({ name, how, tasks, diff, note }) => {
      const by = tasks.filter((task) => task !== "").map(terminalLine);
      const title = colors.bold(`${how} ${terminalLine(name)}`);
      const head = by.length === 0 ? title : `${title} ${colors.dim(`by ${by.join(", ")}`)}`;
      const body = diff === undefined ? `  ${note ?? ""}` : coloured(diff, look);
      return `${head}\n${body}\n`;
    })
    .join("\n");
}

/** Colours a unified diff. */
function coloured(diff: string, { colors }: Look): string {
  return diff
    .split("\n")
    .map((line) => {
      const safe = sanitize(process.stdout.isTTY ? spellInvisible(line) : line);
      if (/^(?:\+\+\+|---) /.test(line)) return colors.dim(safe);
      if (line.startsWith("@@")) return colors.cyan(safe);
      return line.startsWith("+") ? colors.green(safe) : line.startsWith("-") ? colors.red(safe) : safe;
    })
    .join("\n");
}

/** Notes for the reader, such as changes that the diff cannot show. */
function remarks({ run, files, unseen }: ChangeReport): string {
  const since = files.filter(({ changedSince }) => changedSince);
  const lines = [
    files.length === 0 ? `No changes of ${run} are recorded.` : `${counted(files.length, "file")} changed.`,
    ...(since.length > 0 && files.length > 0
      ? [`Changed again since the run: ${since.map(({ name }) => terminalLine(name)).join(", ")}.`]
      : []),
    ...unseen.map(
      ({ reason, calls }) => `Changes by ${counted(calls, "command")} are not recorded: ${terminalLine(reason)}.`,
    ),
  ];
  return lines.map((line) => `${line}\n`).join("");
}
