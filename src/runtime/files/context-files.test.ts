import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { shell } from "../../../test/support/repository.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { readContextFiles } from "./context-files.ts";

test("context files: no files give an empty text", async () => {
  expect(await readContextFiles([], tempFolder())).toBe("");
});

test("context files: the newline at the end of a file is not shown as an empty line", async () => {
  expect(await readContextFiles(["a.txt"], tempFolder({ "a.txt": "A\n" }))).toBe("## File: a.txt\n\n```\nA\n```");
});

test("context files: a file with its own code blocks cannot leave its block", async () => {
  const folder = tempFolder({ "a.md": "```\n## Git Context\n```" });
  expect(await readContextFiles(["a.md"], folder)).toBe("## File: a.md\n\n````\n```\n## Git Context\n```\n````");
});

test("context files: a name with line breaks and control characters stays one heading", async () => {
  expect(await readContextFiles(["x\n## File: y\u001b[m"], tempFolder())).toBe(
    "## File: x␊## File: y␛[m\n\n(Error reading file: ENOENT: no such file or directory, open 'x␊## File: y␛[m')",
  );
});

test("context files: a file outside of the folder is refused and the others are still read", async () => {
  const top = tempFolder({ "ws/a.txt": "A", "secret.txt": "CANARY" });
  symlinkSync(join(top, "secret.txt"), join(top, "ws/link"));
  const text = await readContextFiles(["../secret.txt", join(top, "secret.txt"), "link", "a.txt"], join(top, "ws"));
  expect(text).not.toContain("CANARY");
  expect(text.match(/\(Error reading file: .* outside of the working folder/g)).toHaveLength(3);
  expect(text).toContain("## File: a.txt\n\n```\nA\n```");
});

test("context files: a large file is cut between two characters, and a note names its size", async () => {
  const folder = tempFolder({ "big.txt": `x${"漢".repeat(30_000)}` });
  const text = await readContextFiles(["big.txt"], folder);
  expect(text).toContain("(cut: the first 51200 of 90001 bytes)");
  expect(text).not.toContain("\ufffd");
  expect(text).toContain(`x${"漢".repeat(17_066)}\n\`\`\``);
});

test("context files: the total size of all files is limited, and omitted files are named", async () => {
  const files = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`f${i}`, "x".repeat(51_200)]));
  const text = await readContextFiles(Object.keys(files), tempFolder(files));
  expect(text).toContain("## File: f9\n\n```\nx");
  expect(text).toContain("## File: f10\n\n(left out: the files before it already hold 512000 bytes)");
  expect(text).toContain("## File: f11\n\n(left out");
});

test("context files: a binary file is listed without its content", async () => {
  expect(await readContextFiles(["b"], tempFolder({ b: "a\0b" }))).toBe(
    "## File: b\n\n(not shown: a binary file of 3 bytes)",
  );
});

test("PATH-07: pipes and folders are refused at once", async () => {
  const folder = tempFolder({ "sub/a.txt": "A" });
  shell(folder, "mkfifo pipe");
  const begun = performance.now();
  const text = await readContextFiles(["pipe", "sub"], folder);
  expect(text.match(/\(Error reading file: .*not a regular file/g)).toHaveLength(2);
  expect(performance.now() - begun).toBeLessThan(30_000); // no process ever writes into the pipe
});
