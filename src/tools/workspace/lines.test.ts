import { open } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { linesOf, shown } from "./lines.ts";

const CHUNK = 65_536;

async function linesIn(text: string, from?: number): Promise<{ shown: string[]; last: number }> {
  const file = await open(join(tempFolder({ "a.txt": text }), "a.txt"));
  onTestFinished(() => file.close());
  const found: string[] = [];
  let last = 0;
  for await (const batch of linesOf(file, new AbortController().signal, from)) {
    found.push(...batch.lines.map((line) => `${line.number} ${shown(line)}`));
    last = batch.last;
  }
  return { shown: found, last };
}

test("the lines of a file are the same wherever the chunks of the file end", async () => {
  const piece = fc.constantFrom("a", "ä€😀", "\r", "\n", "\r\n", "\n\n", "x".repeat(700), "y".repeat(CHUNK - 3));
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), fc.integer({ min: 1, max: 6 }), async (pieces, from) => {
      const text = pieces.join("");
      const all = text.split("\n");
      if (all.at(-1) === "") all.pop();
      const expected = all.map((line, at) => {
        const cut = Buffer.byteLength(line) - 2_000;
        if (cut <= 0) return `${at + 1} ${line.replace(/\r$/, "")}`;
        const whole = new TextDecoder().decode(Buffer.from(line).subarray(0, 2_000), { stream: true });
        return `${at + 1} ${whole} [line cut: ${cut} more bytes]`;
      });
      expect(await linesIn(text, from)).toEqual({ shown: expected.slice(from - 1), last: all.length });
    }),
    { numRuns: 40 },
  );
});

test("a byte order mark is not part of the first line of a file, and bytes that are not text are replaced", async () => {
  expect((await linesIn("\ufeffa\n\ufeffb")).shown).toEqual(["1 a", "2 \ufeffb"]);
  expect((await linesIn("\ufeff")).shown).toEqual(["1 "]);
});
