import { relative } from "node:path";
import { unifiedDiff } from "../../core/text/diff.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import type { Crew } from "../../crew/crew-type.ts";
import { fixedText } from "../../formats/fix-file.ts";
import type { LintFile } from "../../runtime/discovery/lint.ts";
import { readRegularTextSync } from "../../runtime/disk/regular-file.ts";
import { writeAtomic } from "../../runtime/disk/write-atomic.ts";
import type { Flags } from "../base/flags.ts";
import { terminal } from "../base/terminal.ts";
import { askYes } from "../terminal/confirm.ts";

/**
 * Shows the possible corrections of these files as a diff, and writes them after confirmation or with `--yes`.
 * Returns true when they were written.
 */
export async function fixFiles(crew: Crew, files: readonly LintFile[], flags: Flags): Promise<boolean> {
  const changes: { path: string; text: string }[] = [];
  for (const { path, relative: name, dialect } of files) {
    if (!path.endsWith(".md")) continue;
    const source = readRegularTextSync(path);
    const text = fixedText(source, dialect, { file: path, relative: name });
    if (text === undefined) continue;
    changes.push({ path, text });
    const diff = crew.masked(unifiedDiff(source, text, relative(process.cwd(), path)));
    const shown = diff.split("\n").map(sanitize).join("\n");
    process.stdout.write(`${shown}\n`);
  }
  const many = `${changes.length} ${changes.length === 1 ? "file" : "files"}`;
  if (changes.length === 0) {
    process.stderr.write("Nothing can be corrected automatically. Correct the listed problems by hand.\n");
    return false;
  }
  if (!(await isAgreed(many, flags))) {
    process.stderr.write(`Nothing was written. Add --yes to change ${many}.\n`);
    return false;
  }
  for (const { path, text } of changes) await writeAtomic(path, text);
  process.stderr.write(`${many} changed\n`);
  return true;
}

async function isAgreed(many: string, flags: Flags): Promise<boolean> {
  if (flags.yes) return true;
  if (!terminal(flags).attended) return false;
  return askYes(`Change ${many}?`);
}
