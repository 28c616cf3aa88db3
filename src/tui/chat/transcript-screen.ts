import { extractToolArgsPreview } from "../../core/task/preview.ts";
import { explain } from "../../core/outcome/outcome.ts";
import { isRecord } from "../../core/text/json.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { fit } from "../../core/view/fit.ts";
import type { Look } from "../../core/view/look.ts";
import type { Transcript, TranscriptEntry } from "../../core/view/transcript.ts";
import { terminalLine, took } from "../../core/view/words.ts";
import type { Key } from "../input/keys.ts";
import { codeLines, markdownLines } from "../markdown/markdown.ts";
import type { MarkdownOptions } from "../markdown/options.ts";
import { diffLines } from "./tool-lines.ts";

/** One row that can be expanded: a message, a call, a helper. */
export type TranscriptItem = Readonly<{ depth: number; title: string; body(options: MarkdownOptions): string[] }>;

/** The selected row, the expanded rows, and the scroll position. */
export type TranscriptPlace = Readonly<{ selected: number; open: ReadonlySet<number>; top: number }>;

/** The steps of a conversation and its helpers, each as one row that can be expanded. */
export function transcriptItems(transcripts: readonly Transcript[], look: Look): TranscriptItem[] {
  return transcripts.flatMap(({ path, label, agent, entries }) => {
    const depth = path === "" ? 0 : path.split("/").length - 1;
    const who = [agent, label === path ? "" : label].filter((part) => part !== undefined && part !== "").join(": ");
    const head: TranscriptItem[] =
      depth > 0 ? [{ depth, title: look.colors.bold(terminalLine(who || path)), body: () => [] }] : [];
    return [...head, ...entries.map((entry) => ({ depth: depth + (depth > 0 ? 1 : 0), ...itemOf(entry, look) }))];
  });
}

function itemOf(entry: TranscriptEntry, look: Look): Omit<TranscriptItem, "depth"> {
  const { colors, signs } = look;
  const item = (title: string, text: string): Omit<TranscriptItem, "depth"> => ({
    title,
    body: (options) => markdownLines(text, options),
  });
  switch (entry.kind) {
    case "prompt":
      return item(`${colors.bold(">")} ${terminalLine(entry.text)}`, entry.text);
    case "turn": {
      const thinking = entry.thinking === "" ? "" : `${entry.thinking.replace(/^/gm, "> ")}\n\n`;
      return item(
        terminalLine(entry.text) || colors.dim(`turn ${entry.turn}${entry.thinking === "" ? "" : ", with thinking"}`),
        `${thinking}${entry.text}`,
      );
    }
    case "call": {
      const preview = extractToolArgsPreview(entry.tool, isRecord(entry.input) ? entry.input : {});
      const sign =
        entry.state === "ok"
          ? colors.green(signs.ok)
          : entry.state === "open"
            ? colors.cyan(signs.step)
            : colors.red(signs.failed);
      const time = entry.ms === undefined ? "" : colors.dim(`${signs.dot}${took(entry.ms, look)}`);
      return {
        title: `${sign} ${terminalLine(`${entry.tool} ${preview}`)}${time}`,
        body: (options) => callBody(entry, options),
      };
    }
    case "question": {
      const said = entry.answer === undefined ? "no answer yet" : entry.answer.approve ? "yes" : "no";
      return item(`? ${terminalLine(entry.text)} (${said})`, `${entry.text}\n\n${entry.answer?.text ?? said}`);
    }
    case "message":
      return item(`${terminalLine(entry.from)}: ${terminalLine(entry.text)}`, entry.text);
    case "note":
      return item(colors.dim(`${entry.label}: ${terminalLine(entry.text)}`), entry.text);
    case "end":
      return item(
        colors.dim(`ended: ${entry.outcome.status === "ok" ? "ok" : terminalLine(explain(entry.outcome))}`),
        "output" in entry.outcome ? (entry.outcome.output ?? "") : "",
      );
  }
}

