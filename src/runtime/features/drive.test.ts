import { join } from "node:path";
import { expect, test } from "vitest";
import { collect } from "../../../test/support/collect.ts";
import { onePlan, startRun } from "../../../test/support/start-run.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { createRedactor } from "../../core/secrets/redact.ts";
import type { Engine, Perform, PerformContext } from "../../core/task/engine.ts";
import { reasonOf } from "../async/cancel.ts";
import { onAbort } from "../async/on-abort.ts";
import { deferred } from "../async/deferred.ts";
import { openJournal } from "../store/journal.ts";
import { readJournal } from "../store/read-journal.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import type { Feature } from "./feature.ts";

/** A task that works until it is told to stop. */
const untilAborted: Perform = (_, { signal }) =>
  new Promise((resolve) => {
    const stop = (): void => resolve({ status: "cancelled", reason: reasonOf(signal), output: "half" });
    if (signal.aborted) stop();
    else onAbort(signal, stop);
  });

test("a run is recorded from run.started to run.ended, numbered without a gap", async () => {
  const run = startRun({ cwd: "/project", version: "1.2.3", warnings: [{ code: "OLD", text: "old settings" }] });
  const events = await collect(run);
  expect(events.map((event) => ["seq" in event && event.seq, event.type, event.path])).toEqual([
    [1, "run.started", ""],
    [2, "warning", ""],
    [3, "node.started", "scout"],
    [4, "node.ended", "scout"],
    [5, "run.ended", ""],
  ]);
  expect(events[0]).toMatchObject({ plan: onePlan, cwd: "/project", version: "1.2.3" });
  expect(await run).toMatchObject({ status: "ok", output: "done" });
});

test("a run id cannot be used twice, and the first record stays unchanged", async () => {
  const folder = join(tempFolder(), "run_x");
  const journal: Engine["journal"] = (_, listener) => openJournal(folder, listener);
  await startRun({ engine: { journal } });
  const before = (await readJournal(folder)).events;
  expect(before.at(-1)?.type).toBe("run.ended");
  await expect(startRun({ engine: { journal } })).rejects.toMatchObject({ code: "RUN_BUSY" });
  expect((await readJournal(folder)).events).toEqual(before);
});

test("a resumed run performs only nodes that have not ended, and continues its sequence numbers", async () => {
  const folder = join(tempFolder(), "run_x");
  const journal: Engine["journal"] = (_, listener) => openJournal(folder, listener);
  const plan: Plan = {
    nodes: {
      first: { kind: "task", task: { prompt: "one" } },
      second: { kind: "task", task: { prompt: "two" }, needs: ["first"] },
    },
    output: "second",
  };
  const performed: string[] = [];
  const interrupted = startRun({
    plan,
    engine: {
      journal,
      perform: async (call, context) => {
        performed.push(call.path);
        if (call.path === "first") return { status: "ok", output: "one" };
        interrupted.pause("enough");
        return untilAborted(call, context);
      },
    },
  });
  await interrupted;
  const perform: Perform = async ({ path }) => {
    performed.push(`${path} again`);
    return { status: "ok", output: "two" };
  };
  const resumed = await startRun({ plan, engine: { journal, perform }, resume: { retryFailed: false } });
  expect(resumed).toMatchObject({ status: "ok", output: "two" });
  expect(performed).toEqual(["first", "second", "second again"]);
  const { events } = await readJournal(folder);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, n) => n + 1));
  expect(events.filter(({ type }) => type === "run.started")).toHaveLength(1);
});

test("a run that reaches its time limit reports it, lets its tasks return what they have, and fails", async () => {
  const reached = deferred<void>();
  const handIn: Perform = async () => {
    await reached.promise;
    return { status: "ok", output: "half" };
  };
  const run = startRun({ parameters: { maxTimeMs: 1 }, engine: { perform: handIn } });
  const types: string[] = [];
  for await (const event of run) {
    types.push(event.type);
    if (event.type === "limit.reached") reached.resolve();
  }
  expect(types.slice(-3)).toEqual(["limit.reached", "node.ended", "run.ended"]);
  expect(await run).toMatchObject({ output: "half", limit: { kind: "time", value: 1 } });
});

test("no secret is recorded, and nothing is recorded after the run has ended", async () => {
  const events: unknown[] = [];
  let kept: PerformContext | undefined;
  const journal: Engine["journal"] = async (run, listener) => {
    const memory = await createMemoryStore().open(run, listener);
    return {
      ...memory,
      append: (event) => {
        events.push(event);
        memory.append(event);
      },
    };
  };
  const perform: Perform = async (_, context) => {
    kept = context;
    context.emit({ type: "note", text: "it says hunter2-hunter2" });
    return { status: "ok", output: "hunter2-hunter2 it is" };
  };
  const redactor = createRedactor(["hunter2-hunter2"]);
  expect(await startRun({ redactor, engine: { journal, perform } })).toMatchObject({ output: "[redacted] it is" });
  expect(JSON.stringify(events)).not.toContain("hunter2-hunter2");
  expect(events).toContainEqual(expect.objectContaining({ type: "note", text: "it says [redacted]" }));
  const before = events.length;
  kept?.emit({ type: "note", text: "too late" });
  expect(events).toHaveLength(before);
});

test("a second execution of the same attempt gets the records of the first one", async () => {
  const pasts: string[][] = [];
  const perform: Perform = async (_, context) => {
    for (const text of ["of the first", "of the second"]) {
      pasts.push((await context.past()).map((event) => (event.type === "note" ? event.text : event.type)));
      context.emit({ type: "note", text });
    }
    return { status: "ok", output: "done" };
  };
  await startRun({ engine: { perform } });
  expect(pasts).toEqual([[], ["node.started", "of the first"]]);
});

test("a run whose journal cannot be written stops its tasks and rejects with the reason", async () => {
  let lose = (): void => {};
  const journal: Engine["journal"] = async (run, listener) => {
    lose = () => listener.lost(new Error("the disk is full"));
    return createMemoryStore().open(run, listener);
  };
  let stopped = "";
  let closed = false;
  const perform: Perform = async (call, context) => {
    lose();
    const outcome = await untilAborted(call, context);
    stopped = reasonOf(context.signal);
    return outcome;
  };
  const gone = async (): Promise<void> => void (closed = true);
  await expect(startRun({ engine: { journal, perform }, gone })).rejects.toThrow("the disk is full");
  expect(stopped).toBe("the disk is full");
  expect(closed).toBe(true);
});

test("if a feature cannot be opened, those that are open are closed, and nothing is recorded", async () => {
  const store = createMemoryStore();
  const closed: string[] = [];
  const noted = (name: string): Feature => ({
    name,
    does: "notes that it was closed",
    open: () => ({ close: () => void closed.push(name), closed: () => void closed.push(`${name} after the run`) }),
  });
  const broken: Feature = {
    name: "broken",
    does: "cannot be opened",
    open: () => {
      throw new Error("no place for it");
    },
  };
  const features = [noted("outer"), broken, noted("inner")];
  const run = startRun({ features, engine: { journal: store.open } });
  await expect(run).rejects.toThrow("no place for it");
  expect(closed).toEqual(["inner", "inner after the run"]);
  expect(await store.owner(run.id)).toBeUndefined();
  await expect(store.readWhole(run.id)).rejects.toMatchObject({ code: "UNKNOWN_RUN" });
});
