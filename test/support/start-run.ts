import type { Plan } from "../../src/core/plan/plan.ts";
import type { Engine } from "../../src/core/task/engine.ts";
import { localEngine } from "../../src/engines/local.ts";
import { compile } from "../../src/modes/compile.ts";
import { runFeatures } from "../../src/runtime/features/features.ts";
import { drive } from "../../src/runtime/features/drive.ts";
import type { Feature } from "../../src/runtime/features/feature.ts";
import { type Drive, Run } from "../../src/runtime/run/run.ts";
import type { Start } from "../../src/runtime/features/start.ts";
import { createMemoryStore } from "../../src/runtime/store/memory-store.ts";

/** A plan of one task. */
export const onePlan: Plan = { nodes: { scout: { kind: "task", task: { prompt: "look" } } }, output: "scout" };

export type RunUnderTest = Partial<Omit<Start, "engine">> &
  Readonly<{
    /** Replaced parts of the local engine; without them every task succeeds, and the journal is in memory. */
    engine?: Partial<Engine>;
    publish?: Drive["publish"];
    features?: readonly Feature[];
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
export function startRun({ engine = {}, publish, features = runFeatures, ...more }: RunUnderTest = {}): Run {
  const local = localEngine({
    perform: async () => ({ status: "ok", output: "done" }),
    journal: createMemoryStore().open,
  });
  const start = startOf({ ...local, ...engine }, more);
  return new Run("run_x", (it) => drive(features, start, { ...it, publish: publish ?? it.publish }));
}
