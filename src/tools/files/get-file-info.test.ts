import { chmodSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callTool } from "../../../test/support/call-tool.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { getFileInfo } from "./get-file-info.ts";

test("get_file_info describes a text file, also through a link", async () => {
  const cwd = tempFolder({ "src/a.ts": "one\ntwo\n" });
  chmodSync(join(cwd, "src/a.ts"), 0o640);
  utimesSync(join(cwd, "src/a.ts"), 0, 1_000_000_000);
  symlinkSync("src/a.ts", join(cwd, "link"));
  expect(await callTool(getFileInfo, cwd, { path: "link" })).toEqual(
    [
      "path: src/a.ts",
      "kind: file",
      "size: 8 bytes",
      "content: text, 2 lines",
      "changed: 2001-09-09T01:46:40.000Z",
      "permissions: 640",
    ].join("\n"),
  );
});

test("get_file_info describes a folder and a binary file", async () => {
  const cwd = tempFolder({ "a/x": "", "a/y": "", bin: "\0" });
  expect(await callTool(getFileInfo, cwd, { path: "a" })).toMatch(/^path: a\nkind: folder\nentries: 2\n/);
  expect(await callTool(getFileInfo, cwd, { path: "bin" })).toContain("content: binary");
});

test("get_file_info gives an error for a missing file and for a file outside of the workspace", async () => {
  const cwd = tempFolder({ "read.me": "" });
  await expect(callTool(getFileInfo, cwd, { path: "raed.me" })).rejects.toThrow(
    "Similar names in the working folder: read.me",
  );
  await expect(callTool(getFileInfo, cwd, { path: "/etc/passwd" })).rejects.toThrow("outside");
});
