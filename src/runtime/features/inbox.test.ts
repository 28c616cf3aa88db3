import { setTimeout as pause } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { startOf } from "../../../test/support/start-run.ts";
import type { RunCommand } from "../../core/run/run-command.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { JournalListener, RunStore } from "../../core/run/run-store.ts";
import { deferred } from "../async/deferred.ts";
import { localEngine } from "../../engines/local.ts";
import { keptRuns } from "../background/stored-runs.ts";
import { Run } from "../run/run.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import { drive } from "./drive.ts";
import type { Feature } from "./feature.ts";
import { runFeatures } from "./features.ts";
import { inboxFeature } from "./inbox.ts";
import type { Start } from "./start.ts";

/** A run whose only task works until it is cancelled. */
const startWith = (store: RunStore): Start =>
  startOf(
    localEngine({
      perform: (_, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve({ status: "cancelled", reason: "enough" }));
        }),
      journal: store.open,
    }),
    { store },
  );

test.each<RunCommand>([
  { do: "pause", reason: "enough" },
  { do: "cancel", reason: "enough" },
  { do: "send", path: "a", text: "hello", from: "a person" },
  { do: "answer", path: "a", answer: { approve: true } },
  { do: "retry" },
])(
  "the command `$do` that arrives while a run is handed to another process is stored for that process",
  async (command) => {
    const memory = createMemoryStore();
    const late: Feature = {
      ...inboxFeature,
      open: async (it) => {
        const row = await inboxFeature.open!(it);
        return { ...row, close: () => told.then(() => row.close?.()) };
      },
    };
    const features = runFeatures.map((each) => (each === inboxFeature ? late : each));
    const run = new Run("run_cccccccccccc", (it) => drive(features, startWith(memory), it));
    const { signal } = new AbortController();
    for await (const { type } of run) if (type === "node.started") break;
    run.kill();
    const told = keptRuns(memory).tell(run.id, command, { waitMs: 50, signal });
    expect(await told).toBe(undefined);
    await run;
    expect(await memory.waiting(run.id)).toEqual([command]);
  },
);

test("a process keeps its run until the receipts of commands are written, so that a command that ended the run is not reported as too late", async () => {
  const memory = createMemoryStore();
  const owned: boolean[] = [];
  // As on a slow disk, the run has ended before the receipt is written.
  const slow: RunStore = {
    ...memory,
    serve: (run, handle, signal) =>
      memory.serve(
        run,
        async (command, until) => {
          const receipt = await handle(command, until);
          await pause(100);
          owned.push((await memory.owner(run)) !== undefined);
          return receipt;
        },
        signal,
      ),
  };
  const run = new Run("run_aaaaaaaaaaaa", (it) => drive(runFeatures, startWith(slow), it));
  const ended = run.then(({ status }) => status);
  const { signal } = new AbortController();
  const receipt = await keptRuns(slow).tell(run.id, { do: "cancel", reason: "enough" }, { waitMs: 60_000, signal });
  expect(receipt).toEqual({ state: "done", code: "DONE", text: "The run is being cancelled." });
  expect([await ended, owned]).toEqual(["cancelled", [true]]);
});

test("an answer is taken although the process does not know yet that its question is stored", async () => {
  const memory = createMemoryStore();
  const known = deferred<void>();
  let told: Promise<unknown> = Promise.resolve();
  const slow: RunStore = {
    ...memory,
    open: async (run, listener, options) => {
      const kept: JournalListener["kept"] = (events) => {
        const waits = events.some(({ type }) => type === "gate.opened") ? known.promise : undefined;
        told = told.then(() => waits).then(() => listener.kept(events));
      };
      const journal = await memory.open(run, { ...listener, kept }, options);
      return { ...journal, durable: () => journal.durable().then(() => told.then(() => {})) };
    },
    serve: (run, handle, signal) =>
      memory.serve(
        run,
        (command, until) => {
          const receipt = handle(command, until);
          known.resolve();
          return receipt;
        },
        signal,
      ),
  };
  const plan: Plan = { nodes: { ok: { kind: "gate", question: "Fine?" } }, output: "ok" };
  const run = new Run("run_bbbbbbbbbbbb", (it) => drive(runFeatures, { ...startWith(slow), plan }, it));
  await vi.waitUntil(async () => (await memory.last(run.id))?.type === "gate.opened");
  const command: RunCommand = { do: "answer", path: "ok", answer: { approve: true } };
  const { signal } = new AbortController();
  expect(await keptRuns(slow).tell(run.id, command, { waitMs: 60_000, signal })).toMatchObject({ state: "done" });
  expect(await run).toMatchObject({ status: "ok" });
});
