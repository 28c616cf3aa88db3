import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { closeFile } from "./print-result.ts";

test.each([
  ["ENOSPC", "the disk is full"],
  ["EDQUOT", "your share of the disk is full"],
  ["EFBIG", "the file would become larger than allowed"],
])("a file that cannot be written to its end is an error with the reason: %s", async (code, reason) => {
  const target = new Writable({ write: (_, __, done) => done(Object.assign(new Error("write"), { code })) });
  target.on("error", () => {});
  const expected = { code: "OUTPUT_UNWRITABLE", message: `"a.txt" cannot be written: ${reason}.` };
  target.write("x");
  // the error occurs while the remaining text is written
  await expect(closeFile(target, "a.txt")).rejects.toMatchObject(expected);
  await expect(closeFile(target, "a.txt")).rejects.toMatchObject(expected); // the error has already occurred
});
