import type { Plan } from "../../src/core/plan/plan.ts";
import type { Engine } from "../../src/core/task/engine.ts";
import { localEngine } from "../../src/engines/local.ts";
import { compile } from "../../src/modes/compile.ts";
import { drive, type Start } from "../../src/runtime/run/drive.ts";
import { type Drive, Run } from "../../src/runtime/run/run.ts";
import { createMemoryStore } from "../../src/runtime/store/memory-store.ts";

/** A plan of one task. */
export const onePlan: Plan = { nodes: { scout: { kind: "task", task: { prompt: "look" } } }, output: "scout" };

export type RunUnderTest = Partial<Omit<Start, "engine">> &
  Readonly<{
    /** Replaced parts of the local engine; without them every task succeeds, and the journal is in memory. */
    engine?: Partial<Engine>;
    publish?: Drive["publish"];
  }>;

/** The arguments with which a run of {@link onePlan} starts. */
export const startOf = (engine: Engine, more: Partial<Start> = {}): Start => ({
  plan: onePlan,
  parameters: {},
  clock: () => 0,
  random: () => 0,
  version: "0",
  cwd: "/",
  context: "",
  compile: (what) => compile(what),
  ...more,
  engine,
});

/** Drives the run `run_x` with the local engine. */
export function startRun({ engine = {}, publish, ...more }: RunUnderTest = {}): Run {
  const local = localEngine({
    perform: async () => ({ status: "ok", output: "done" }),
    journal: createMemoryStore().open,
  });
  const start = startOf({ ...local, ...engine }, more);
  return new Run("run_x", (it) => drive(start, { ...it, publish: publish ?? it.publish }));
}
