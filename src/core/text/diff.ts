import { createTwoFilesPatch, FILE_HEADERS_ONLY, formatPatch } from "diff";

/** The changes between two texts as a unified diff with three lines of context; empty when the texts are equal. */
export function unifiedDiff(before: string, after: string, path: string): string {
  if (before === after) return "";
  const names: Names = [before === "" ? "/dev/null" : path, after === "" ? "/dev/null" : path];
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY, maxEditLength: MOST_EDITS };
  const smallest =
    before === "" || after === ""
      ? undefined
      : createTwoFilesPatch(...names, before, after, undefined, undefined, options);
  return (smallest ?? replacement(names, before, after)).replace(/\n$/, "").replace(HUNK_HEADER, shortened);
}

type Names = [before: string, after: string];

/**
 * Above this number of changed lines computing the smallest diff takes too long; the diff then replaces the whole text.
 */
const MOST_EDITS = 400;

/** A diff that replaces every line of the old text by the lines of the new text. */
function replacement([oldFileName, newFileName]: Names, before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  const hunk = {
    oldStart: 1,
    oldLines: old.length,
    newStart: 1,
    newLines: now.length,
    lines: [...signed("-", old, before), ...signed("+", now, after)],
  };
  const headers = { oldFileName, newFileName, oldHeader: undefined, newHeader: undefined };
  return formatPatch({ ...headers, hunks: [hunk] }, FILE_HEADERS_ONLY);
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function signed(sign: string, lines: readonly string[], text: string): string[] {
  const rows = lines.map((line) => `${sign}${line}`);
  return text === "" || text.endsWith("\n") ? rows : [...rows, "\\ No newline at end of file"];
}

const HUNK_HEADER = /^@@ -\d+,\d+ \+\d+,\d+ @@/gm;

/** The header of a part of a diff, as git writes it: git omits the length of a range of one line. */
const shortened = (header: string): string => header.replace(/(?<=[-+]\d+),1(?= )/g, "");
