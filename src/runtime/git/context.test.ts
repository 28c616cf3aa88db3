import { expect, test } from "vitest";
import { repository } from "../../../test/support/repository.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { buildContext } from "./context.ts";

test("the context of a run is empty when none is requested", async () => {
  expect(await buildContext(tempFolder(), {})).toBe("");
  expect(await buildContext(tempFolder(), { context: "  ", contextFiles: [], gitContext: {} })).toBe("");
});

test("git context is off unless it is requested", async () => {
  expect(await buildContext(repository(), { context: "A" })).toBe("A");
});

test("the parts of a run's context are separated by horizontal rules", async () => {
  const folder = repository("echo hi > new.txt");
  expect(await buildContext(folder, { context: "U", contextFiles: ["new.txt"], gitContext: true })).toBe(
    "U\n\n---\n\n## File: new.txt\n\n```\nhi\n```\n\n---\n\n" +
      "## Git Context\n\n**Branch:** main\n\n**Git Status:**\n```\n?? new.txt\n```",
  );
});

test("a missing folder is reported in the context of a run, not thrown", async () => {
  expect(await buildContext("/nowhere/at/all", { contextFiles: ["a"], gitContext: true })).toBe(
    "## File: a\n\n(Error reading file: ENOENT: no such file or directory, open 'a')\n\n---\n\n(not a git repository)",
  );
});
