import { widthOf } from "../../core/view/fit.ts";
import { clustersOf } from "../wrap.ts";
import type { Key } from "./keys.ts";

/** The text of an input field and the cursor position. */
export type TextEditor = Readonly<{
  text: string;
  cursor: number;
  /** The text cut last, for Ctrl-Y. */
  cut: string;
  /** True right after a cut, so that the next cut text is added to the first. */
  cutting?: true;
  /** Earlier texts, for Ctrl-_; text that is typed without a pause counts as one change. */
  undo?: readonly Readonly<{ text: string; cursor: number }>[];
}>;

export const emptyEditor: TextEditor = { text: "", cursor: 0, cut: "" };
const MOST_UNDO = 100;

/** The same editor with another text and the cursor at its end. */
export const withText = (editor: TextEditor, text: string): TextEditor => {
  const clean = cleanText(text);
  return { ...editor, text: clean, cursor: clean.length };
};

/**
 * Normalises text for editing: lines end with a line feed, and control characters other than line feeds and tabs are
 * removed.
 */
const cleanText = (text: string): string => text.replace(/\r\n?/g, "\n").replace(CONTROL, "");

/** Inserts typed or pasted text at the cursor. */
export function insert({ text, cursor, cut, undo = [] }: TextEditor, typed: string): TextEditor {
  const clean = cleanText(typed);
  return { text: text.slice(0, cursor) + clean + text.slice(cursor), cursor: cursor + clean.length, cut, undo };
}

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Applies a key to the text; returns `undefined` for a key that does not edit. */
export function edit(editor: TextEditor, key: Key): TextEditor | undefined {
  const held = `${key.ctrl ? "ctrl-" : ""}${key.alt ? "alt-" : ""}${key.name}`;
  if (UNDO.has(held)) return undone(editor);
  const typed = key.text !== undefined && !key.ctrl && !key.alt;
  const action = Object.hasOwn(actions, held) ? actions[held] : undefined;
  const next = key.name === "paste" || typed ? insert(editor, key.text ?? "") : action?.(editor);
  if (!next) return undefined;
  const { undo = [], cutting: _, ...same } = next;
  // Consecutive letters count as one change for undo; a space ends the change.
  const goesOn =
    typed && /\S/.test(key.text ?? "") && /\S$/.test(editor.text.slice(0, editor.cursor)) && undo.length > 0;
  const changed = next.text !== editor.text && !goesOn;
  const before = changed ? [...undo, { text: editor.text, cursor: editor.cursor }].slice(-MOST_UNDO) : undo;
  return { ...same, undo: before, ...(next.cut !== editor.cut && { cutting: true as const }) };
}

const UNDO: ReadonlySet<string> = new Set(["ctrl-_", "ctrl-/"]);

function undone(editor: TextEditor): TextEditor {
  const { undo = [], cutting: _, ...same } = editor;
  const last = undo.at(-1);
  return last ? { ...same, ...last, undo: undo.slice(0, -1) } : editor;
}

type Action = (editor: TextEditor) => TextEditor | undefined;

const to = (editor: TextEditor, cursor: number): TextEditor => ({ ...editor, cursor });

/** Deletes the text between two positions. With `keep`, Ctrl-Y can put it back. */
const remove = (editor: TextEditor, from: number, until: number, keep = false): TextEditor => {
  const gone = editor.text.slice(from, until);
  const added = !editor.cutting ? gone : from < editor.cursor ? gone + editor.cut : editor.cut + gone;
  return {
    text: editor.text.slice(0, from) + editor.text.slice(until),
    cursor: from,
    cut: keep && gone !== "" ? added : editor.cut,
    undo: editor.undo ?? [],
  };
};

/** Swaps the two characters around the cursor; at the end of a line, the two characters before the cursor. */
function swapped(editor: TextEditor): TextEditor {
  const end = lineEnd(editor) === editor.cursor ? editor.cursor : after(editor);
  const middle = before({ ...editor, cursor: end });
  const start = before({ ...editor, cursor: middle });
  if (start < lineStart(editor) || middle === start || end === middle) return editor;
  const { text } = editor;
  return {
    ...editor,
    text: text.slice(0, start) + text.slice(middle, end) + text.slice(start, middle) + text.slice(end),
    cursor: end,
  };
}

/** Changes the case of the next word. */
const recased = (editor: TextEditor, change: (word: string) => string): TextEditor => {
  const end = wordEnd(editor);
  const { text, cursor } = editor;
  const word = change(text.slice(cursor, end));
  return { ...editor, text: text.slice(0, cursor) + word + text.slice(end), cursor: cursor + word.length };
};
const capital = (word: string): string => word.toLowerCase().replace(/\p{L}/u, (letter) => letter.toUpperCase());

