import { sanitize } from "../../core/text/sanitize.ts";
import { fit } from "../../core/view/fit.ts";
import type { Look } from "../../core/view/look.ts";
import { terminalLine, took } from "../../core/view/words.ts";
import { codeLines } from "../markdown/markdown.ts";

/** A tool call, as far as it is known. */
export type ShownCall = Readonly<{ tool: string; preview: string; startedAt: number }>;

/** The result of a tool call. */
export type EndedCall = ShownCall &
  Readonly<{ state: "ok" | "error" | "denied" | "unknown"; text: string; ms: number | undefined }>;

type Room = Readonly<{ look: Look; columns: number }>;

/** One line for a finished tool call, with the reason if it failed, and with the diff if it changed a file. */
export function endedCallLines(call: EndedCall, room: Room): string[] {
  const { look, columns } = room;
  const { colors, signs } = look;
  const sign =
    call.state === "ok"
      ? colors.green(signs.ok)
      : call.state === "error"
        ? colors.red(signs.failed)
        : colors.yellow(signs.none);
  const time = call.ms === undefined || call.ms < 100 ? "" : `${signs.dot}${took(call.ms, look)}`;
  const head = fit(terminalLine(`${call.tool} ${call.preview}`), Math.max(8, columns - 2 - time.length), signs.more);
  const first = `${sign} ${head}${colors.dim(time)}`;
  if (call.state !== "ok")
    return [
      first,
      ...reasonsIn(call.text).map((line) => `  ${colors.dim(fit(terminalLine(line), columns - 2, signs.more))}`),
    ];
  return [first, ...diffLines(call.text, room)];
}

/** The rows of a running call: its activity, and the last lines that it printed. */
export function runningCallRows(
  { tool, preview, startedAt }: ShownCall,
  {
    look,
    columns,
    now,
    sign,
    output,
    most,
  }: Room & Readonly<{ now: number; sign: string; output: string; most: number }>,
): string[] {
  const { colors, signs } = look;
  const time = took(now - startedAt, look);
  const head = fit(terminalLine(`${tool} ${preview}`), Math.max(8, columns - 4 - time.length), signs.more);
  const lines = sanitize(output.slice(-TAIL_CHARS))
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .slice(-Math.max(0, most - 1));
  return [
    `${colors.cyan(sign)} ${head} ${colors.dim(time)}`,
    ...lines.map((line) => colors.dim(fit(`  ${line.replaceAll("\t", "    ")}`, columns, signs.more))),
  ].slice(0, Math.max(1, most));
}

/** A command's last output lines are looked for in this number of characters at the end of its output. */
const TAIL_CHARS = 4_000;
/** The maximum number of lines of a diff that are shown; the transcript has all of them. */
const MOST_DIFF_LINES = 40;

/** The coloured unified diff in a tool result; empty when there is none. */
export function diffLines(
  text: string,
  { look, columns, most = MOST_DIFF_LINES }: Room & Readonly<{ most?: number }>,
): string[] {
  const start = text.search(/^--- .*\n\+\+\+ /m);
  if (start < 0) return [];
  const all = sanitize(text.slice(start)).split("\n");
  const shown = all.slice(2, 2 + most);
  const left = all.length - 2 - shown.length;
  return [
    ...codeLines(shown.join("\n"), "diff", { look, columns }),
    ...(left > 0 ? [look.colors.dim(`  and ${left} more lines; Ctrl-O shows all`)] : []),
  ];
}

/** The maximum number of output lines shown for a failed command. */
const MOST_REASONS = 3;

/**
 * The reason why a tool call failed: the first line of its result. For a failed command: the last lines that it
 * printed, and how it ended.
 */
function reasonsIn(text: string): string[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const printed = lines.findLastIndex((line) => !/^\[.*\]$/.test(line)) + 1;
  const notes = lines.slice(printed).map((line) => line.slice(1, -1));
  if (notes.length === 0) return [lines[0]?.replace(/^DENIED: /, "") ?? "no output"];
  return [...lines.slice(0, printed).slice(-MOST_REASONS), notes.join("; ")];
}
