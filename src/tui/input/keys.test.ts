import { expect, test } from "vitest";
import { createKeyDecoder, type Key } from "./keys.ts";

const keys = (...chunks: readonly string[]): Key[] => {
  const decoder = createKeyDecoder();
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.flush()];
};

test.each<[string, string, Key]>([
  ["a letter", "a", { name: "a", text: "a" }],
  ["a wide character", "数", { name: "数", text: "数" }],
  ["Enter", "\r", { name: "enter" }],
  ["Ctrl-J", "\n", { name: "j", ctrl: true }],
  ["Alt-Enter", "\u001b\r", { name: "enter", alt: true }],
  ["Shift-Enter of newer terminals", "\u001b[13;2u", { name: "enter", shift: true }],
  ["Ctrl-C", "\u0003", { name: "c", ctrl: true }],
  ["Ctrl-Z", "\u001a", { name: "z", ctrl: true }],
  ["Ctrl-\\", "\u001c", { name: "\\", ctrl: true }],
  ["Escape", "\u001b", { name: "escape" }],
  ["an arrow", "\u001b[A", { name: "up" }],
  ["an arrow in application mode", "\u001bOB", { name: "down" }],
  ["Ctrl-Left", "\u001b[1;5D", { name: "left", ctrl: true }],
  ["Alt-b", "\u001bb", { name: "b", text: "b", alt: true }],
  ["Delete", "\u001b[3~", { name: "delete" }],
  ["Shift-Tab", "\u001b[Z", { name: "tab", shift: true }],
  ["pasted lines", "\u001b[200~one\r\ntwo\rthree\u001b[201~", { name: "paste", text: "one\ntwo\nthree" }],
])("%s is one key, also when it arrives byte by byte", (_, sent, key) => {
  expect(keys(sent)).toEqual([key]);
  expect(keys(...Array.from(sent))).toEqual([key]);
});

test("mouse and focus reports are ignored, and keys around them are not", () => {
  expect(keys("a\u001b[I\u001b[<0;3;4Mb").map(({ name }) => name)).toEqual(["a", "b"]);
});

test("a bracketed paste that never ends is kept when the input ends", () => {
  expect(keys("\u001b[200~half")).toEqual([{ name: "paste", text: "half" }]);
});