const before = ({ text, cursor }: TextEditor): number =>
  cursor - (clustersOf(text.slice(Math.max(0, cursor - LONGEST_CLUSTER), cursor)).at(-1)?.length ?? 0);
const after = ({ text, cursor }: TextEditor): number =>
  cursor + (clustersOf(text.slice(cursor, cursor + LONGEST_CLUSTER))[0]?.length ?? 0);
const LONGEST_CLUSTER = 64;

const lineStart = ({ text, cursor }: TextEditor): number => text.lastIndexOf("\n", cursor - 1) + 1;
const lineEnd = ({ text, cursor }: TextEditor): number => {
  const end = text.indexOf("\n", cursor);
  return end < 0 ? text.length : end;
};
const wordStart = ({ text, cursor }: TextEditor): number =>
  /[\p{L}\p{N}_]*[^\p{L}\p{N}_]*$/u.exec(text.slice(0, cursor))?.index ?? 0;
const wordEnd = ({ text, cursor }: TextEditor): number =>
  cursor + (/^[^\p{L}\p{N}_]*[\p{L}\p{N}_]*/u.exec(text.slice(cursor))?.[0].length ?? 0);
/** The position after the last space before the cursor, for Ctrl-W. */
const blankStart = ({ text, cursor }: TextEditor): number => /\S*\s*$/.exec(text.slice(0, cursor))?.index ?? 0;

/** Moves one line up or down in the same column; `undefined` beyond the first and the last line. */
function vertical(editor: TextEditor, direction: 1 | -1): TextEditor | undefined {
  const start = lineStart(editor);
  const end = lineEnd(editor);
  if (direction < 0 ? start === 0 : end === editor.text.length) return undefined;
  const column = widthOf(editor.text.slice(start, editor.cursor));
  const other = direction < 0 ? to(editor, start - 1) : to(editor, end + 1);
  let cursor = lineStart(other);
  let used = 0;
  for (const cluster of clustersOf(editor.text.slice(cursor, lineEnd(other)))) {
    used += widthOf(cluster);
    if (used > column) break;
    cursor += cluster.length;
  }
  return to(editor, cursor);
}

const actions: Readonly<Record<string, Action>> = {
  left: (at) => to(at, before(at)),
  "ctrl-b": (at) => to(at, before(at)),
  right: (at) => to(at, after(at)),
  "ctrl-f": (at) => to(at, after(at)),
  "ctrl-left": (at) => to(at, wordStart(at)),
  "alt-left": (at) => to(at, wordStart(at)),
  "alt-b": (at) => to(at, wordStart(at)),
  "ctrl-right": (at) => to(at, wordEnd(at)),
  "alt-right": (at) => to(at, wordEnd(at)),
  "alt-f": (at) => to(at, wordEnd(at)),
  home: (at) => to(at, lineStart(at)),
  "ctrl-a": (at) => to(at, lineStart(at)),
  end: (at) => to(at, lineEnd(at)),
  "ctrl-e": (at) => to(at, lineEnd(at)),
  up: (at) => vertical(at, -1),
  down: (at) => vertical(at, 1),
  backspace: (at) => remove(at, before(at), at.cursor),
  delete: (at) => remove(at, at.cursor, after(at)),
  "ctrl-d": (at) => remove(at, at.cursor, after(at)),
  "ctrl-h": (at) => remove(at, before(at), at.cursor),
  "ctrl-delete": (at) => remove(at, at.cursor, wordEnd(at), true),
  "ctrl-t": swapped,
  "alt-u": (at) => recased(at, (word) => word.toUpperCase()),
  "alt-l": (at) => recased(at, (word) => word.toLowerCase()),
  "alt-c": (at) => recased(at, capital),
  "alt-<": (at) => to(at, 0),
  "alt->": (at) => to(at, at.text.length),
  "ctrl-home": (at) => to(at, 0),
  "ctrl-end": (at) => to(at, at.text.length),
  "ctrl-backspace": (at) => remove(at, wordStart(at), at.cursor, true),
  "alt-backspace": (at) => remove(at, wordStart(at), at.cursor, true),
  "alt-d": (at) => remove(at, at.cursor, wordEnd(at), true),
  "ctrl-w": (at) => remove(at, blankStart(at), at.cursor, true),
  "ctrl-u": (at) => remove(at, lineStart(at), at.cursor, true),
  "ctrl-k": (at) => remove(at, at.cursor, lineEnd(at) === at.cursor ? after(at) : lineEnd(at), true),
  "ctrl-y": (at) => insert(at, at.cut),
  "ctrl-j": (at) => insert(at, "\n"),
  "alt-enter": (at) => insert(at, "\n"),
};
