// @ts-check
import { createRedactor } from "../../dist/core/secrets/redact.js";
import { compile } from "../../dist/modes/compile.js";
import { drive } from "../../dist/runtime/features/drive.js";
import { runFeatures } from "../../dist/runtime/features/features.js";
import { Run } from "../../dist/runtime/run/run.js";
import { openEngine, startDatabase } from "./site.mjs";

/** @type {Readonly<Record<string, (at: number) => string[]>>} */
const shapes = {
  fan: () => [],
  chain: (at) => (at === 0 ? [] : [`n${at - 1}`]),
  // Each node needs one to three of the 60 nodes before it; the random numbers are the same each time.
  random: (at) =>
    [...new Set([1, 2, 3].slice(0, (at % 3) + 1).map((n) => at - 1 - ((at * 7_919 * n) % 60)))]
      .filter((n) => n >= 0)
      .map((n) => `n${n}`),
};

/**
 * Runs a plan of this size through the whole engine: run, executor, journal, database, worker.
 *
 * @param {string} shape @param {number} size
 */
export async function runPlan(shape, size) {
  const needs = shapes[shape];
  if (!needs) throw new Error(`unknown shape ${shape}: use fan, chain or random`);
  const nodes = Object.fromEntries(
    Array.from({ length: size }, (_, at) => [`n${at}`, { kind: "task", needs: needs(at), task: { prompt: "x" } }]),
  );
  const plan = {
    nodes: { ...nodes, all: { kind: "join", needs: Object.keys(nodes), pick: "settled" } },
    output: "all",
  };
  const site = await startDatabase();
  const { engine, close } = await openEngine(site.url, { pollMs: 20 });
  const began = performance.now();
  const cpu = process.cpuUsage();
  const run = new Run(`run_plan${process.pid}`, (it) =>
    drive(
      runFeatures,
      /** @type {any} */ ({
        plan,
        engine,
        clock: Date.now,
        random: Math.random,
        redactor: createRedactor([]),
        version: "bench",
        cwd: "/",
        context: "",
        compile,
        parameters: { concurrency: 32 },
      }),
      it,
    ),
  );
  const { status } = await run;
  const ms = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  const [rows] = await site.database.query(
    "select (select count(*)::integer from subcrew.events) as events, (select count(*)::integer from dbos.workflow_status) as workflows",
  );
  await close();
  await site.stop();
  process.stdout.write(
    `${shape} of ${size}: ${status} in ${(ms / 1_000).toFixed(1)} s, ${(ms / size).toFixed(1)} ms per node, ${JSON.stringify(rows)}\n`,
  );
  return { shape, size, status, ms, cpuMs: (user + system) / 1_000, ...rows, isMet: status === "ok" };
}
