import { afterEach, expect, test } from "vitest";
import { createFolderStore } from "../../../../src/runtime/store/folder-store.ts";
import { needs, needsTimeout } from "../../../needs.ts";
import { type Place, place } from "../../command.ts";
import { type Terminal, terminal } from "../../terminal.ts";

const HOUR = 60 * 60 * 1_000;

/** Records `count` runs that ended this long ago; returns the ids of the runs that are left. */
async function record(there: Place, count: number, ageMs: number): Promise<() => Promise<readonly string[]>> {
  const store = createFolderStore(there.env["SUBCREW_HOME"]!);
  for (let number = 0; number < count; number++) {
    const run = `run_${String(number).padStart(12, "0")}`;
    const journal = await store.open(run, { kept: () => {}, lost: () => {} });
    const outcome = { status: "ok", output: "old" } as const;
    journal.append({ seq: 1, run, path: "", at: Date.now() - ageMs, type: "run.ended", outcome });
    await journal.close();
  }
  return () => store.list();
}

let open: Terminal | undefined;
afterEach(() => {
  open?.close();
  open = undefined;
});

test.each([
  [["--older-than", "5"], "5s", "5d"],
  [["--max-size", "30"], "30MB", "30GB"],
])("gc %j is refused with both readings, and deletes nothing", async ([flag, number], one, other) => {
  const there = place();
  const left = await record(there, 1, 48 * HOUR);
  const { code, stderr } = await there.run(["gc", flag!, number!, "--yes"]);
  expect(code).toBe(2);
  expect(stderr).toContain(`${flag} ${one} or ${flag} ${other}`);
  expect(await left()).toHaveLength(1);
});

test.each([
  ["a run that ended an hour ago, by age", 1, HOUR, ["--older-than", "5m"]],
  ["a run that ended an hour ago, by size", 1, HOUR, ["--max-size", "1B"]],
  ["eleven old runs", 11, 48 * HOUR, ["--older-than", "1d"]],
])("without a terminal, gc deletes %s only with --yes", async (_, count, ageMs, flags) => {
  const there = place();
  const left = await record(there, count, ageMs);
  const refused = await there.run(["gc", ...flags]);
  expect([refused.code, refused.stdout]).toEqual([2, ""]);
  expect(refused.stderr).toMatch(new RegExp(`Delete ${count} run[^]*--yes`));
  expect(await left()).toHaveLength(count);
  expect((await there.run(["gc", ...flags, "--yes"])).code).toBe(0);
  expect(await left()).toEqual([]);
});

test("gc deletes ten runs that are older than a day without a question", async () => {
  const there = place();
  const left = await record(there, 10, 25 * HOUR);
  expect((await there.run(["gc", "--older-than", "1d"])).code).toBe(0);
  expect(await left()).toEqual([]);
});

test(
  "at a terminal, gc asks before it deletes a run of today",
  async (context) => {
    const tmux = await needs("tmux");
    if (tmux.missing !== undefined) return context.skip(tmux.missing);
    const there = place();
    const left = await record(there, 1, HOUR);
    for (const [key, code, count] of [
      ["n", 2, 1],
      ["y", 0, 0],
    ] as const) {
      open = terminal(tmux.path, there, ["gc", "--older-than", "5m"]);
      await open.until("Delete 1 run, among them 1 less than a day old?");
      open.keys(key, "Enter");
      await open.until(`[exit ${code}]`);
      expect(await left()).toHaveLength(count);
      open.close();
    }
  },
  needsTimeout,
);
