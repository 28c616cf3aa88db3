import { type CrewError, exitCodeOfError, isCode, isCrewError, messageOf } from "../../core/schema/error.ts";
import { secretValues } from "../../core/secrets/spellings.ts";
import { createRedactor } from "../../core/secrets/redact.ts";
import { defined } from "../../core/text/defined.ts";
import { ownEntry } from "../../core/text/json.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { wrapLine } from "../../core/text/wrap-line.ts";
import type { Look } from "../../core/view/look.ts";

/** How a command reports a failure: as JSON or in words, and in which style. */
export type ReportOptions = Readonly<{ json: boolean; look: Look }>;

/** Prints the error and its hint on stderr; returns the exit code. */
export function report(thrown: unknown, { json, look }: ReportOptions): number {
  const debug = process.env["SUBCREW_DEBUG"] === "1";
  const { text: redact } = createRedactor(secretValues(process.env));
  const failure = tooManyFiles(thrown) ?? (isCrewError(thrown) ? thrown : unexpected(thrown));
  const { code, message, hint } = { code: failure.code, message: redact(failure.message), hint: redact(failure.hint) };
  const stack = debug ? redact(stackOf(thrown)) : undefined;
  if (json) {
    process.stderr.write(`${jsonText({ type: "error", code, message, hint, ...defined({ stack }) })}\n`);
  } else {
    const text = errorText({ message, hint }, process.stderr.isTTY ? process.stderr.columns || 80 : undefined);
    process.stderr.write(
      `${look.colors.red(NAME)}${text.slice(NAME.length)}${stack === undefined ? "" : `${sanitize(stack)}\n`}`,
    );
    if (isExplained(failure.code))
      process.stderr.write(`${look.colors.dim(`  \`subcrew help ${failure.code}\` explains this error.`)}\n`);
  }
  return isCode(failure.code) ? exitCodeOfError(failure.code) : 1;
}

const NAME = "subcrew:";

/**
 * Formats an error for printing: the message, and the hint below it. If the output is not a terminal, each of them is
 * one line. On a terminal they are wrapped at its width, but never within a command in backticks.
 */
export function errorText({ message, hint }: Pick<CrewError, "message" | "hint">, columns?: number): string {
  const lines = [`${NAME} ${message}`, ...(hint === "" ? [] : [`  ${hint}`])].map(sanitize);
  return `${lines
    .flatMap((line) => line.split("\n"))
    .flatMap((line) => wrapLine(line, columns))
    .join("\n")}\n`;
}

/**
 * True when a line below the error names the command `subcrew help CODE`, which explains the error: only on a terminal,
 * and not for a usage error, because its hint is enough.
 */
function isExplained(code: string): boolean {
  return process.stderr.isTTY && isCode(code) && code !== "BAD_INPUT";
}

/** The stack of an error and of its causes. */
function stackOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const cause = thrown.cause === undefined ? "" : `\nCaused by: ${stackOf(thrown.cause)}`;
  return `${thrown.stack ?? thrown.message}${cause}`;
}

/** The meaning of an error of the file system, and what to do about it. */
const DISK_ERRORS: Readonly<Record<string, readonly [message: string, hint: string]>> = {
  ENOSPC: ["The disk is full", "Free some disk space, or choose another folder with SUBCREW_HOME."],
  EDQUOT: ["Your disk quota is used up", "Free some disk space, or choose another folder with SUBCREW_HOME."],
  EROFS: ["The disk is read-only", "Make it writable, or choose another folder with SUBCREW_HOME."],
  EACCES: [
    "No permission to use a file or folder",
    "Change its permissions, or choose another folder with SUBCREW_HOME.",
  ],
  EPERM: [
    "No permission to use a file or folder",
    "Change its permissions, or choose another folder with SUBCREW_HOME.",
  ],
  EIO: ["The disk reports an error", "Check the disk."],
};

/** The error for too many open files, at any place in the chain of causes; `undefined` for other errors. */
function tooManyFiles(thrown: unknown, depth = 0): Pick<CrewError, "code" | "message" | "hint"> | undefined {
  if (!(thrown instanceof Error) || depth > 8) return undefined;
  const code = "code" in thrown ? String(thrown.code) : "";
  const found = /^E[MN]FILE$/.exec(code) ?? /\bE[MN]FILE(?=: )/.exec(thrown.message);
  if (!found) return tooManyFiles(thrown.cause, depth + 1);
  const where = found[0] === "EMFILE" ? "" : " on this machine";
  return {
    code: "TOO_MANY_FILES",
    message: `Too many files are open${where}: ${thrown.message.split("\n")[0]}.`,
    hint: "Raise the limit for open files, as in `ulimit -n 4096`, and run the command again.",
  };
}

/** Formats an error of the file system, or an internal error: one line, and how to get the stack trace. */
function unexpected(thrown: unknown): Pick<CrewError, "message" | "hint"> & { code: string } {
  const message = messageOf(thrown).split("\n")[0] ?? "";
  const known = thrown instanceof Error && "code" in thrown ? ownEntry(DISK_ERRORS, String(thrown.code)) : undefined;
  if (known) return { code: "STATE_UNWRITABLE", message: `${known[0]}: ${message}.`, hint: known[1] };
  return {
    code: "UNEXPECTED",
    message: `Unexpected error: ${message}`,
    hint: "Run the command again with SUBCREW_DEBUG=1 to print the stack trace.",
  };
}
