// @ts-check
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { formatted } from "./executor/report.mjs";
import { median } from "./executor/sample.mjs";
import { openFloor } from "./engine/floor.mjs";
import { databaseCpu, FACTS, openEngine, OUTCOME, startDatabase } from "./engine/site.mjs";
import { scaleWorkers } from "./engine/workers.mjs";

/**
 * The limits for one task, as multiples of a bare queued workflow of the library DBOS with one step: time, processor
 * time of Node, and write-ahead log of the database.
 */
const LIMITS = { ms: 1.5, cpu: 2, wal: 2.5 };
const LIMIT_P50_MS = 100;
const LIMIT_IDEAL = 0.75;
const AT_ONCE = 32;

const [part = "tasks", ...rest] = process.argv.slice(2);
const TASKS = Number(rest[0] ?? 1_000);
const ROUNDS = 5;

/** @param {number} n @param {(at: number) => Promise<unknown>} work */
async function many(n, work) {
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < n) await work(next++);
    }),
  );
}

/** @param {Awaited<ReturnType<typeof startDatabase>>} site @param {() => Promise<unknown>} work */
async function measured(site, work) {
  const { database, folder } = site;
  const look = async () => {
    const [row] = await database.query(
      `select pg_current_wal_lsn() - '0/0'::pg_lsn as wal,
         (select sum(n_tup_ins) from pg_stat_user_tables) as inserted,
         (select sum(n_tup_upd) from pg_stat_user_tables) as updated`,
    );
    return /** @type {any} */ (row);
  };
  const before = await look();
  const [node, served] = [process.cpuUsage(), databaseCpu(folder)];
  const began = performance.now();
  await work();
  const ms = performance.now() - began;
  const { user, system } = process.cpuUsage(node);
  const databaseMs = databaseCpu(folder) - served;
  await new Promise((resolve) => setTimeout(resolve, 1_200)); // the statistics of idle sessions arrive within a second
  const after = await look();
  return {
    ms,
    cpu: (user + system) / 1_000,
    databaseMs,
    wal: Number(after.wal) - Number(before.wal),
    inserted: Number(after.inserted) - Number(before.inserted),
    updated: Number(after.updated) - Number(before.updated),
  };
}

/** Measures 1,000 one-turn tasks compared with as many bare workflows of the library DBOS, in alternating rounds. */
async function tasks() {
  const site = await startDatabase();
  const engine = await openEngine(site.url, { pollMs: 20 });
  const rounds = [];
  const bare = (/** @type {string} */ name, /** @type {number} */ n) => many(n, (at) => engine.bare(`${name}-${at}`));
  const ours = async (/** @type {number} */ n) => {
    const run = await engine.run();
    await many(n, (at) => run.task(`t${at}`));
    await run.end();
  };
  const table = await openFloor(site.url, { atOnce: AT_ONCE, outcome: OUTCOME });
  const floor = (/** @type {string} */ name, /** @type {number} */ n) =>
    table.during(() => many(n, (at) => table.task(`${name}-${at}`)));
  await bare("warm", 100);
  await ours(100);
  await floor("warm", 100);
  for (let round = 0; round < ROUNDS; round += 1) {
    /** @type {any} */ const row = {};
    const all = [
      async () => (row.floor = await measured(site, () => floor(`r${round}`, TASKS))),
      async () => (row.bare = await measured(site, () => bare(`r${round}`, TASKS))),
      async () => (row.ours = await measured(site, () => ours(TASKS))),
    ];
    for (const one of round % 2 === 0 ? all : all.toReversed()) await one();
    rounds.push(row);
    process.stderr.write(
      `round ${round + 1}: floor ${Math.round(row.floor.ms)} ms, bare ${Math.round(row.bare.ms)} ms, ours ${Math.round(row.ours.ms)} ms\n`,
    );
  }
  await table.close();
  await engine.close();
  await site.stop();
  const ratio = (/** @type {string} */ key) => median(rounds.map((row) => row.ours[key] / row.bare[key]));
  const each = (/** @type {string} */ who, /** @type {string} */ key) =>
    median(rounds.map((row) => row[who][key])) / TASKS;
  const lines = ["floor", "bare", "ours"].map((who) => [
    who,
    each(who, "ms").toFixed(2),
    each(who, "cpu").toFixed(2),
    each(who, "databaseMs").toFixed(2),
    (each(who, "wal") / 1_024).toFixed(1),
    each(who, "inserted").toFixed(1),
    each(who, "updated").toFixed(1),
  ]);
  process.stdout.write(
    formatted({
      title: "one task, compared with a bare queued workflow of one step and with one table with SKIP LOCKED (floor)",
      how: `medians per task of ${ROUNDS} rounds of ${TASKS} tasks, ${AT_ONCE} at once; a task sends ${FACTS} events`,
      columns: ["contender", "ms", "Node CPU ms", "database CPU ms", "WAL kB", "rows in", "rows changed"],
      rows: lines,
    }),
  );
  const ratios = { ms: ratio("ms"), cpu: ratio("cpu"), wal: ratio("wal") };
  process.stdout.write(`per task, ${TASKS} tasks of ${FACTS} events; ratios ${JSON.stringify(ratios)}\n`);
  const isMet = Object.entries(LIMITS).every(([key, limit]) => ratios[/** @type {"ms"} */ (key)] <= limit);
  return { tasks: TASKS, rounds, ratios, limits: LIMITS, isMet };
}

