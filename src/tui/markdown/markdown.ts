import type { Token, Tokens } from "marked";
import { tokensOf } from "../../core/text/markdown-tokens.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import type { Look } from "../../core/view/look.ts";
import { type Span, type Style, splitLine, wrap } from "../wrap.ts";
import type { MarkdownOptions } from "./options.ts";
import { tableLines } from "./table.ts";

/** Formats Markdown as lines that fit the terminal. Control sequences in the text have no effect on the terminal. */
export function markdownLines(text: string, options: MarkdownOptions): string[] {
  return tokensOf(sanitize(text)).flatMap((token, index) => {
    const lines = blockLines(token, options);
    return index === 0 || lines.length === 0 ? lines : ["", ...lines];
  });
}

/** The lines of one Markdown block. */
export function blockLines(token: Token, options: MarkdownOptions): string[] {
  const { columns, look } = options;
  switch (token.type) {
    case "heading":
      return wrap(inline(token.tokens ?? [], look, look.colors.bold), columns).map((line) =>
        token["depth"] === 1 ? look.colors.underline(line) : line,
      );
    case "code":
      return codeLines(String(token["text"]), String(token["lang"] ?? ""), options);
    case "list":
      return listLines(token as Tokens.List, options);
    case "blockquote":
      return (token.tokens ?? [])
        .filter(({ type }) => type !== "space")
        .flatMap((each, index) => {
          const lines = blockLines(each, { ...options, columns: Math.max(8, columns - 2) });
          return index === 0 ? lines : ["", ...lines];
        })
        .map((line) => `${look.colors.dim(look.signs.frame[5])} ${line}`);
    case "table":
      return tableLines(token as Tokens.Table, (cell) => inline(cell.tokens, look), options);
    case "hr":
      return [look.colors.dim(look.signs.frame[4].repeat(Math.min(columns, 40)))];
    case "space":
    case "def":
      return [];
    default:
      return wrap(
        inline(token.type === "paragraph" || token.type === "text" ? (token.tokens ?? [token]) : [token], look),
        columns,
      );
  }
}

/** Lines of code, indented by two; a long line is wrapped. */
export function codeLines(code: string, language: string, { columns, look, highlight }: MarkdownOptions): string[] {
  const colored = highlight?.(code, language.split(/\s/, 1)[0] ?? "");
  const lines =
    colored ?? code.split("\n").map((text): Span[] => [{ text, ...(language === "diff" && diffStyle(text, look)) }]);
  return lines.flatMap((spans) =>
    splitLine(
      spans.map((span) => ({ ...span, text: span.text.replaceAll("\t", "    ") })),
      columns,
      { first: "  ", rest: "  " },
    ),
  );
}

function diffStyle(line: string, { colors }: Look): { style: Style } | undefined {
  if (/^(\+\+\+|---) /.test(line)) return { style: colors.bold };
  if (line.startsWith("+")) return { style: colors.green };
  if (line.startsWith("-")) return { style: colors.red };
  return line.startsWith("@@") ? { style: colors.cyan } : undefined;
}

function listLines({ ordered, start, items, loose }: Tokens.List, options: MarkdownOptions): string[] {
  const from = Number(start) || 1;
  const width = ordered ? String(from + items.length - 1).length + 2 : 2;
  return items.flatMap((item, index) => {
    const number = ordered ? `${from + index}.` : options.look.signs.bullet;
    const box = item.task ? (item.checked ? "[x] " : "[ ] ") : "";
    const first = `${number.padEnd(width)}${box}`;
    const rest = " ".repeat(width);
    const inner = { ...options, columns: Math.max(8, options.columns - width - box.length) };
    const lines = item.tokens
      .filter(({ type }) => type !== "space")
      .flatMap((each, at) => [...(loose && at > 0 && each.type !== "list" ? [""] : []), ...blockLines(each, inner)]);
    const drawn = (lines.length > 0 ? lines : [""]).map((line, at) =>
      at > 0 && line === "" ? "" : `${at === 0 ? first : rest}${line}`,
    );
    return loose && index > 0 ? ["", ...drawn] : drawn;
  });
}

/** The text of a line with its styles. */
function inline(tokens: readonly Token[], look: Look, style?: Style): Span[] {
  const { colors } = look;
  const styled = (text: string, more?: Style): Span[] => [
    { text, ...(more ? { style: both(style, more) } : style && { style }) },
  ];
  const nested = (token: Token, more?: Style): Span[] => inline(innerOf(token), look, both(style, more));
  return tokens.flatMap((token): Span[] => {
    switch (token.type) {
      case "strong":
        return nested(token, colors.bold);
      case "em":
        return nested(token, colors.italic);
      case "del":
        return nested(token, colors.strikethrough);
      case "codespan":
        return styled(String(token["text"]), colors.cyan);
      case "br":
        return [{ text: "\n" }];
      case "html":
        return /^<br\s*\/?>$/i.test(token.raw) ? [{ text: "\n" }] : styled(token.raw);
      case "link":
        return linked(nested(token, colors.underline), String(token["text"]), String(token["href"]), styled);
      case "image":
        return styled(`[image: ${String(token["text"]) || "no description"}] (${String(token["href"])})`, colors.dim);
      case "escape":
        return styled(String(token["text"]));
      default:
        return innerOf(token).length > 0
          ? nested(token)
          : styled(unescaped("text" in token ? String(token.text) : token.raw));
    }
  });

  function linked(label: Span[], text: string, href: string, show: typeof styled): Span[] {
    const same = text === href || `mailto:${text}` === href;
    return same ? label : [...label, ...show(` (${href})`, colors.dim)];
  }
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Replaces common HTML entities by their characters; control characters are removed. */
function unescaped(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,4}));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? all;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0x10ffff ? all : sanitize(String.fromCodePoint(code));
  });
}

const innerOf = (token: Token): Token[] => ("tokens" in token ? (token.tokens ?? []) : []);

function both(first: Style | undefined, second: Style | undefined): Style {
  if (!first || !second) return first ?? second ?? ((text) => text);
  return (text) => first(second(text));
}
