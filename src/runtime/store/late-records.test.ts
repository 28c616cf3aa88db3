import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { encodeLine } from "../../../test/support/encode-line.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import { keptRuns } from "../background/stored-runs.ts";
import { createFolderStore } from "./folder-store.ts";
import { JOURNAL_FILE, runFolder } from "./layout.ts";

const RUN = "run_aaaaaaaaaaaa";
const event = (seq: number, part: object): KeptEvent =>
  ({ run: RUN, path: "", at: 1, seq, ...part }) as unknown as KeptEvent;
const started = event(1, { type: "run.started", plan: { nodes: {}, output: "a" }, cwd: "/", version: "0.1.0" });
const paused = (seq: number): KeptEvent => event(seq, { type: "run.paused", reason: "later" });
const noted = (seq: number, text: string): KeptEvent => event(seq, { type: "note", text });
const ended = (seq: number): KeptEvent => event(seq, { type: "run.ended", outcome: { status: "ok", output: "late" } });
const result = (seq: number, reuse: string): KeptEvent =>
  event(seq, { type: "agent.resolved", path: "a", agent: "a", hash: "h", model: "m", reuse });

type Written = readonly (readonly [event: KeptEvent, epoch: number])[];

/** Writes a journal whose records are from these owners. `claims`: whether the files about the owners are there. */
function stored(records: Written, claims = false): RunStore {
  const home = tempFolder();
  const folder = runFolder(home, RUN);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, JOURNAL_FILE), records.map(([one, epoch]) => encodeLine(one, epoch)).join(""));
  if (claims) for (const [, epoch] of records) writeFileSync(join(folder, `released.${epoch}.json`), "{}");
  utimesSync(folder, 1, 1);
  return createFolderStore(home);
}

const big = noted(4, "x".repeat(3_000_000));

describe.each([
  [
    "small",
    [
      [started, 1],
      [paused(2), 2],
      [ended(2), 1],
      [ended(3), 1],
    ],
    false,
  ],
  [
    "with claims",
    [
      [started, 1],
      [paused(2), 2],
      [ended(2), 1],
    ],
    true,
  ],
  [
    "long",
    [
      [started, 1],
      [noted(2, "a"), 1],
      [noted(3, "b"), 2],
      [big, 2],
      [paused(5), 2],
      [ended(3), 1],
    ],
    false,
  ],
  [
    "long at the end",
    [
      [started, 1],
      [paused(2), 2],
      [noted(2, "x".repeat(3_000_000)), 1],
      [ended(3), 1],
    ],
    true,
  ],
] as readonly (readonly [string, Written, boolean])[])(
  "a journal (%s) that ends with late records of a former owner",
  (_, records, claims) => {
    test("is that of a paused run, which retention and gc keep", async () => {
      const store = stored(records, claims);
      const kept = keptRuns(store);
      expect((await store.last(RUN))?.type).toBe("run.paused");
      expect((await kept.list()).map(({ life }) => life)).toEqual(["paused"]);
      expect(await kept.expire(Date.now())).toEqual([]);
      expect(await kept.collect({ olderThanMs: 1, maxBytes: 1, now: Date.now() })).toEqual([]);
    });

    test("is followed without them", async () => {
      const seen: string[] = [];
      for await (const { type } of keptRuns(stored(records, claims)).events(RUN, AbortSignal.timeout(20_000)))
        seen.push(type);
      expect(seen.at(-1)).toBe("run.paused");
      expect(seen).not.toContain("run.ended");
    });
  },
);

test("an owner that continues is followed also where it replaces late records that were read before", async () => {
  const home = tempFolder();
  const folder = runFolder(home, RUN);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, JOURNAL_FILE);
  const write = (records: Written): void =>
    writeFileSync(file, records.map(([one, epoch]) => encodeLine(one, epoch)).join(""), { flag: "a" });
  write([
    [started, 1],
    [noted(2, "late"), 1],
  ]);
  const seen: unknown[] = [];
  const until = async (last: KeptEvent | undefined): Promise<boolean> => last?.type === "run.paused";
  for await (const one of createFolderStore(home).follow(RUN, { until, signal: AbortSignal.timeout(20_000) })) {
    seen.push("text" in one ? one.text : one.type);
    if (seen.length === 2)
      write([
        [noted(2, "taken over"), 2],
        [noted(3, "late, too"), 1],
        [paused(3), 2],
      ]);
  }
  expect(seen).toEqual(["run.started", "late", "taken over", "run.paused"]);
});

test("results in late records are not reused, and results of the later owner are", async () => {
  const store = stored([
    [started, 1],
    [result(2, "before"), 1],
    [result(3, "replaced"), 1],
    [result(3, "after"), 2],
    [result(4, "late"), 1],
    [paused(4), 2],
    [ended(5), 1],
  ]);
  const found = await Promise.all(
    ["before", "replaced", "after", "late"].map(async (key) => ((await store.reusable?.(key)) ?? []).length),
  );
  expect(found).toEqual([1, 0, 1, 0]);
});
