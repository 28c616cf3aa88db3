import { expect, test } from "vitest";
import type { KeptEvent } from "../../core/run/event.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import { reduce } from "../../core/run/state.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import { openProjectRuns } from "./project-runs.ts";
import { hasTask, readRecordedRun, unknownTask } from "./recorded-run.ts";

const plan: Plan = {
  version: 1,
  nodes: { ask: { kind: "gate", question: "Go?" }, later: { kind: "gate", question: "Then?" } },
} as unknown as Plan;
const idOf = (letter: string): string => `run_${letter.repeat(12)}`;
let clock = 1_000;

/** A run with a task `work` and a question `ask`; its process is alive unless the run has ended. */
async function record(
  store: RunStore,
  run: string,
  cwd: string,
  { ended = true, owned = !ended, format = 1 }: { ended?: boolean; owned?: boolean; format?: number } = {},
): Promise<void> {
  const journal = await store.open(run, { kept: () => {}, lost: () => {} });
  let seq = 0;
  const event = (more: object): KeptEvent => {
    seq += 1;
    clock += 1;
    return { seq, run, path: "", at: clock, ...more } as unknown as KeptEvent;
  };
  journal.append(event({ type: "run.started", plan, cwd, version: "0", name: `name of ${run}`, format }));
  journal.append(event({ type: "node.started", path: "ask", attempt: 1, kind: "gate" }));
  journal.append(event({ type: "node.started", path: "work", attempt: 1, kind: "task", agent: "scout" }));
  if (ended) journal.append(event({ type: "run.ended", outcome: { status: "ok", output: "done" } }));
  if (!owned) await journal.close();
}

test("the runs of a project are listed newest first, up to a limit, with their tasks; runs of other projects are not listed", async () => {
  const store = createMemoryStore();
  await record(store, idOf("a"), "/here");
  await record(store, idOf("b"), "/elsewhere");
  await record(store, idOf("d"), "/here", { ended: false, owned: false });
  await record(store, idOf("c"), "/here", { ended: false });
  const runs = openProjectRuns(store, "/here");
  const all = await runs.list(10);
  expect(all.map(({ id, name, life }) => [id, name, life])).toEqual([
    [idOf("c"), `name of ${idOf("c")}`, "running"],
    [idOf("d"), `name of ${idOf("d")}`, "interrupted"],
    [idOf("a"), `name of ${idOf("a")}`, "ok"],
  ]);
  expect(all[2]?.startedAt).toBe(1_001);
  expect(all[2]?.tasks).toEqual([expect.objectContaining({ path: "work", agent: "scout" })]);
  expect((await runs.list(1)).map(({ id }) => id)).toEqual([idOf("c")]);
  expect(await runs.list(0)).toEqual([]);
});

test("an unreadable run is left out of the list, and has no events", async () => {
  const store = createMemoryStore();
  await record(store, idOf("a"), "/here");
  await record(store, idOf("b"), "/here");
  const broken: RunStore = {
    ...store,
    readWhole: (run) => (run === idOf("b") ? Promise.reject(new Error("damaged")) : store.readWhole(run)),
  };
  const runs = openProjectRuns(broken, "/here");
  expect((await runs.list(10)).map(({ id }) => id)).toEqual([idOf("a")]);
  expect(await runs.events(idOf("b"))).toBeUndefined();
  const empty: RunStore = { ...store, readWhole: async () => ({ events: [], problems: [] }) };
  expect(await openProjectRuns(empty, "/here").list(10)).toEqual([]);
});

test("events are given for runs of the project only, and a text that is not a run id is not looked up", async () => {
  const store = createMemoryStore();
  await record(store, idOf("a"), "/here");
  await record(store, idOf("b"), "/elsewhere");
  const runs = openProjectRuns(store, "/here");
  expect(await runs.events(idOf("a"))).toHaveLength(4);
  expect(await runs.events(idOf("b"))).toBeUndefined();
  const asked: string[] = [];
  const noting: RunStore = { ...store, first: (run) => (asked.push(run), store.first(run)) };
  expect(await openProjectRuns(noting, "/here").events("../../etc")).toBeUndefined();
  expect(asked).toEqual([]);
});

test("a recorded run knows the tasks that have begun and the tasks of its plan, and suggests the nearest task for another path", async () => {
  const store = createMemoryStore();
  await record(store, idOf("a"), "/here");
  const { id, records, state } = await readRecordedRun(store, idOf("a"));
  expect([id, records.events.length, state.seq]).toEqual([idOf("a"), 4, 4]);
  expect(["work", "later", "ask", "other"].map((path) => hasTask(state, path))).toEqual([true, true, true, false]);
  const { code, message, hint } = unknownTask(state, "wrok");
  expect([code, message]).toEqual(["UNKNOWN_RUN", `"${idOf("a")}" has no task "wrok".`]);
  expect(hint).toContain("work");
  expect(unknownTask(state, "latr").hint).toContain("later");
  const labelled = reduce(state, {
    ...{ seq: 5, run: id, path: "_ snow", at: clock, type: "node.started" },
    ...{ attempt: 1, kind: "task", label: "☃ snow" },
  });
  expect(unknownTask(labelled, "☃ snwo").hint).toContain("☃ snow");
});

test("reading a long journal lets other work run, and the run is returned once all of it is read", async () => {
  const store = createMemoryStore();
  await record(store, idOf("a"), "/here");
  const journal = await store.open(idOf("a"), { kept: () => {}, lost: () => {} });
  for (let seq = 5; seq <= 100_000; seq += 1)
    journal.append({ seq, run: idOf("a"), path: "", at: seq, type: "note", text: "x" });
  await journal.close();
  expect((await readRecordedRun(store, idOf("a"))).state.seq).toBe(100_000);
});

test("a run that a newer version recorded is refused instead of misread", async () => {
  const store = createMemoryStore();
  await record(store, idOf("a"), "/here", { format: 99 });
  await expect(readRecordedRun(store, idOf("a"))).rejects.toMatchObject({ code: "BAD_FILE" });
});
