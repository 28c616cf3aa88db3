import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { diskWith, note } from "../../../test/support/journal-notes.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { createFolderStore } from "./folder-store.ts";

const full = (): Promise<never> =>
  Promise.reject(Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" }));

test("a new run whose first record cannot be written leaves no folder behind", async () => {
  const home = tempFolder();
  const lost: string[] = [];
  const store = createFolderStore(
    home,
    diskWith(() => ({ write: full })),
  );
  const journal = await store.open("run_aaaaaaaaaaaa", { kept: () => {}, lost: ({ message }) => lost.push(message) });
  journal.append(note(1));
  await journal.close();
  expect(lost).toEqual([expect.stringMatching(/^The run cannot be recorded in .*: ENOSPC/)]);
  expect(readdirSync(join(home, "runs"))).toEqual([]);
});

test("a run that has records keeps them when the disk is full", async () => {
  const home = tempFolder();
  const listener = { kept: (): void => {}, lost: (): void => {} };
  const first = await createFolderStore(home).open("run_aaaaaaaaaaaa", listener);
  first.append(note(1));
  await first.close();
  const again = await createFolderStore(
    home,
    diskWith(() => ({ write: full })),
  ).open("run_aaaaaaaaaaaa", listener);
  again.append(note(2));
  await again.close();
  expect(existsSync(join(home, "runs/run_aaaaaaaaaaaa/journal.jsonl"))).toBe(true);
});

test("a home that cannot be written is an error of the run, also when its agents are stored first", async () => {
  const home = join(tempFolder(), "file");
  writeFileSync(home, "");
  await expect(createFolderStore(home).keepAgents("run_aaaaaaaaaaaa", new Map([["a", "text"]]))).rejects.toMatchObject({
    code: "STATE_UNWRITABLE",
  });
});
