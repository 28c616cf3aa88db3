import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { historyOf } from "../../src/core/run/history.ts";
import { foldJournal } from "../../src/runtime/store/fold-journal.ts";
import { createFolderStore } from "../../src/runtime/store/folder-store.ts";
import { openJournal } from "../../src/runtime/store/journal.ts";
import { JOURNAL_FILE } from "../../src/runtime/store/layout.ts";
import { encodeLine } from "../support/encode-line.ts";
import { cycles } from "../processes/cycles.ts";
import { contend } from "../processes/runtime/store/owners.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { createProgress, done, partOfTheTime } from "./budget.ts";

/** The number of rounds between two checks of the time. */
const ROUNDS = 100;

const end = { claims: partOfTheTime(1), cycles: partOfTheTime(3) };

test("of two concurrent claims of a run exactly one succeeds, in each round that there is time for", async () => {
  const until = end.claims();
  let rounds = 0;
  do {
    const { winners, busy } = await contend(tempFolder(), ROUNDS);
    expect(winners.filter((won) => won === 1)).toHaveLength(ROUNDS);
    expect(busy).toBe(ROUNDS);
    rounds += ROUNDS;
  } while (performance.now() < until);
  done(`${rounds} rounds of two claims, each with one winner`);
});

test("runs that end, are cancelled or killed leave nothing behind", async () => {
  const until = end.cycles();
  const progress = createProgress();
  const home = tempFolder();
  let rounds = 0;
  do {
    expect(await cycles(ROUNDS, home)).toEqual({ orphans: 0, zombies: 0, descriptors: 0 });
    rounds += ROUNDS;
    progress(() => `${rounds} runs and programs`);
  } while (performance.now() < until);
  done(`${rounds} runs and programs that ended, were cancelled or killed left nothing behind`);
});

test("LOG-09: 10,000 events of 20 MB are resumed within two seconds and 300 MB", async () => {
  const folder = tempFolder();
  const text = "x".repeat(1_900);
  const lines = Array.from({ length: 10_000 }, (_, at) =>
    encodeLine({ seq: at + 1, run: "run_1", path: `task-${at % 100}`, at, type: "note", text }, 1),
  );
  writeFileSync(join(folder, JOURNAL_FILE), lines.join(""));
  const before = process.memoryUsage().rss; // includes memory of earlier tests that was not collected yet
  const began = performance.now();
  const journal = await openJournal(folder, { kept: () => {}, lost: () => {} });
  const history = historyOf(await journal.read());
  const ms = performance.now() - began;
  await journal.close();
  const more = process.memoryUsage().rss - before;
  process.stdout.write(`20 MB: ${Math.round(ms)} ms, ${Math.round(more / 1e6)} MB more\n`);
  expect(history.under("")).toEqual([]);
  expect(ms).toBeLessThan(2_000);
  expect(more).toBeLessThan(300e6);
});

test("LOG-09: 100,000 events of 200 MB are resumed within 15 seconds, and shown with only one piece in memory", async () => {
  const store = createFolderStore(tempFolder());
  const folder = store.place("run_1");
  mkdirSync(folder, { recursive: true });
  const file = openSync(join(folder, JOURNAL_FILE), "w");
  const text = "x".repeat(1_900);
  for (let at = 0; at < 100_000; at++)
    writeSync(file, encodeLine({ seq: at + 1, run: "run_1", path: `task-${at % 100}`, at, type: "note", text }, 1));
  closeSync(file);
  const before = process.memoryUsage().rss;
  expect(await foldJournal("run_1", store.read("run_1"))).toMatchObject({ state: { seq: 100_000 } });
  const looked = process.memoryUsage().rss - before;
  const began = performance.now();
  const journal = await openJournal(folder, { kept: () => {}, lost: () => {} });
  const history = historyOf(await journal.read());
  const ms = performance.now() - began;
  await journal.close();
  process.stdout.write(
    `200 MB: looked at with ${Math.round(looked / 1e6)} MB more, taken up in ${Math.round(ms)} ms\n`,
  );
  expect(history.under("")).toEqual([]);
  expect(looked).toBeLessThan(150e6);
  expect(ms).toBeLessThan(15_000);
});
