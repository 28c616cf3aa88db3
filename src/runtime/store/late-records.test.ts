import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { encodeLine } from "../../../test/support/encode-line.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import { keptRuns } from "../background/stored-runs.ts";
import { createFolderStore } from "./folder-store.ts";
import { JOURNAL_FILE, runFolder } from "./layout.ts";
import { claim } from "./run-claim.ts";

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

const long = "x".repeat(3_000_000);
const big = noted(4, long);

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
      [noted(2, long), 1],
      [ended(3), 1],
    ],
    true,
  ],
  [
    "long at the end, without claims",
    [
      [started, 1],
      [paused(2), 2],
      [noted(2, long), 1],
      [ended(3), 1],
    ],
    false,
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

test.each([0, long.length])(
  "records that were replaced %i bytes later are not folded, shown or taken for a result",
  async (bytes) => {
    const store = stored([
      [started, 1],
      [noted(2, "kept"), 1],
      [noted(3, "void"), 1],
      [result(4, "void"), 1],
      [noted(5, "x".repeat(bytes)), 1],
      [ended(6), 1],
      [noted(3, "after"), 2],
      [result(4, "after"), 2],
    ]);
    const kept = keptRuns(store);
    const { events } = await kept.records(RUN);
    expect(events.map((one) => ("text" in one ? one.text : one.type))).toEqual([
      "run.started",
      "kept",
      "after",
      "agent.resolved",
    ]);
    const texts: unknown[] = [];
    for await (const one of kept.events(RUN, AbortSignal.timeout(20_000))) texts.push("text" in one ? one.text : "");
    expect(texts).toEqual(["", "kept", "after", ""]);
    expect((await kept.look(RUN)).state).toMatchObject({ seq: 4, endedAt: undefined });
    expect(await Promise.all(["void", "after"].map(async (key) => (await store.reusable(key)).length))).toEqual([0, 1]);
  },
);

test("the first record of a later owner is the first of the run, and an unfinished record before the last is skipped", async () => {
  const home = tempFolder();
  const folder = runFolder(home, RUN);
  mkdirSync(folder, { recursive: true });
  const named = { ...started, name: "later" } as KeptEvent;
  const cut = encodeLine(noted(2, "cut off"), 1).slice(0, 60);
  const lines = `${encodeLine(started, 1)}${encodeLine(named, 2)}${cut}${encodeLine(ended(2), 2)}`;
  writeFileSync(join(folder, JOURNAL_FILE), lines);
  const store = createFolderStore(home);
  expect([await store.first(RUN), (await store.last(RUN))?.type]).toEqual([named, "run.ended"]);
});

describe("a former owner that ends the run before the new owner has written its first record", () => {
  const taken = async (): Promise<{
    store: RunStore;
    write: (records: Written) => void;
    release: () => Promise<void>;
  }> => {
    const home = tempFolder();
    const folder = runFolder(home, RUN);
    mkdirSync(folder, { recursive: true });
    const write = (records: Written): void =>
      appendFileSync(join(folder, JOURNAL_FILE), records.map(([one, epoch]) => encodeLine(one, epoch)).join(""));
    write([[started, 1]]);
    const owner = await claim(folder, { above: 1 });
    write([[ended(2), 1]]);
    return { store: createFolderStore(home), write, release: owner.release };
  };

  test("does not end it for those who list it, look at it, wait for it or follow it", async () => {
    const { store, write, release } = await taken();
    const kept = keptRuns(store);
    expect((await store.last(RUN))?.type).toBe("run.started");
    expect((await kept.list()).map(({ life }) => life)).toEqual(["running"]);
    expect((await kept.records(RUN)).events).toEqual([started]);
    const seen: string[] = [];
    const followed = (async () => {
      for await (const { type } of kept.events(RUN, AbortSignal.timeout(20_000))) seen.push(type);
    })();
    const waited = kept.ended(RUN, AbortSignal.timeout(20_000));
    await vi.waitFor(() => expect(seen).toEqual(["run.started"]));
    write([[noted(2, "goes on"), 2]]);
    await vi.waitFor(() => expect(seen).toEqual(["run.started", "note"]));
    write([[paused(3), 2]]);
    await release();
    await followed;
    expect(seen).toEqual(["run.started", "note", "run.paused"]);
    expect((await waited).life).toBe("paused");
  });

  test("ends it after all if the new owner writes nothing", async () => {
    const { store, release } = await taken();
    const kept = keptRuns(store);
    const seen: string[] = [];
    const followed = (async () => {
      for await (const { type } of kept.events(RUN, AbortSignal.timeout(20_000))) seen.push(type);
    })();
    await vi.waitFor(() => expect(seen).toEqual(["run.started"]));
    await release();
    await followed;
    expect(seen).toEqual(["run.started", "run.ended"]);
    expect((await kept.look(RUN)).life).toBe("ok");
  });

  test("is not followed with what it wrote last while others watched", async () => {
    const { store, write, release } = await taken();
    const seen: unknown[] = [];
    const followed = (async () => {
      for await (const one of keptRuns(store).events(RUN, AbortSignal.timeout(20_000)))
        seen.push("text" in one ? one.text : one.type);
    })();
    await vi.waitFor(() => expect(seen).toEqual(["run.started"]));
    write([[noted(3, "late"), 1]]);
    write([[noted(2, "goes on"), 2]]);
    write([[noted(3, "late, too"), 1]]);
    write([[paused(3), 2]]);
    await followed;
    await release();
    expect(seen).toEqual(["run.started", "goes on", "run.paused"]);
  });
});

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
