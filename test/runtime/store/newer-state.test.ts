import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { KeptEvent } from "../../../src/core/run/event.ts";
import { createCrew } from "../../../src/crew.ts";
import { openTrust } from "../../../src/runtime/settings/trust.ts";
import { createFolderStore } from "../../../src/runtime/store/folder-store.ts";
import { encodeLine } from "../../support/encode-line.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const RUN = "run_newer0000000";
const plan = { nodes: { a: { kind: "task", task: { prompt: "x" } } }, output: "a" };

test("a run that a newer version recorded is not resumed, and is shown as unreadable", async () => {
  const home = tempFolder();
  const folder = createFolderStore(home).place(RUN);
  mkdirSync(folder, { recursive: true });
  const first = { seq: 1, run: RUN, path: "", at: 0, type: "run.started", plan, cwd: "/", version: "9.0.0", format: 2 };
  writeFileSync(join(folder, "journal.jsonl"), encodeLine(first as unknown as KeptEvent, 1));
  const crew = createCrew({ cwd: home, home, discover: false, env: {} });
  await expect(crew.resume(RUN)).rejects.toMatchObject({ code: "BAD_FILE", message: expect.stringMatching(/newer/) });
  expect(await crew.kept.look(RUN)).toMatchObject({ life: "damaged", problems: [expect.stringMatching(/newer/)] });
});

test("a trust file of a newer version is refused, and a trust file of 0.1 is read", () => {
  const grant = { at: 1, files: {} };
  const file = (version: number): string =>
    join(tempFolder({ "trust.json": JSON.stringify({ version, projects: { "/p": grant } }) }), "trust.json");
  expect(() => openTrust(file(2))).toThrow(expect.objectContaining({ code: "BAD_FILE" }));
  expect(() => openTrust(file(1)).list()).not.toThrow();
});
