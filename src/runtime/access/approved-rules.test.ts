import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { exactRule } from "../../core/rules/rule.ts";
import { openKeptRules } from "./approved-rules.ts";

const home = mkdtempSync(join(tmpdir(), "subcrew-rules-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

test("a permanent approval applies in its scope, and only to the call that was shown", async () => {
  const rules = openKeptRules(home);
  await rules.keep([exactRule("bash", "npm test")], "project", "/a");
  await rules.keep([exactRule("bash", "npm test"), exactRule("write_file", "x.txt")], "user", "/a");
  await rules.keep([{ tool: "bash" }], "user", "/a");
  expect(await rules.read("/b")).toEqual(["bash(=npm test)", "write_file(=x.txt)"]);
  expect(await rules.read("/a")).toEqual(["bash(=npm test)", "write_file(=x.txt)", "bash(=npm test)"]);
  expect(statSync(join(home, "rules.json")).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(home, "rules.json"), "utf8")).not.toContain('"bash"');
});

test("unreadable rules and rules for a whole tool are ignored", async () => {
  writeFileSync(join(home, "rules.json"), JSON.stringify({ user: ["bash", "no_such_tool(x)", 7, "bash(=ls)"] }));
  expect(await openKeptRules(home).read("/a")).toEqual(["bash(=ls)"]);
  writeFileSync(join(home, "rules.json"), "{");
  expect(await openKeptRules(home).read("/a")).toEqual([]);
});
