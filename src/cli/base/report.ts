import { type CrewError, exitCodeOfError, isCode, isCrewError, messageOf } from "../../core/schema/error.ts";
import { secretValues } from "../../core/secrets/spellings.ts";
import { createRedactor } from "../../core/secrets/redact.ts";
import { defined } from "../../core/text/defined.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { wrapLine } from "../../core/text/wrap-line.ts";
import type { Look } from "../../core/view/look.ts";

/** How a command reports a failure. */
export type ReportOptions = Readonly<{ json: boolean; look: Look }>;

/** Prints the error and its hint on stderr; returns the exit code. */
export function report(thrown: unknown, { json, look }: ReportOptions): number {
  const debug = process.env["SUBCREW_DEBUG"] === "1";
  const { text: redact } = createRedactor(secretValues(process.env));
  const failure = isCrewError(thrown) ? thrown : unexpected(thrown);
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
  return isCrewError(thrown) ? exitCodeOfError(thrown.code) : 1;
}

const NAME = "subcrew:";

/**
 * An error as it is printed: the message, and below it the hint. Each is one line, for programs; on a terminal they are wrapped at its
 * width, never within a command in backticks.
 */
export function errorText({ message, hint }: Pick<CrewError, "message" | "hint">, columns?: number): string {
  const lines = [`${NAME} ${message}`, ...(hint === "" ? [] : [`  ${hint}`])].map(sanitize);
  return `${lines
    .flatMap((line) => line.split("\n"))
    .flatMap((line) => wrapLine(line, columns))
    .join("\n")}\n`;
}

/** On a terminal an error names its explanation; a wrong command line is explained by the hint alone. */
function isExplained(code: string): boolean {
  return process.stderr.isTTY && isCode(code) && code !== "BAD_INPUT";
}

/** Where an error was thrown, and the errors that caused it. */
function stackOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const cause = thrown.cause === undefined ? "" : `\nCaused by: ${stackOf(thrown.cause)}`;
  return `${thrown.stack ?? thrown.message}${cause}`;
}

/** An internal error: one line, and how to get the stack trace. */
function unexpected(thrown: unknown): Pick<CrewError, "message" | "hint"> & { code: string } {
  const message = messageOf(thrown).split("\n")[0] ?? "";
  return {
    code: "UNEXPECTED",
    message: `Unexpected error: ${message}`,
    hint: "Run the command again with SUBCREW_DEBUG=1 to print the stack trace.",
  };
}
