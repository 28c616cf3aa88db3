import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { showOnlyVisible } from "./visible-output.ts";

test("invisible characters are removed from text that is written to a terminal; bytes and escape sequences are written unchanged", async () => {
  const got: string[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => {
      got.push(chunk.toString());
      done();
    },
  });
  showOnlyVisible(stream);
  await new Promise<void>((resolve) =>
    stream.write("\u001b[1mpa\u200bss\u{e0041}word 👩‍💻\u001b[0m\n", () => resolve()),
  );
  stream.write(Buffer.from("a\u200bb"));
  expect(got).toEqual(["\u001b[1mpassword 👩‍💻\u001b[0m\n", "a\u200bb"]);
});

test("sequences that the screens do not use are removed from text for a terminal, also in parts", () => {
  const got: string[] = [];
  const stream = { write: (text: string): boolean => got.push(text) > 0 };
  showOnlyVisible(stream);
  const foreign = [
    "]52;c;aGk=\u0007",
    "]0;t\u0007",
    "]2;t\u001b\\",
    "]8;;http://x\u0007",
    "P1$r\u001b\\",
    "[6n",
    "[21t",
    "[>c",
    "c",
    "_x\u001b\\",
  ];
  for (const sequence of foreign) stream.write(`a\u001b${sequence}b`);
  for (const sequence of ["\u009b6n", "\u009d52;c;aGk=\u009c", "\u0000", "\u0005", "\u007f"])
    stream.write(`a${sequence}b`);
  expect(new Set(got)).toEqual(new Set(["ab"]));
  got.length = 0;
  stream.write("\u001b");
  stream.write("]52;c;aGk=\u0007");
  expect(got.join("")).not.toContain("\u001b");
});

test("what the screens write arrives unchanged", () => {
  const got: string[] = [];
  const stream = { write: (text: string): boolean => got.push(text) > 0 };
  showOnlyVisible(stream);
  const own =
    "\u001b[?2026h\u001b[?1049h\u001b[22;0t\u001b]2;2 need you \u00b7 subcrew\u0007\u001b[3;1H\u001b[1;32mx\u001b[0m\u001b[K\u001b[2J\u001b[4A\r\u001b[2C\u001b[?25h";
  stream.write(own);
  expect(got).toEqual([own]);
});
