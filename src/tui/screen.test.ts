import xterm from "@xterm/headless";
import { expect, test } from "vitest";
import { Screen } from "./screen.ts";

/** A virtual terminal: the text that a person sees after these writes. */
function virtual(columns = 20, rows = 6) {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 1_000 });
  const written: string[] = [];
  const screen = new Screen({
    write: (text) => written.push(text),
    wrapsCursorRow: false,
    get columns() {
      return terminal.cols;
    },
    get rows() {
      return terminal.rows;
    },
  });
  const flush = async (): Promise<void> => {
    for (const text of written.splice(0)) await new Promise<void>((done) => terminal.write(text, done));
  };
  return {
    screen,
    written,
    /** Every line from the top of the scrollback to the last one with text. */
    lines: async (): Promise<string[]> => {
      await flush();
      const { buffer } = terminal;
      const all = Array.from(
        { length: buffer.active.length },
        (_, y) => buffer.active.getLine(y)?.translateToString(true) ?? "",
      );
      return all.slice(0, all.findLastIndex((line) => line !== "") + 1);
    },
    cursor: async (): Promise<{ row: number; column: number }> => {
      await flush();
      const { baseY, cursorY, cursorX } = terminal.buffer.active;
      return { row: baseY + cursorY, column: cursorX };
    },
    resize: async (width: number): Promise<void> => {
      await flush();
      terminal.resize(width, rows);
    },
  };
}

test("live rows: a frame is one write, and contains only rows that changed", () => {
  const { screen, written } = virtual();
  screen.draw(["one", "two"]);
  expect(written.splice(0)).toEqual(["\u001b[?2026h\rone\u001b[K\r\ntwo\u001b[K\u001b[?25l\u001b[?2026l"]);
  screen.draw(["one", "2"]);
  expect(written.splice(0)).toEqual(["\u001b[?2026h\u001b[1A\r\r\n2\u001b[K\u001b[?2026l"]);
});

test("live rows: nothing is written when nothing changed", () => {
  const { screen, written } = virtual();
  screen.draw(["one"], { row: 0, column: 2 });
  written.splice(0);
  screen.draw(["one"], { row: 0, column: 2 });
  expect(written).toEqual([]);
});

test("live rows: printed lines appear above the rows, also beyond the height of the terminal", async () => {
  const { screen, lines, cursor } = virtual();
  screen.frame({ print: ["first"], rows: ["> ", "status"], cursor: { row: 0, column: 2 } });
  for (let n = 1; n <= 8; n++)
    screen.frame({ print: [`line ${n}`], rows: [`> ${n}`, "status"], cursor: { row: 0, column: 3 } });
  expect(await lines()).toEqual(["first", ...Array.from({ length: 8 }, (_, n) => `line ${n + 1}`), "> 8", "status"]);
  expect(await cursor()).toEqual({ row: 9, column: 3 });
});

test("printed lines are wrapped between words, and their later rows are aligned below the text after a gap; a long word stays whole", async () => {
  const { screen, lines } = virtual(20, 12);
  screen.frame({
    print: ["one two three four five", "/cmd  what the command does", `\u001b[31m${"x".repeat(24)}\u001b[39m end`],
    rows: [">"],
  });
  expect(await lines()).toEqual([
    "one two three four",
    "five",
    "/cmd  what the",
    "      command does",
    "x".repeat(20),
    "xxxx",
    "end",
    ">",
  ]);
});

test("live rows: rows that no longer exist are erased", async () => {
  const { screen, lines } = virtual();
  screen.draw(["one", "two", "three"]);
  screen.draw(["one"]);
  expect(await lines()).toEqual(["one"]);
});

test.each([
  ["narrower", 20, 9],
  ["wider", 20, 40],
])("a terminal that becomes %s shows no second copy of the rows", async (_, from, to) => {
  const { screen, lines, resize } = virtual(from);
  screen.frame({
    print: ["kept"],
    rows: ["a line of 18 chars", "> 数据库和前端页", "status"],
    cursor: { row: 1, column: 16 },
  });
  await resize(to);
  screen.draw(["> typed", "status"], { row: 0, column: 7 });
  expect(await lines()).toEqual(["kept", "> typed", "status"]);
});

test("live rows: closing removes the rows and shows the cursor again, once", async () => {
  const { screen, written, lines } = virtual();
  screen.frame({ print: ["kept"], rows: ["one"] });
  screen.close();
  expect(written.at(-1)).toBe("\u001b[?25h");
  expect(await lines()).toEqual(["kept"]);
  screen.close();
  expect(written).toEqual([]);
});
