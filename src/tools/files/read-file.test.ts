import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callTool } from "../../../test/support/call-tool.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES } from "../../core/text/cut.ts";
import { readFile } from "./read-file.ts";

test("read_file shows lines with their numbers", async () => {
  const cwd = tempFolder({ "a.ts": "one\ntwo\r\n\nfour" });
  expect(await callTool(readFile, cwd, { path: "a.ts" })).toEqual("1\tone\n2\ttwo\n3\t\n4\tfour");
});

test("read_file shows a part from an offset, with the offset of the next part", async () => {
  const cwd = tempFolder({ "a.ts": "1\n2\n3\n4\n5\n" });
  expect(await callTool(readFile, cwd, { path: "a.ts", offset: 2, limit: 2 })).toEqual(
    "2\t2\n3\t3\n[more lines follow: call read_file with offset 4]",
  );
  expect(await callTool(readFile, cwd, { path: "a.ts", offset: 4, limit: 2 })).toEqual("4\t4\n5\t5");
});

test("one call of read_file shows at most 2,000 lines, including the line with the next offset", async () => {
  const cwd = tempFolder({ "a.txt": "x\n".repeat(2_001) });
  const text = await callTool(readFile, cwd, { path: "a.txt" });
  expect(text.split("\n")).toHaveLength(MAX_OUTPUT_LINES);
  expect(text).toMatch(/\n1999\tx\n\[more lines follow: call read_file with offset 2000\]$/);
  expect(await callTool(readFile, cwd, { path: "a.txt", offset: 2 })).toMatch(/^2\tx\n[^]*\n2001\tx$/);
});

test("one call of read_file shows 50 KB at most", async () => {
  const cwd = tempFolder({ "a.txt": `${"ä".repeat(500)}\n`.repeat(100) });
  const text = await callTool(readFile, cwd, { path: "a.txt" });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_OUTPUT_BYTES);
  expect(text).toMatch(/call read_file with offset 51\]$/);
});

test("read_file never cuts a long line inside of a character", async () => {
  const cwd = tempFolder({ "a.txt": `${"x".repeat(1_999)}äöü\nnext\n` });
  expect(await callTool(readFile, cwd, { path: "a.txt" })).toEqual(
    `1\t${"x".repeat(1_999)} [line cut: 5 more bytes]\n2\tnext`,
  );
});

test("read_file joins a line that spans several chunks of a file", async () => {
  const cwd = tempFolder({ "a.txt": `${"x".repeat(200_000)}\nnext` });
  expect(await callTool(readFile, cwd, { path: "a.txt", offset: 2 })).toEqual("2\tnext");
});

test("read_file does not show a byte order mark, and reports an empty file", async () => {
  const cwd = tempFolder({ "bom.txt": "\ufeffone\n", "empty.txt": "" });
  expect(await callTool(readFile, cwd, { path: "bom.txt" })).toEqual("1\tone");
  expect(await callTool(readFile, cwd, { path: "empty.txt" })).toEqual("[the file is empty]");
});

test.each([
  ["logo.png", '"logo.png" is a binary file of 3 bytes: only text files can be read'],
  ["src", '"src" is a folder: use list_files to see what is in it'],
  ["src/mian.ts", '"src/mian.ts" does not exist. Similar names in "src": main.ts'],
  ["src/main.js", '"src/main.js" does not exist. Similar names in "src": main.ts, main.test.ts'],
  ["scr/main.ts", '"scr/main.ts" does not exist. Similar names in the working folder: src'],
  ["zzz", '"zzz" does not exist. Entries of the working folder: logo.png, out@, src/'],
  ["../x", '"../x" is outside of the working folder: use a path inside it'],
  ["out/x", '"out/x" is a symbolic link that is broken or points outside of the working folder'],
  ["a\0b", '"a␀b" contains a NUL character, which no file name can have'],
])("read_file with %j gets an error message", async (path, sentence) => {
  const cwd = tempFolder({ "logo.png": "a\0b", "src/main.ts": "", "src/main.test.ts": "", "src/zebra.ts": "" });
  symlinkSync("/", join(cwd, "out"));
  await expect(callTool(readFile, cwd, { path })).rejects.toThrow(sentence.replace("out@", "out"));
});

test("read_file with an offset behind the end says how long the file is", async () => {
  const cwd = tempFolder({ "a.txt": "one\n" });
  await expect(callTool(readFile, cwd, { path: "a.txt", offset: 5 })).rejects.toThrow(
    '"a.txt" has only 1 line: use a smaller offset than 5',
  );
});

test("PATH-07: a pipe does not block read_file", async () => {
  const cwd = tempFolder();
  execFileSync("mkfifo", [join(cwd, "pipe")]);
  await expect(callTool(readFile, cwd, { path: "pipe" })).rejects.toThrow("not a regular file");
});

test("read_file reads a file larger than any memory limit in pieces", async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "big.txt"), "y".repeat(20_000_000));
  const before = process.memoryUsage().arrayBuffers;
  expect(await callTool(readFile, cwd, { path: "big.txt" })).toMatch(/y \[line cut: 19998000 more bytes\]$/);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(15_000_000);
});
