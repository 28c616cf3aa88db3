import { expect, test } from "vitest";
import { Screen } from "./screen.ts";

function recorder(columns = 20) {
  const written: string[] = [];
  const terminal = { columns, rows: 5, write: (text: string) => written.push(text) };
  return { written, terminal, take: () => written.splice(0).join("") };
}

test("only lines that changed are written again", () => {
  const { terminal, take } = recorder();
  const screen = new Screen(terminal);
  screen.draw(["one", "two"]);
  expect(take()).toBe("\u001b[?25l\rone\u001b[K\ntwo\u001b[K\n");
  screen.draw(["one", "2"]);
  expect(take()).toBe("\u001b[2A\r\n2\u001b[K\n");
});

test("nothing is written when nothing changed", () => {
  const { terminal, written, take } = recorder();
  const screen = new Screen(terminal);
  screen.draw(["one"]);
  take();
  screen.draw(["one"]);
  expect(written).toEqual([]);
});

test("lines that are gone are erased", () => {
  const { terminal, take } = recorder();
  const screen = new Screen(terminal);
  screen.draw(["one", "two"]);
  take();
  screen.draw(["one"]);
  expect(take()).toBe("\u001b[2A\r\n\u001b[J");
});

test("in a terminal that became narrower, wrapped lines are counted as they are now", () => {
  const { terminal, take } = recorder();
  const screen = new Screen(terminal);
  screen.draw(["a line of 18 chars", "short"]);
  take();
  terminal.columns = 10;
  screen.draw(["short"]);
  expect(take()).toBe("\u001b[3A\r\u001b[J\rshort\u001b[K\n");
});

test("closing shows the cursor again, once", () => {
  const { terminal, take } = recorder();
  const screen = new Screen(terminal);
  screen.draw(["one"]);
  take();
  screen.close();
  expect(take()).toBe("\u001b[1A\r\u001b[J\u001b[?25h");
  screen.close();
  expect(take()).toBe("");
});
