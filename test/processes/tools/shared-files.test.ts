import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Place, place, script } from "../command.ts";

const LINES = 12;
const lines = (name: string): string[] => Array.from({ length: LINES }, (_, at) => `${name} line ${at}`);
const edits = (name: string) =>
  lines(name).map((line) => ({
    calls: [{ name: "edit_file", input: { path: "a.txt", oldText: `${line}.`, newText: `${line} is done.` } }],
  }));
const files = {
  "a.txt": `${[...lines("first"), ...lines("second")].join(".\n")}.\n`,
  "first.json": script(...edits("first"), "done"),
  "second.json": script(...edits("second"), "done"),
};
const edit = (name: string): string[] => [
  ...["run", "general", "x", "--permission-mode", "acceptEdits"],
  ...["--model", `scripted:${name}.json`],
];
const locksOf = (at: Place): string[] => {
  const folder = join(at.env["SUBCREW_HOME"]!, "locks");
  return existsSync(folder) ? readdirSync(folder) : [];
};

test("two processes that change one file at the same time keep all changes", async () => {
  const at = place(files);
  const both = await Promise.all([at.start(edit("first")).ended, at.start(edit("second")).ended]);
  expect(both.map(({ code, stderr }) => (code === 0 ? "" : stderr))).toEqual(["", ""]);
  const done = [...lines("first"), ...lines("second")].map((line) => `${line} is done.\n`);
  expect(readFileSync(join(at.workspace, "a.txt"), "utf8")).toBe(done.join(""));
  expect(locksOf(at)).toEqual([]);
});

test("the lock on a file is gone with the process that held it", async () => {
  let at = place(files);
  for (let point = 1; locksOf(at).length === 0; point += 1) {
    at = place(files);
    const { signal } = await at.run(edit("first"), { env: { SUBCREW_FAULT: `kill@journal.synced:${point}` } });
    expect(signal).toBe("SIGKILL");
  }
  const { code, stderr } = await at.run(edit("second"));
  expect(code, stderr).toBe(0);
  const text = readFileSync(join(at.workspace, "a.txt"), "utf8");
  expect(text.match(/second line \d+ is done\./g)).toHaveLength(LINES);
  expect(locksOf(at)).toEqual([]);
});
