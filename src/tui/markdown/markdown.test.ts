import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { createLook } from "../../core/view/look.ts";
import { widthOf } from "../../core/view/fit.ts";
import { createHighlight } from "./highlight.ts";
import { markdownLines } from "./markdown.ts";
import type { MarkdownOptions } from "./options.ts";
import { createMarkdownStream } from "./stream.ts";

const look = createLook({ color: false, unicode: true });
const colored = createLook({ color: true, unicode: true });
const at = (columns: number): MarkdownOptions => ({ look, columns });

const sample = [
  "# Title",
  "",
  "A paragraph with **bold**, `code` and a [link](https://example.com/a).",
  "It goes on.",
  "",
  "- one",
  "- two",
  "  - deeper",
  "- three",
  "",
  "1. first",
  "2. second",
  "",
  "```ts",
  "const a = 1;",
  "",
  "if (a) run();",
  "```",
  "",
  "> quoted",
  "",
  "| name | what |",
  "|---|---:|",
  "| a | 1 |",
  "| long name | 22 |",
  "",
  "The end.",
  "",
].join("\n");

const drawn = [
  "Title",
  "",
  "A paragraph with bold, code and a link",
  "(https://example.com/a).",
  "It goes on.",
  "",
  "• one",
  "• two",
  "  • deeper",
  "• three",
  "",
  "1. first",
  "2. second",
  "",
  "  const a = 1;",
  "  ",
  "  if (a) run();",
  "",
  "│ quoted",
  "",
  "name      │ what",
  "────────────────",
  "a         │    1",
  "long name │   22",
  "",
  "The end.",
];

test("Markdown in a terminal: headings, lists, code, quotes, tables and links are drawn and wrapped by words", () => {
  expect(markdownLines(sample, at(40))).toEqual(drawn);
});

test("Markdown in a terminal: the same text in pieces of any size gives the same lines", () => {
  for (const size of [1, 3, 7, 40, 1_000]) {
    const stream = createMarkdownStream(() => at(40));
    const lines: string[] = [];
    for (let from = 0; from < sample.length; from += size) lines.push(...stream.push(sample.slice(from, from + size)));
    expect([...lines, ...stream.end()]).toEqual(drawn);
  }
});

test("Markdown in a terminal: finished blocks, list items and lines of code are final before the text has ended", () => {
  const stream = createMarkdownStream(() => at(40));
  expect(stream.push("One.\n\nTwo")).toEqual(["One."]);
  expect(stream.open()).toEqual(["", "Two"]);
  expect(stream.push(".\n\n- a\n- b\n- c")).toEqual(["", "Two.", "", "• a", "• b"]);
  expect(stream.open()).toEqual(["• c"]);
  expect(stream.push("\n\n```sh\nls\npwd\nwho")).toEqual(["• c", "", "  ls", "  pwd"]);
  expect(stream.open()).toEqual(["  who"]);
  expect(stream.end()).toEqual(["  who"]);
});

test("Markdown in a terminal: a table that does not fit is wrapped, and one with too many columns becomes a list", () => {
  const table = "| a | b |\n|---|---|\n| some longer words here | and more of them there |\n";
  expect(markdownLines(table, at(24)).every((line) => widthOf(line) <= 24)).toBe(true);
  expect(markdownLines(table, at(24)).join(" ")).toContain("here");
  const wide = `| ${"abcdefgh | ".repeat(8)}\n| ${"--- | ".repeat(8)}\n| ${"12345678 | ".repeat(8)}\n`;
  expect(markdownLines(wide, at(30))[0]).toBe("abcdefgh: 12345678");
});

test("Markdown in a terminal: code in known languages is coloured, and other code is not", async () => {
  const highlight = await createHighlight(colored);
  const lines = markdownLines("```ts\nconst a = 'x'; // why\n```\n", { look: colored, columns: 60, highlight });
  expect(stripVTControlCharacters(lines.join("\n"))).toBe("  const a = 'x'; // why");
  expect(lines[0]).toContain("\u001b[35mconst");
  expect(lines[0]).toContain("\u001b[32m'x'");
  expect(markdownLines("```nothing\nconst a\n```\n", { look: colored, columns: 60, highlight })).toEqual(["  const a"]);
});

test("Markdown in a terminal: no text can control the terminal, not even with an escape sequence in two pieces", () => {
  const hostile =
    "a\u001b]0;title\u0007b \u001b[2Jc\u202ed\u009b31me\r\n`\u001b[H`\n\n```x\n\u001b]52;c;aGk=\u0007\n```\n";
  for (const text of [markdownLines(hostile, at(60)).join("\n"), streamed(hostile)]) {
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(text).not.toContain("title");
  }
});

test("Markdown in a terminal: text that no parser can handle is shown as it is", () => {
  const costly = [
    `${">".repeat(2_000)} x`,
    `${"- ".repeat(1_000)}x`,
    `${"[a](".repeat(1_000)}x`,
    `${"*a ".repeat(1_000)}x`,
    `${"word ".repeat(13_000)}x`,
  ];
  for (const text of costly) {
    const lines = markdownLines(text, at(80)).join("").replaceAll(" ", "");
    expect(lines).toBe(text.replaceAll(" ", ""));
  }
});

function streamed(text: string): string {
  const stream = createMarkdownStream(() => at(60));
  const lines = Array.from(text).flatMap((char) => stream.push(char));
  return [...lines, ...stream.end()].join("\n");
}

test("Markdown in a terminal: a list with blank lines between its items keeps them, and each item is final once the next one begins", () => {
  const text = "1. one\n\n   more of it\n\n2. two\n   - deeper\n\n3. three\n";
  const drawn = ["1. one", "", "   more of it", "", "2. two", "   • deeper", "", "3. three"];
  expect(markdownLines(text, at(60))).toEqual(drawn);
  expect(streamed(text).split("\n")).toEqual(drawn);
  const stream = createMarkdownStream(() => at(60));
  expect(stream.push("1. one\n\n2. two\n\n3. th")).toEqual(["1. one", "", "2. two"]);
});

test("Markdown in a terminal: HTML entities and line breaks are shown as what they mean, and cannot control the terminal", () => {
  expect(markdownLines("a &amp; b &lt;c&gt; &#65;&#x42;<br>next", at(60))).toEqual(["a & b <c> AB", "next"]);
  expect(markdownLines("&#1114111;b &#1114112; &#x110000;", at(60))).toEqual(["\u{10ffff}b &#1114112; &#x110000;"]);
  expect(markdownLines("x&#27;[2J&#x9b;2J&#8238;y &nope; &#99999999;", at(60)).join("")).not.toMatch(
    /[\u001b\u009b\u202e]/,
  );
});
