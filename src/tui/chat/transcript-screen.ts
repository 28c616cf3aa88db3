import { fit } from "../../core/view/fit.ts";
import type { Key } from "../input/keys.ts";
import type { MarkdownOptions } from "../markdown/options.ts";
import type { TranscriptItem } from "./transcript-items.ts";

/** The selected row, the expanded rows, and the scroll position. */
export type TranscriptPlace = Readonly<{ selected: number; open: ReadonlySet<number>; top: number }>;

type Size = Readonly<{ columns: number; height: number; options: MarkdownOptions }>;

/** Draws the screen: rows of items, expanded items with their content, and the keys in the last row. */
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
  return items.flatMap(({ depth, title, body, within }, item) => {
    if (!isShown(items, within, open)) return [];
    const indent = "  ".repeat(depth);
    const head = item === selected ? `${colors.inverse(">")} ${indent}${title}` : `  ${indent}${title}`;
    const inner = open.has(item) ? body({ ...options, columns: Math.max(20, columns - 6 - indent.length) }) : [];
    return [{ text: head, item }, ...inner.map((line) => ({ text: `    ${indent}${line}`, item }))];
  });
}

/** True when the rows of this subagent are visible: it and all its parents are expanded. */
function isShown(items: readonly TranscriptItem[], within: number | undefined, open: TranscriptPlace["open"]): boolean {
  for (let at = within; at !== undefined; at = items[at]?.within) if (!open.has(at)) return false;
  return true;
}

/** Handles a key; returns `undefined` to go back to the conversation. */
export function transcriptKey(
  items: readonly TranscriptItem[],
  place: TranscriptPlace,
  key: Key,
  size: Size,
): TranscriptPlace | undefined {
  const room = Math.max(1, size.height - 1);
  const moved = (by: number): TranscriptPlace => {
    const shown = [...items.keys()].filter((at) => isShown(items, items[at]!.within, place.open));
    const at = shown.indexOf(place.selected) + by;
    return scrolled(items, { ...place, selected: shown[Math.min(shown.length - 1, Math.max(0, at))] ?? 0 }, size);
  };
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
      return scrolled(
        items,
        place.open.size > 0
          ? { ...place, open: new Set(), selected: topOf(items, place.selected) }
          : { ...place, open: new Set(items.keys()) },
        size,
      );
    case "enter":
    case "right":
    case "left": {
      const open = new Set(place.open);
      const closed = key.name !== "right" && open.delete(place.selected);
      if (!closed && key.name !== "left") open.add(place.selected);
      // On a collapsed row, the left key selects the subagent that the row belongs to.
      const selected =
        closed || key.name !== "left" ? place.selected : (items[place.selected]?.within ?? place.selected);
      return scrolled(items, { ...place, open, selected }, size);
    }
    default:
      return place;
  }
}

/**
 * Keeps the selection and scroll position after rows were added. If the last row was selected, the new last row is
 * selected.
 */
export function placeAfter(
  before: readonly TranscriptItem[],
  items: readonly TranscriptItem[],
  place: TranscriptPlace,
): TranscriptPlace {
  const at = new Map(items.map(({ id }, index) => [id, index]));
  const moved = (row: number): number => at.get(before[row]?.id ?? "") ?? 0;
  const atEnd = place.selected >= before.length - 1 && items.at(-1)?.within === undefined;
  return {
    ...place,
    selected: atEnd ? Math.max(0, items.length - 1) : moved(place.selected),
    open: new Set([...place.open].map(moved)),
  };
}

/** The row of the main agent that contains this row. */
function topOf(items: readonly TranscriptItem[], row: number): number {
  let at = row;
  for (let above = items[at]?.within; above !== undefined; above = items[at]?.within) at = above;
  return at;
}

/** Scrolls so that the selected row is visible. */
export function scrolled(items: readonly TranscriptItem[], place: TranscriptPlace, size: Size): TranscriptPlace {
  const room = Math.max(1, size.height - 1);
  const at = linesOf(items, place, size).findIndex(({ item }) => item === place.selected);
  const top = at < place.top ? at : at >= place.top + room ? at - room + 1 : place.top;
  return { ...place, top: Math.max(0, top) };
}
