import { clustersOf } from "../wrap.ts";
import type { Key } from "./keys.ts";

/** The text of an input field and the cursor position. */
export type TextEditor = Readonly<{
  text: string;
  cursor: number;
  /** The text cut last, for Ctrl-Y. */
  cut: string;
}>;

export const emptyEditor: TextEditor = { text: "", cursor: 0, cut: "" };

/** The same editor with another text and the cursor at its end. */
export const withText = (editor: TextEditor, text: string): TextEditor => {
  const clean = cleanText(text);
  return { ...editor, text: clean, cursor: clean.length };
};

/**
 * Normalises text for editing: lines end with a line feed, and control characters other than that and tabs are
 * removed.
 */
const cleanText = (text: string): string => text.replace(/\r\n?/g, "\n").replace(CONTROL, "");

/** Inserts typed or pasted text at the cursor. */
export function insert({ text, cursor, cut }: TextEditor, typed: string): TextEditor {
  const clean = cleanText(typed);
  return { text: text.slice(0, cursor) + clean + text.slice(cursor), cursor: cursor + clean.length, cut };
}

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Applies a key to the text; returns `undefined` for a key that does not edit. */
export function edit(editor: TextEditor, key: Key): TextEditor | undefined {
  if (key.name === "paste") return insert(editor, key.text ?? "");
  if (key.text !== undefined && !key.ctrl && !key.alt) return insert(editor, key.text);
  const held = `${key.ctrl ? "ctrl-" : ""}${key.alt ? "alt-" : ""}${key.name}`;
  return (Object.hasOwn(actions, held) ? actions[held] : undefined)?.(editor);
}

type Action = (editor: TextEditor) => TextEditor | undefined;

const to = (editor: TextEditor, cursor: number): TextEditor => ({ ...editor, cursor });

/** Deletes the text between two positions. With `keep`, Ctrl-Y can put it back. */
const remove = (editor: TextEditor, from: number, until: number, keep = false): TextEditor => ({
  text: editor.text.slice(0, from) + editor.text.slice(until),
  cursor: from,
  cut: keep && until > from ? editor.text.slice(from, until) : editor.cut,
});

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
  const column = editor.cursor - start;
  const other = direction < 0 ? to(editor, start - 1) : to(editor, end + 1);
  return to(editor, Math.min(lineStart(other) + column, lineEnd(other)));
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
