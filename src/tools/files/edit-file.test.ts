import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { callTool } from "../../../test/support/call-tool.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { ABSENT } from "../../core/run/file-version.ts";
import type { CallAccess, Tool, ToolContext } from "../../core/task/tool.ts";
import { deleteFile } from "./delete-file.ts";
import { editFile } from "./edit-file.ts";
import { moveFile } from "./move-file.ts";
import { readFile } from "./read-file.ts";
import { writeFile } from "./write-file.ts";

const text = "one\ntwo\nthree\ntwo\nfour\n";

async function edit(cwd: string, input: object, more: Partial<ToolContext> = {}): Promise<string> {
  return callTool(editFile, cwd, { path: "a.txt", ...input }, more).catch(
    (error: unknown) => `failed: ${(error as Error).message}`,
  );
}

test("edit_file replaces a text that occurs once, and shows the diff", async () => {
  const cwd = tempFolder({ "a.txt": text });
  expect(await edit(cwd, { oldText: "three", newText: "3\n3b" })).toBe(
    [
      'Changed "a.txt".',
      "--- a.txt",
      "+++ a.txt",
      "@@ -1,5 +1,6 @@",
      " one",
      " two",
      "-three",
      "+3",
      "+3b",
      " two",
      " four",
    ].join("\n"),
  );
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\ntwo\n3\n3b\ntwo\nfour\n");
});

test("edit_file needs more context, or replaceAll, for a text that occurs several times", async () => {
  const cwd = tempFolder({ "a.txt": text });
  expect(await edit(cwd, { oldText: "two", newText: "2" })).toBe(
    'failed: oldText is in "a.txt" 2 times, at lines 2, 4: give more of the text around the one you mean, or set replaceAll',
  );
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe(text);
  expect(await edit(cwd, { oldText: "two", newText: "$&2", replaceAll: true })).toContain("+$&2");
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\n$&2\nthree\n$&2\nfour\n");
});

test("edit_file reports a text that does not occur, with the nearest lines", async () => {
  const cwd = tempFolder({
    "a.txt": "function add(a, b) {\n  return a + b;\n}\n\nfunction sub(a, b) {\n  return a - b;\n}\n",
  });
  expect(await edit(cwd, { oldText: "function add(a,b) {", newText: "x" })).toBe(
    'failed: oldText is not in "a.txt". The most similar lines:\nline 1: function add(a, b) {\nline 5: function sub(a, b) {\nRead the file and copy the text exactly',
  );
  expect(await edit(cwd, { oldText: "function sub(a, b) {\nreturn a - b;\n}", newText: "x" })).toBe(
    'failed: oldText is not in "a.txt". The text at line 5 differs only in whitespace or line endings: read the file and copy it exactly',
  );
  expect(await edit(cwd, { oldText: "nothing of the kind", newText: "x" })).toBe(
    'failed: oldText is not in "a.txt", and neither is similar text: read the file first',
  );
});

test("edit_file matches and keeps line ends of another system", async () => {
  const cwd = tempFolder({ "a.txt": "one\r\ntwo\r\nthree\r\n" });
  await edit(cwd, { oldText: "one\ntwo", newText: "1\n2\n2b" });
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("1\r\n2\r\n2b\r\nthree\r\n");
});

test("edit_file keeps the permissions of a file, and leaves nothing else in the folder", async () => {
  const cwd = tempFolder({ "a.txt": text });
  chmodSync(join(cwd, "a.txt"), 0o750);
  await edit(cwd, { oldText: "one", newText: "1" });
  expect(statSync(join(cwd, "a.txt")).mode & 0o777).toBe(0o750);
});

test("edit_file refuses binary files, folders, missing files and edits that change nothing, with a message", async () => {
  const cwd = tempFolder({ "a.txt": text, "b.bin": "a\0b", "src/x": "x" });
  expect(await edit(cwd, { path: "b.bin", oldText: "a", newText: "b" })).toContain("is a binary file");
  expect(await edit(cwd, { path: "src", oldText: "a", newText: "b" })).toContain("is a folder");
  expect(await edit(cwd, { path: "a.tx", oldText: "a", newText: "b" })).toContain(
    "Similar names in the working folder: a.txt",
  );
  expect(await edit(cwd, { oldText: "one", newText: "one" })).toContain("nothing would change");
});

