import { expect, test } from "vitest";
import { edit, type TextEditor, emptyEditor, insert, withText } from "./editor.ts";
import { editorRows } from "./editor-rows.ts";
import { createKeyDecoder } from "./keys.ts";

/** Types what a terminal sends; `|` in the result marks the cursor. */
function typed(sent: string, editor: TextEditor = emptyEditor): string {
  const decoder = createKeyDecoder();
  const { text, cursor } = [...decoder.push(sent), ...decoder.flush()].reduce<TextEditor>(
    (at, key) => edit(at, key) ?? at,
    editor,
  );
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}
const LEFT = "\u001b[D";
const UP = "\u001b[A";

test.each([
  ["letters and Backspace", "helo\u007flo", "hello|"],
  ["moving by characters, also of several code points", `a👩‍👩‍👧b${LEFT}${LEFT}x`, "ax|👩‍👩‍👧b"],
  ["Backspace deletes a whole character", "a👩‍👩‍👧\u007f", "a|"],
  ["moving by words", "one two-three\u001bb\u001bbX", "one X|two-three"],
  ["Ctrl-W and Ctrl-Y", "one two\u0017X\u0019", "one Xtwo|"],
  ["Ctrl-A, Ctrl-K, Ctrl-Y", "one\u0001\u000b\u0019\u0019", "oneone|"],
  ["texts that are cut one after the other are pasted together", "one two three\u0017\u0017\u0019", "one two three|"],
  ["Ctrl-D and Ctrl-H delete one character", `abcd${LEFT}${LEFT}\u0004\u0008`, "a|d"],
  ["Ctrl-T swaps two characters", "ab\u0014", "ba|"],
  ["Alt-U, Alt-L and Alt-C change a word", "one TWO three\u0001\u001bu\u001bl\u001bc", "ONE two Three|"],
  ["Ctrl-_ undoes changes, the last one first", "one two\u0017\u001f\u001f", "one |"],
  ["Up keeps the column below wide characters", `日本語\nabcdef${LEFT}${LEFT}${UP}X`, "日本X|語\nabcdef"],
  ["Alt-Enter inserts a line break", "one\u001b\rtwo", "one\ntwo|"],
  [
    "up and down keep the column",
    `long line\u001b\rab${UP}X`,
    "loXng line\nab|".replace("X", "X|").replace("ab|", "ab"),
  ],
  [
    "a paste is inserted as it is, without control characters",
    "\u001b[200~a\u001b]0;x\u0007\n\tb\u001b[201~",
    "a]0;x\n\tb|",
  ],
])("the line editor: %s", (_, sent, shown) => {
  expect(typed(sent)).toBe(shown);
});

test("the up key on the first line and the down key on the last line are left to the caller", () => {
  expect(edit(withText(emptyEditor, "one"), { name: "up" })).toBeUndefined();
  expect(edit(withText(emptyEditor, "one"), { name: "down" })).toBeUndefined();
});

test("the rows show the part around the cursor and the number of hidden rows", () => {
  const text = Array.from({ length: 40 }, (_, n) => `line ${n + 1}`).join("\n");
  const end = editorRows(insert(emptyEditor, text), { columns: 20, rows: 5, prompt: "> " });
  expect(end.rows).toEqual(["  (36 rows above)", "  line 37", "  line 38", "  line 39", "  line 40"]);
  expect(end.cursor).toEqual({ row: 4, column: 9 });
  const start = editorRows({ ...insert(emptyEditor, text), cursor: 0 }, { columns: 20, rows: 5, prompt: "> " });
  expect(start.rows).toEqual(["> line 1", "  line 2", "  line 3", "  line 4", "  (36 rows below)"]);
  expect(start.cursor).toEqual({ row: 0, column: 2 });
});

test("long lines and wide characters are wrapped, and the cursor stands where the next character goes", () => {
  const { rows, cursor } = editorRows(insert(emptyEditor, "数据库和前端"), { columns: 9, rows: 5, prompt: "> " });
  expect(rows).toEqual(["> 数据库", "  和前端"]);
  expect(cursor).toEqual({ row: 1, column: 8 });
  const full = editorRows(insert(emptyEditor, "abcdefg"), { columns: 9, rows: 5, prompt: "> " });
  expect([full.rows, full.cursor]).toEqual([["> abcdefg", "  "], { row: 1, column: 2 }]);
});
