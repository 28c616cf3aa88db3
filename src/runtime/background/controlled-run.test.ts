import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { onePlan } from "../../../test/support/start-run.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import { localEngine } from "../../engines/local.ts";
import { compile } from "../../modes/compile.ts";
import { drive, type Start } from "../run/drive.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import { servedRun } from "./controlled-run.ts";
import { keptRuns } from "./stored-runs.ts";

test("a process owns its run until the receipts are written, so that a command that ended the run is not reported as too late", async () => {
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
  const start: Start = {
    plan: onePlan,
    parameters: {},
    clock: () => 0,
    random: () => 0,
    version: "0",
    cwd: "/",
    context: "",
    compile: (what) => compile(what),
    engine: localEngine({
      perform: (_, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve({ status: "cancelled", reason: "enough" }));
        }),
      journal: slow.open,
    }),
  };
  const run = servedRun("run_aaaaaaaaaaaa", slow, (it) => drive(start, it));
  const ended = run.then(({ status }) => status);
  const { signal } = new AbortController();
  const receipt = await keptRuns(slow).tell(run.id, { do: "cancel", reason: "enough" }, { waitMs: 60_000, signal });
  expect(receipt).toEqual({ done: true, text: "The run is being cancelled." });
  expect([await ended, owned]).toEqual(["cancelled", [true]]);
});
