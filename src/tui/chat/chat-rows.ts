import { fit, pad, widthOf } from "../../core/view/fit.ts";
import type { Look } from "../../core/view/look.ts";
import { terminalLine } from "../../core/view/words.ts";
import { type CursorPlace, editorRows } from "../input/editor-rows.ts";
import { foundBySearch, type Prompt } from "./prompt.ts";

/** The rows below the scrollback: current activity, queued messages, the prompt, and one line about the keys. */
export type ChatRows = Readonly<{ rows: string[]; cursor: CursorPlace }>;

export type ChatRowsOptions = Readonly<{
  look: Look;
  columns: number;
  /** Height of the terminal. */
  height: number;
  prompt: Prompt;
  /** Messages that are sent after the current answer. */
  queue: readonly string[];
  /** Returns at most `most` rows about the current answer; absent when no answer is being generated. */
  working?: ((most: number) => string[]) | undefined;
  /** The last row: the keys that work now. */
  hint: string;
}>;

/**
 * The maximum number of rows below the conversation: with more rows, too little of the conversation would stay visible.
 */
const MOST_ROWS = 12;
const MOST_PROMPT_ROWS = 6;
const MOST_QUEUED = 3;
const MOST_COMPLETIONS = 4;

/**
 * Draws the rows. It has no side effects, because it is called after every key and ten times a second while an answer
 * is generated.
 */
export function chatRows(options: ChatRowsOptions): ChatRows {
  const { look, columns, height, prompt, working, hint } = options;
  const { colors, signs } = look;
  const width = Math.max(10, columns - 1);
  const most = Math.max(3, Math.min(MOST_ROWS, height - 1));
  const below = [...completionRows(prompt, width, look), colors.dim(fit(hint, width, signs.more))];
  const queued = queueRows(options.queue, width, look);
  const typed =
    prompt.search === undefined
      ? editorRows(prompt.editor, {
          columns: width,
          rows: Math.max(1, Math.min(MOST_PROMPT_ROWS, most - below.length - queued.length)),
          prompt: "> ",
        })
      : searchRow(prompt, width, look);
  const left = most - below.length - queued.length - typed.rows.length;
  const above =
    working && left > 0 ? working(left).map((row) => (widthOf(row) > width ? fit(row, width, signs.more) : row)) : [];
  const rows = [...above, ...queued, ...typed.rows, ...below];
  return {
    rows,
    cursor: { row: above.length + queued.length + typed.cursor.row, column: Math.min(typed.cursor.column, width) },
  };
}

function searchRow(prompt: Prompt, width: number, { colors, signs }: Look): ChatRows {
  const found = foundBySearch(prompt);
  const start = `search: ${terminalLine(prompt.search ?? "")}`;
  const rest = found === undefined ? (prompt.search === "" ? "" : "  nothing found") : `  ${terminalLine(found)}`;
  return {
    rows: [`${start}${colors.dim(fit(rest, Math.max(0, width - widthOf(start)), signs.more))}`],
    cursor: { row: 0, column: Math.min(widthOf(start), width - 1) },
  };
}

function queueRows(queue: readonly string[], width: number, { colors, signs }: Look): string[] {
  const shown = queue.slice(0, MOST_QUEUED);
  const rows = shown.map((text) => colors.dim(fit(`queued: ${terminalLine(text)}`, width, signs.more)));
  const more = queue.length - shown.length;
  return more > 0 ? [...rows, colors.dim(`and ${more} more queued`)] : rows;
}

function completionRows({ completions }: Prompt, width: number, { colors, signs }: Look): string[] {
  if (!completions) return [];
  const { words, chosen = 0 } = completions;
  const first = Math.max(0, Math.min(chosen - MOST_COMPLETIONS + 2, words.length - MOST_COMPLETIONS));
  const shown = words.slice(first, first + MOST_COMPLETIONS);
  const left = words.length - first - shown.length;
  return shown.map((word, index) => {
    const text = `  ${fit(terminalLine(word), width - 12, signs.more)}`;
    const more = index === shown.length - 1 && left > 0 ? `  +${left} more` : "";
    return first + index === completions.chosen ? colors.inverse(pad(text, 20)) + more : text + colors.dim(more);
  });
}