function callBody(
  { input, result, tool }: Extract<TranscriptEntry, { kind: "call" }>,
  options: MarkdownOptions,
): string[] {
  const diff = diffLines(result, { ...options, most: Number.POSITIVE_INFINITY });
  const asked = codeLines(sanitize(JSON.stringify(input, null, 2) ?? ""), "json", options);
  const answered = diff.length > 0 ? diff : codeLines(sanitize(result), "", options);
  return [
    options.look.colors.dim(`${terminalLine(tool)} was called with`),
    ...asked,
    options.look.colors.dim("and returned"),
    ...answered,
  ];
}

type Size = Readonly<{ columns: number; height: number; options: MarkdownOptions }>;

/** Draws the screen: rows of items, the expanded ones with their content, and the keys in the last row. */
export function transcriptRows(
  items: readonly TranscriptItem[],
  place: TranscriptPlace,
  { columns, height, options }: Size,
): string[] {
  const { look } = options;
  const lines = linesOf(items, place, { columns, options });
  const room = Math.max(1, height - 1);
  const shown = lines.slice(place.top, place.top + room).map(({ text }) => fit(text, columns, look.signs.more));
  const below = Math.max(0, lines.length - place.top - room);
  const keys = "up/down select, Enter opens, a opens all, Space page, q or Esc returns";
  const hidden = below > 0 ? `${below} more rows${look.signs.dot}` : "";
  return [
    ...shown,
    ...Array.from({ length: room - shown.length }, () => ""),
    look.colors.dim(fit(`${hidden}${keys}`, columns, look.signs.more)),
  ];
}

function linesOf(
  items: readonly TranscriptItem[],
  { selected, open }: TranscriptPlace,
  { columns, options }: Omit<Size, "height">,
): { text: string; item: number }[] {
  const { colors } = options.look;
  return items.flatMap(({ depth, title, body }, item) => {
    const indent = "  ".repeat(depth);
    const head = item === selected ? `${colors.inverse(">")} ${indent}${title}` : `  ${indent}${title}`;
    const inner = open.has(item) ? body({ ...options, columns: Math.max(20, columns - 6 - indent.length) }) : [];
    return [{ text: head, item }, ...inner.map((line) => ({ text: `    ${indent}${line}`, item }))];
  });
}

/** Handles a key; returns `undefined` to go back to the conversation. */
export function transcriptKey(
  items: readonly TranscriptItem[],
  place: TranscriptPlace,
  key: Key,
  size: Size,
): TranscriptPlace | undefined {
  const room = Math.max(1, size.height - 1);
  const moved = (by: number): TranscriptPlace =>
    scrolled(items, { ...place, selected: Math.min(items.length - 1, Math.max(0, place.selected + by)) }, size);
  const page = (by: number): TranscriptPlace => {
    const most = Math.max(0, linesOf(items, place, size).length - room);
    return { ...place, top: Math.min(most, Math.max(0, place.top + by)) };
  };
  switch (key.name) {
    case "escape":
    case "q":
      return undefined;
    case "c":
    case "d":
    case "o":
      return key.ctrl ? undefined : place;
    case "up":
    case "k":
      return moved(-1);
    case "down":
    case "j":
      return moved(1);
    case "home":
    case "g":
      return moved(-items.length);
    case "end":
    case "G":
      return moved(items.length);
    case "pageup":
    case "b":
      return page(-room);
    case "pagedown":
    case " ":
      return page(room);
    case "a":
      return { ...place, open: place.open.size > 0 ? new Set() : new Set(items.keys()) };
    case "enter":
    case "right":
    case "left": {
      const open = new Set(place.open);
      if (!open.delete(place.selected) && key.name !== "left") open.add(place.selected);
      return scrolled(items, { ...place, open }, size);
    }
    default:
      return place;
  }
}

/** Scrolls so that the selected row is visible. */
export function scrolled(items: readonly TranscriptItem[], place: TranscriptPlace, size: Size): TranscriptPlace {
  const room = Math.max(1, size.height - 1);
  const at = linesOf(items, place, size).findIndex(({ item }) => item === place.selected);
  const top = at < place.top ? at : at >= place.top + room ? at - room + 1 : place.top;
  return { ...place, top: Math.max(0, top) };
}
