import { terminalLine } from "../../core/view/words.ts";
import type { Key } from "../input/keys.ts";
import { splitLine } from "../wrap.ts";
import type { Field, FieldFrame } from "./field-screen.ts";
import type { Canvas } from "./frame.ts";
import { diffPaint, fieldOf } from "./layout.ts";

/** The tabs of an opened task or run. */
export const pageTabs = ["transcript", "tools", "diff", "prompt", "timeline"] as const;
export type PageTab = (typeof pageTabs)[number];

/** An opened task or run: its text and scroll position. */
export type PageView = Readonly<{ title: string; tab: PageTab; lines: readonly string[]; top: number }>;

/** The result of a key press on an opened page: scroll, switch the tab, or return to the list. */
export type PageStep = Readonly<{ page: PageView }> | Readonly<{ tab: PageTab }> | "back";

/** The text of the page, wrapped at the width of the terminal. */
function wrapped({ lines }: PageView, columns: number): string[] {
  return lines.flatMap((text) => splitLine([{ text }], Math.max(1, columns)));
}

export function pageFrame(page: PageView, canvas: Canvas): FieldFrame {
  const { columns, height, look } = canvas;
  const { colors, signs } = look;
  const whole = (text: string, paint?: Field["paint"]): Field[] =>
    text === "" ? [] : [fieldOf(text, { at: 0, width: columns + 1 }, look, paint)];
  const all = wrapped(page, columns);
  const room = Math.max(0, height - 3);
  const top = Math.max(0, Math.min(page.top, all.length - room));
  const shown = all
    .slice(top, top + room)
    .map((text) => whole(text, page.tab === "diff" ? diffPaint(text, look) : undefined));
  const tabs = pageTabs.map((tab, index) => `${index + 1} ${tab === page.tab ? tab.toUpperCase() : tab}`).join("  ");
  const below = Math.max(0, all.length - top - room);
  const hidden = [...(top > 0 ? [`${top} rows above`] : []), ...(below > 0 ? [`${below} rows below`] : [])].join(
    signs.dot,
  );
  const filler = Array.from({ length: room - shown.length }, (): Field[] => []);
  const keys = `1-5 sections  up/down scroll  g/G top/bottom  q back${hidden === "" ? "" : `${signs.dot}hidden: ${hidden}`}`;
  const rows = [
    whole(terminalLine(page.title), colors.bold),
    whole(tabs, colors.cyan),
    ...shown,
    ...filler,
    whole(keys, colors.dim),
  ];
  return { columns, rows: rows.slice(0, height) };
}

export function pressInPage(
  page: PageView,
  key: Key,
  { columns, height }: Pick<Canvas, "columns" | "height">,
): PageStep {
  const room = Math.max(1, height - 3);
  const most = Math.max(0, wrapped(page, columns).length - room);
  const to = (top: number): PageStep => ({ page: { ...page, top: Math.max(0, Math.min(most, top)) } });
  const at = Math.min(page.top, most);
  const tab = pageTabs[Number(key.name) - 1];
  if (tab !== undefined) return { tab };
  switch (key.name) {
    case "q":
    case "escape":
    case "backspace":
      return "back";
    case "tab":
    case "right":
      return { tab: pageTabs[(pageTabs.indexOf(page.tab) + 1) % pageTabs.length]! };
    case "left":
      return { tab: pageTabs[(pageTabs.indexOf(page.tab) + pageTabs.length - 1) % pageTabs.length]! };
    case "up":
    case "k":
      return to(at - 1);
    case "down":
    case "j":
      return to(at + 1);
    case "pageup":
    case "b":
      return to(at - room);
    case "pagedown":
    case " ":
      return to(at + room);
    case "home":
    case "g":
      return to(0);
    case "end":
    case "G":
      return to(most);
    default:
      return { page };
  }
}
