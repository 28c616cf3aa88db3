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