/** The latency of a single task, at two polling intervals. */
async function latency() {
  const pollMs = Number(rest[0] ?? 50);
  const site = await startDatabase();
  const engine = await openEngine(site.url, { pollMs });
  const run = await engine.run();
  for (let at = 0; at < 10; at += 1) await run.task(`w${at}`);
  const ms = [];
  for (let at = 0; at < 100; at += 1) {
    const began = performance.now();
    await run.task(`t${at}`);
    ms.push(performance.now() - began);
  }
  await run.end();
  await engine.close();
  await site.stop();
  const sorted = ms.toSorted((a, b) => a - b);
  const [p50, p95] = [sorted[50] ?? 0, sorted[95] ?? 0];
  process.stdout.write(`one call, polling every ${pollMs} ms: p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms\n`);
  return { pollMs, p50, p95, isMet: pollMs !== 50 || p50 <= LIMIT_P50_MS };
}

/** Measures plans of many nodes through the whole engine (database and workers): `fan`, `chain` or `random`. */
async function plans() {
  const { runPlan } = await import("./engine/plans.mjs");
  return runPlan(rest[0] ?? "fan", Number(rest[1] ?? 5_000));
}

/** Measures 1, 2 and 4 worker processes with tasks of one second per turn. */
async function workers() {
  const found = await scaleWorkers();
  for (const one of found)
    process.stdout.write(
      `${one.workers} workers: ${one.perSecond.toFixed(1)} tasks per s, ${(one.ofIdeal * 100).toFixed(0)} % of ideal\n`,
    );
  return { found, isMet: (found.at(-1)?.ofIdeal ?? 0) >= LIMIT_IDEAL };
}

const parts = { tasks, latency, plans, workers };
const folder = join(import.meta.dirname, "results");
mkdirSync(folder, { recursive: true });
const file = join(folder, "engine.json");

if (part === "all") await all();
else {
  const before = loadavg();
  const result = await parts[/** @type {keyof typeof parts} */ (part)]();
  keep(before, result);
  if (!result.isMet) process.exitCode = 1;
}
process.exit();

/** Runs every part in its own process. */
async function all() {
  const each = [
    "tasks 600",
    "latency 50",
    "latency 100",
    "workers",
    "plans fan 5000",
    "plans random 5000",
    "plans chain 5000",
  ];
  for (const words of each) {
    const began = performance.now();
    const { status } = spawnSync(process.execPath, [process.argv[1] ?? "", ...words.split(" ")], { stdio: "inherit" });
    process.stdout.write(
      `${status === 0 ? "met" : "NOT MET"}: ${words}, ${Math.round((performance.now() - began) / 1_000)} s\n\n`,
    );
    if (status !== 0) process.exitCode = 1;
  }
}

/**
 * Adds a result to the file that also contains the results of the other parts. @param {number[]} before @param {object}
 * result
 */
function keep(before, result) {
  const known = (() => {
    try {
      return JSON.parse(readFileSync(file, "utf8"));
    } catch {
      return {};
    }
  })();
  const key = [
    part,
    ...(part === "tasks" || part === "workers" ? [] : [rest[0] ?? (part === "latency" ? "50" : "fan")]),
  ].join(" ");
  known[key] = {
    at: new Date().toISOString().slice(0, 10),
    node: process.version,
    cpus: cpus().length,
    load: { before, after: loadavg() },
    ...result,
  };
  writeFileSync(file, `${JSON.stringify(known, null, 1)}\n`);
}
