import { Option } from "commander";
import { jsonText } from "../../core/text/json-text.ts";
import { counted, terminalLine } from "../../core/view/words.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";
import { filesFrom } from "./diff.ts";

/** The command `subcrew undo RUN [FILE...]`. */
export const undoCommand: CliCommand = {
  description:
    "Restores the files that a run, or one task of it, changed. A file that was changed after the run is refused and stays as it is; the others are restored.",
  words: "[run] [files...]",
  usage: "RUN[/TASK] [FILE...]",
  options: [new Option("--dry-run", "only show what would be restored"), jsonOption()],
  examples: [
    ["subcrew undo nightly --dry-run", "see what would happen"],
    ["subcrew undo run_4k2x", "restore every file that the run changed"],
    ["subcrew undo run_4k2x src/a.ts", "restore one file"],
  ],
  notes: "`subcrew diff RUN` shows the changes. Exit code 1: at least one file was refused.",
  act: async ([word, ...names], flags) => {
    const { findRun } = await import("../runs/find-run.ts");
    const { crew, run, path } = await findRun(word);
    const dryRun = flags.dryRun ?? false;
    const files = await crew.undo(run.id, {
      dryRun,
      ...(path !== undefined && { task: path }),
      files: filesFrom(names, run.state.cwd),
    });
    const refused = files.filter(({ result }) => result === "refused");
    if (flags.json) process.stdout.write(`${jsonText({ run: run.id, dryRun, files }, 2)}\n`);
    else {
      const words = dryRun ? WOULD : DID;
      for (const { name, result, why } of files)
        process.stdout.write(
          `${words[result].padEnd(13)}  ${terminalLine(name)}${why === undefined ? "" : `: ${terminalLine(why)}`}\n`,
        );
      process.stderr.write(`${summary(files.length, refused.length, dryRun)}\n`);
    }
    return refused.length === 0 ? 0 : 1;
  },
};

const DID = { restored: "restored", removed: "removed", same: "unchanged", refused: "refused" } as const;
const WOULD = {
  restored: "would restore",
  removed: "would remove",
  same: "unchanged",
  refused: "would refuse",
} as const;

function summary(all: number, refused: number, dryRun: boolean): string {
  if (all === 0) return "This run recorded no changes, so nothing can be undone.";
  if (refused === 0) return dryRun ? "Nothing was changed. Leave out --dry-run to restore the files." : "Done.";
  return `${counted(refused, "file")} of ${all} ${dryRun ? "would stay" : "stayed"} as ${refused === 1 ? "it is" : "they are"}.`;
}
