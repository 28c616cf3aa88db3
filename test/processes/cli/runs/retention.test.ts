import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expireRuns } from "../../../../src/cli/launch/retention.ts";
import { createCrew } from "../../../../src/crew.ts";
import { createFolderStore } from "../../../../src/runtime/store/folder-store.ts";
import { tempFolder } from "../../../support/temp-folder.ts";
import { place, script } from "../../command.ts";

const DAY = 24 * 60 * 60 * 1_000;
const [OLD, YOUNG, OPEN] = ["run_old000000000", "run_young0000000", "run_open00000000"];

/** Runs that ended 40 and 20 days ago, and one that has not ended. */
async function withRuns(state: string): Promise<() => Promise<string[]>> {
  const store = createFolderStore(state);
  const record = async (run: string, days: number, ends: boolean): Promise<void> => {
    const journal = await store.open(run, { kept: () => {}, lost: () => {} });
    const common = { seq: 1, run, path: "", at: Date.now() - days * DAY };
    const outcome = { status: "ok", output: "old" } as const;
    journal.append(
      ends ? { ...common, type: "run.ended", outcome } : { ...common, type: "run.paused", reason: "later" },
    );
    await journal.close();
  };
  await record(OLD, 40, true);
  await record(YOUNG, 20, true);
  await record(OPEN, 40, false);
  return async () => (await store.list()).filter((run) => [OLD, YOUNG, OPEN].includes(run)).toSorted();
}

test("old runs are deleted at most once a day, and only after one announcement", async () => {
  const state = tempFolder();
  const left = await withRuns(state);
  const crew = createCrew({ cwd: state, home: state, discover: false, env: {} });
  const said: string[] = [];
  const now = Date.now();
  const look = (more: object = {}): Promise<void> => expireRuns(crew, { state, now, ...more });
  const say = (line: string): void => void said.push(line);
  await look();
  await look({ say });
  await look({ say });
  expect(said).toHaveLength(1);
  expect(said[0]).toContain("deleted 30 days after they ended");
  expect(await left()).toEqual([OLD, OPEN, YOUNG]);
  await look({ now: now + 2 * DAY });
  expect(await left()).toEqual([OPEN, YOUNG]);
});

test("a clock that jumps for a while deletes no runs, and does not stop later checks", async () => {
  const state = tempFolder();
  const left = await withRuns(state);
  const crew = createCrew({ cwd: state, home: state, discover: false, env: {} });
  const now = Date.now();
  const look = (days: number): Promise<void> =>
    expireRuns(crew, { state, now: now + days * DAY, say: () => undefined });
  for (const days of [0, 400, 400.5, 0.1, -1.5, 9_000, 0.2]) {
    await look(days);
    expect(await left()).toEqual([OLD, OPEN, YOUNG]);
  }
  await look(1.3);
  expect(await left()).toEqual([OPEN, YOUNG]);
  // A machine that was off for a month: the second check deletes.
  await look(31);
  expect(await left()).toEqual([OPEN, YOUNG]);
  await look(62);
  expect(await left()).toEqual([OPEN]);
});

test("a person who stops a run with Ctrl-C does not wait until old runs are deleted", async () => {
  const at = place({ "a.json": script({ delayMs: 600_000, text: "never" }) });
  const left = await withRuns(at.env["SUBCREW_HOME"]!);
  expect((await at.run(["config", "set", "runs.keepDays", "10"])).code).toBe(0);
  const { child, ended, until } = at.start(["run", "general", "x", "--model", "scripted:a.json", "--json"]);
  await until('"turn.started"');
  child.kill("SIGINT");
  expect(await ended).toMatchObject({ code: 130 });
  expect(await left()).toEqual([OLD, OPEN, YOUNG]);
});

test("the settings limit how long runs are kept, and settings of a newer version are refused", async () => {
  const at = place({ "a.json": script("done") });
  const state = at.env["SUBCREW_HOME"]!;
  const left = await withRuns(state);
  const go = ["run", "general", "x", "--model", "scripted:a.json"];
  expect((await at.run(["config", "set", "runs.keepDays", "0"])).code).toBe(0);
  expect((await at.run(go)).code).toBe(0);
  expect(existsSync(join(state, "retention.json"))).toBe(false);
  expect((await at.run(["config", "set", "runs.keepDays", "10"])).code).toBe(0);
  expect((await at.run(go)).code).toBe(0);
  expect(await left()).toEqual([OPEN]);
  writeFileSync(join(state, "config.yaml"), "version: 2\nmodel: x\n");
  const newer = await at.run(go);
  expect(newer).toMatchObject({ code: 2 });
  expect(newer.stderr).toMatch(/config\.yaml:1: The settings were written for a newer version of subcrew/);
});