test("edit_file tries its change on the new text of a file that another process changed since it was read", async () => {
  const cwd = tempFolder({ "a.txt": text });
  const access: CallAccess = {
    judged: [{ kind: "path", places: ["a.txt"], change: true }],
    closedIn: () => ({}),
    placeOf: (absolute) => absolute.slice(cwd.length + 1),
    check: () => ({ decision: "allow", rule: "", why: "", hint: "" }),
    roots: [],
    seen: new Map(),
  };
  await callTool(readFile, cwd, { path: "a.txt" }, { access });
  expect(await edit(cwd, { oldText: "one", newText: "1" }, { access })).toContain("Changed");
  // the agent's own change does not count as a change by another process
  expect(await edit(cwd, { oldText: "1", newText: "uno" }, { access })).toContain("Changed");
  writeFileSync(join(cwd, "a.txt"), `${text}five\n`);
  expect(await edit(cwd, { oldText: "uno", newText: "1" }, { access })).toMatch(
    /^failed: "a.txt" was changed by another process since you read it: read it again, then repeat the change\. In its new text, oldText/,
  );
  expect(await edit(cwd, { oldText: "one", newText: "1" }, { access })).toMatch(
    /^Changed "a.txt"\. Another process had changed the file since you read it/,
  );
  // the agent knows only its own passage of the new text, so it must read the file before it writes all of it
  await expect(callTool(writeFile, cwd, { path: "a.txt", content: text }, { access })).rejects.toThrow("read it again");
  await callTool(readFile, cwd, { path: "a.txt" }, { access });
  expect(await callTool(writeFile, cwd, { path: "a.txt", content: text }, { access })).toContain("Wrote");
});

describe("a file that another process changes while a tool changes it", () => {
  /** Access with a recorder that, at each of these moments just before the change, writes the file itself. */
  const interrupted = (cwd: string, texts: string[]): CallAccess => ({
    judged: [{ kind: "path", places: ["a.txt", "b.txt"], change: true }],
    closedIn: () => ({}),
    placeOf: () => "a.txt",
    check: () => ({ decision: "allow", rule: "", why: "", hint: "" }),
    roots: [],
    seen: new Map(),
    changes: {
      keep: async () => ABSENT,
      version: async () => ABSENT,
      record: async () => {
        const next = texts.shift();
        if (next !== undefined) writeFileSync(join(cwd, "a.txt"), next);
      },
    },
  });
  const justNow = '"a.txt" was changed by another process just now: read it again, then repeat the change';

  test("is edited in its new text; after a second change, the edit is refused", async () => {
    const cwd = tempFolder({ "a.txt": text });
    const change = { oldText: "one", newText: "1" };
    expect(await edit(cwd, change, { access: interrupted(cwd, [`${text}five\n`]) })).toContain("Changed");
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe(`${text.replace("one", "1")}five\n`);
    const twice = interrupted(cwd, [`${text}six\n`, `${text}seven\n`]);
    expect(await edit(cwd, { oldText: "three", newText: "3" }, { access: twice })).toBe(`failed: ${justNow}`);
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe(`${text}seven\n`);
    expect(readdirSync(cwd)).toEqual(["a.txt"]);
  });

  test.each<[string, Tool, object]>([
    ["overwritten", writeFile, { path: "a.txt", content: "mine" }],
    ["deleted", deleteFile, { path: "a.txt" }],
    ["replaced", moveFile, { from: "b.txt", to: "a.txt", overwrite: true }],
  ])("is not %s", async (_, tool, input) => {
    const cwd = tempFolder({ "a.txt": text, "b.txt": "b" });
    const access = interrupted(cwd, ["theirs\n"]);
    await expect(callTool(tool, cwd, input, { access })).rejects.toThrow(justNow);
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("theirs\n");
  });
});

test("edit_file also searches a large file for the nearest lines", async () => {
  const cwd = tempFolder({ "a.txt": Array.from({ length: 60_000 }, (_, n) => `line number ${n} of many`).join("\n") });
  expect(await edit(cwd, { oldText: "line nmber 777 of mny", newText: "x" })).toContain(
    "line 778: line number 777 of many",
  );
});
