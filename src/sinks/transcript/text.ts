import { explain } from "../../core/outcome/outcome.ts";
import { formatCost, formatTokens } from "../../core/outcome/usage.ts";
import { extractToolArgsPreview } from "../../core/task/preview.ts";
import { cutHead } from "../../core/text/cut.ts";
import { isRecord } from "../../core/text/json.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import type { Look } from "../../core/view/look.ts";
import type { CallEntry, Transcript, TranscriptEntry } from "../../core/view/transcript.ts";
import { listed, terminalLine, took } from "../../core/view/words.ts";

export type TranscriptTextOptions = Readonly<{
  look: Look;
  /** True when tool results are shown whole; otherwise their first lines and the length of the rest. */
  full: boolean;
}>;

/** The number of lines of a tool result that are shown by default. */
const RESULT_LINES = 12;

/** The transcript of tasks for a terminal or a pipe. Texts of models and tools cannot move the cursor. */
export function transcriptText(transcripts: readonly Transcript[], options: TranscriptTextOptions): string {
  return transcripts.map((one) => oneTask(one, options)).join("\n");
}

function oneTask(
  { path, label, agent, model, startedAt, entries }: Transcript,
  options: TranscriptTextOptions,
): string {
  const { colors } = options.look;
  const title = path === "" ? "run" : label === path ? path : `${path}: ${label}`;
  const head = listed(
    [terminalLine(agent ?? ""), terminalLine(model ?? ""), new Date(startedAt).toISOString()],
    options.look,
  );
  const lines = entries.map((entry) => entryText(entry, options));
  return `${colors.bold(`== ${terminalLine(title)}`)}  ${colors.dim(head)}\n\n${lines.join("\n\n")}\n`;
}

function entryText(entry: TranscriptEntry, options: TranscriptTextOptions): string {
  const { colors } = options.look;
  switch (entry.kind) {
    case "prompt": {
      const again = entry.attempt > 1 ? ` (attempt ${entry.attempt})` : "";
      const from = entry.continues === undefined ? "" : `, continues ${terminalLine(entry.continues)}`;
      return `${colors.cyan(`prompt${again}${from}`)}\n${indented(entry.text, options)}`;
    }
    case "turn": {
      const { input, output, cacheRead } = entry.usage;
      const parts = [
        `${formatTokens(input + cacheRead)} in`,
        ...(cacheRead > 0 ? [`${formatTokens(cacheRead)} from cache`] : []),
        `${formatTokens(output)} out`,
        formatCost(entry.cost),
      ];
      const title = `${colors.cyan(`turn ${entry.turn}`)}  ${colors.dim(listed(parts, options.look))}`;
      const thinking =
        entry.thinking.trim() === "" ? "" : `\n${colors.dim(indented(`(thinking) ${entry.thinking}`, options))}`;
      return `${title}${thinking}${entry.text.trim() === "" ? "" : `\n${indented(entry.text, options)}`}`;
    }
    case "call":
      return callText(entry, options);
    case "question": {
      const said =
        entry.answer === undefined
          ? "no answer yet"
          : `${entry.answer.approve ? "yes" : "no"}${entry.answer.text ? `: ${entry.answer.text}` : ""}${entry.answer.by ? ` (${entry.answer.by})` : ""}`;
      return `${colors.yellow("question")}\n${indented(entry.text, options)}\n  ${colors.dim(`answer: ${terminalLine(said)}`)}`;
    }
    case "message":
      return `${colors.cyan(`message from ${terminalLine(entry.from)}`)}\n${indented(entry.text, options)}`;
    case "note": {
      const color = entry.label === "warning" || entry.label === "limit" ? colors.yellow : colors.dim;
      return color(`${entry.label}: ${terminalLine(entry.text)}`);
    }
    case "end": {
      const { outcome } = entry;
      const output = "output" in outcome && typeof outcome.output === "string" ? outcome.output : "";
      if (outcome.status === "ok") return `${colors.green("result")}\n${indented(output, options)}`;
      const color = outcome.status === "failed" ? colors.red : colors.yellow;
      const partial = output.trim() === "" ? "" : `\n${indented(output, options)}`;
      return `${color(outcome.status)}: ${terminalLine(explain(outcome))}${partial}`;
    }
  }
}

function callText(entry: CallEntry, { look, full }: TranscriptTextOptions): string {
  const { colors, signs } = look;
  const sign = {
    ok: colors.green(signs.ok),
    error: colors.red(signs.failed),
    denied: colors.yellow(signs.none),
    open: colors.yellow(signs.more),
  };
  const about = isRecord(entry.input) ? extractToolArgsPreview(entry.tool, entry.input) : "";
  const time = entry.ms === undefined ? "" : `  ${took(entry.ms, look)}`;
  const state = entry.state === "denied" ? "  denied" : entry.state === "open" ? "  no result recorded" : "";
  const title = `${sign[entry.state]} ${colors.bold(terminalLine(entry.tool))} ${terminalLine(about)}${colors.dim(`${time}${state}`)}`;
  const input = full ? `\n${indented(JSON.stringify(entry.input, null, 2) ?? "", { full })}` : "";
  const head = full ? entry.result : entry.result.slice(0, TEXT_CHARS);
  const lines = sanitize(head).trimEnd().split("\n");
  const shown = full ? lines : lines.slice(0, RESULT_LINES).map((line) => cutHead(line, 300).text);
  const more = lines.length - shown.length + linesIn(entry.result, head.length);
  const result =
    entry.result.trim() === "" ? "" : `\n${shown.map((line) => `    ${diffColor(line, look)}`).join("\n")}`;
  return `${title}${input}${result}${more > 0 ? `\n    ${colors.dim(`+${more} more lines (--full shows them)`)}` : ""}`;
}

/** The number of lines after this position of a text. */
function linesIn(text: string, from: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

function diffColor(line: string, { colors }: Look): string {
  if (/^\+(?!\+\+)/.test(line)) return colors.green(line);
  if (/^-(?!--)/.test(line)) return colors.red(line);
  return line;
}

/** Indents a text. A very long text is cut, unless `full` is set. */
function indented(text: string, { full }: Pick<TranscriptTextOptions, "full">): string {
  const cut = !full && text.length > TEXT_CHARS;
  const shown = sanitize(cut ? text.slice(0, TEXT_CHARS) : text)
    .trimEnd()
    .replace(/^/gm, "  ");
  return cut ? `${shown}\n  ... (${text.length - TEXT_CHARS} more characters; --full shows them)` : shown;
}

/** The number of characters of a text that are shown by default. */
const TEXT_CHARS = 100_000;
