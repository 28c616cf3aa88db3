import { randomBytes } from "node:crypto";
import { fstatSync } from "node:fs";
import { Writable } from "node:stream";

/**
 * A text result for standard output. In a GitHub Actions job, a line that begins with `::` or `##[` is a command to the
 * runner: a text with such a line stands between marks that stop commands. Not in a file, which the runner does not
 * read.
 */
export function resultText(text: string): string {
  if (process.env["GITHUB_ACTIONS"] !== "true" || !COMMAND.test(text) || isFile(1)) return text;
  const token = randomBytes(16).toString("hex");
  return `::stop-commands::${token}\n${text}${text.endsWith("\n") ? "" : "\n"}::${token}::\n`;
}

/** Standard output for results that are written as one text. */
export function resultStream(): Writable {
  if (process.env["GITHUB_ACTIONS"] !== "true") return process.stdout;
  return new Writable({
    decodeStrings: false,
    write: (text: string | Buffer, _, done) => {
      process.stdout.write(resultText(String(text)));
      done();
    },
  });
}

/** Matches a line that the runner takes for a command; it ignores blanks before it. */
const COMMAND = /^\s*(?:::|##\[)/m;

function isFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    return false;
  }
}
