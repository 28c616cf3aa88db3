import { widthOf } from "../core/view/fit.ts";

/** A piece of text in one style. */
export type Span = Readonly<{ text: string; style?: Style }>;
/** Colours a text without changing its width. */
export type Style = (text: string) => string;

/** The prefix of the first line, and of the following lines. */
export type Indent = Readonly<{ first?: string; rest?: string }>;

/** Wraps text by words. A word that is wider than a line is split between characters. */
export function wrap(spans: readonly Span[], columns: number, { first = "", rest = first }: Indent = {}): string[] {
  const lines: string[] = [];
  let line = first;
  let used = widthOf(first);
  let started = used;
  let space: Piece | undefined;
  const room = (indent: string): number => Math.max(1, columns - widthOf(indent));
  const next = (): void => {
    lines.push(line);
    line = rest;
    used = started = widthOf(rest);
    space = undefined;
  };
  const put = ({ text, style }: Piece, width: number): void => {
    line += style ? style(text) : text;
    used += width;
  };
  for (const word of wordsOf(spans)) {
    if (word === "break") {
      next();
      continue;
    }
    if (word.length === 1 && word[0]!.blank) {
      space = word[0];
      continue;
    }
    const width = word.reduce((sum, { text }) => sum + widthOf(text), 0);
    const gap = space === undefined || used === started ? 0 : widthOf(space.text);
    if (used + gap + width > columns && used > started && width <= room(rest)) next();
    else if (space !== undefined && gap > 0) {
      if (used + gap < columns) put(space, gap);
      else next();
    }
    space = undefined;
    for (const piece of word) {
      for (const part of used + widthOf(piece.text) <= columns ? [piece] : graphemes(piece)) {
        const wide = widthOf(part.text);
        if (used + wide > columns && used > started) next();
        put(part, wide);
      }
    }
  }
  lines.push(line);
  return lines;
}

/** Splits a line that must keep its spaces, such as a line of code. */
export function splitLine(spans: readonly Span[], columns: number, indent: Indent = {}): string[] {
  const { first = "", rest = first } = indent;
  const lines: string[] = [];
  let line = first;
  let used = widthOf(first);
  for (const span of spans) {
    for (const part of used + widthOf(span.text) <= columns ? [span] : graphemes(span)) {
      const wide = widthOf(part.text);
      if (used + wide > columns && used > widthOf(rest)) {
        lines.push(line);
        line = rest;
        used = widthOf(rest);
      }
      line += part.style ? part.style(part.text) : part.text;
      used += wide;
    }
  }
  return [...lines, line];
}

type Piece = Span & Readonly<{ blank?: boolean }>;
type Word = readonly Piece[];

/**
 * Splits text into words, spaces and line breaks. A word may change its style in the middle; wide characters are
 * words of their own.
 */
function* wordsOf(spans: readonly Span[]): Generator<Word | "break"> {
  let word: Piece[] = [];
  for (const { text, style } of spans) {
    const { parts, alone } = /[\u2e80-\uffff]/.test(text) ? (wide ??= wideWords()) : NARROW;
    for (const [part] of text.matchAll(parts)) {
      const plain = part.charCodeAt(0) > 0x20 && !alone?.test(part);
      const piece: Piece = style ? { text: part, style } : { text: part };
      if (plain) {
        word.push(piece);
        continue;
      }
      if (word.length > 0) yield word;
      word = [];
      if (part === "\n") yield "break";
      else if (/^\s/.test(part)) yield [{ ...piece, text: " ", blank: true }];
      else yield [piece];
    }
  }
  if (word.length > 0) yield word;
}

/**
 * `parts` matches a line break, spaces, a character that may be wrapped by itself, or the rest of a word; `alone`
 * matches the beginning of a character that may be wrapped by itself.
 */
type Words = Readonly<{ parts: RegExp; alone?: RegExp }>;
const NARROW: Words = { parts: /\n|[^\S\n]+|\S+/g };
/**
 * Expressions that are created for the first text that needs them. Creating them takes 10 ms, and most processes draw
 * no such text.
 */
let wide: Words | undefined;
let segmenter: Intl.Segmenter | undefined;

function wideWords(): Words {
  const set = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}";
  return {
    parts: new RegExp(`\\n|[^\\S\\n]+|[${set}][\\p{M}、。，．！？：；）」』】]*|[^\\s${set}]+`, "gu"),
    alone: new RegExp(`^[${set}]`, "u"),
  };
}

function* graphemes({ text, style }: Span): Generator<Span> {
  for (const segment of clustersOf(text)) yield style ? { text: segment, style } : { text: segment };
}

/** Splits a text into grapheme clusters. */
export function clustersOf(text: string): string[] {
  if (/^[\n\x20-\x7e]*$/.test(text)) return text.split("");
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}
