// @ts-check
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { middle, taken } from "./cost/measure.mjs";
import { circumstances, fill, markdownTable } from "./cost/readme.mjs";
import { reading } from "./cost/resume.mjs";
import { crewAt, good } from "./cost/site.mjs";
import { subcrew } from "./discovery/contenders.mjs";
import { writeCorpus } from "./discovery/corpus.mjs";
import { planOf, randomGraph } from "./executor/graph.mjs";
import { formatted } from "./executor/report.mjs";
import { median } from "./executor/sample.mjs";
import { compile, execute } from "./executor/subcrew.mjs";
import { homes, openContender, openServer } from "./loop/company.mjs";

// npm run bench -- growth: measures what one more turn, agent, node, file and byte costs when there are many of them
const ROUNDS = 3;

/**
 * One series of measurements. `sizes` goes from the smallest to the largest; each has the wall and processor time of
 * one unit, in milliseconds.
 *
 * @typedef {{ unit: string, limit: number, sizes: Record<string, import("./cost/measure.mjs").Taken[]>, against?: Record<string, import("./cost/measure.mjs").Taken[]> }} Series
 */

/** @param {import("./cost/measure.mjs").Taken} sample @param {number} by */
const part = ({ wall, cpu }, by) => ({ wall: wall / by, cpu: cpu / by });

/**
 * Measures turns of one agent. The request grows with the conversation, also for the floor (a hand-written loop as
 * lower bound).
 *
 * @param {string} url @returns {Promise<Series>}
 */
async function turns(url) {
  /** @type {Record<string, import("./cost/measure.mjs").Taken[]>} */
  const [sizes, against] = [{}, {}];
  const [ours, floor] = [await openContender("subcrew"), await openContender("http-floor")];
  for (const count of [10, 100, 1_000]) {
    const job = {
      agents: 1,
      result: 200,
      expected: "",
      baseURL: `${url}/0/v1`,
      prompt: `TURNS ${count}`,
      turns: count,
    };
    for (let round = -1; round < ROUNDS; round += 1)
      for (const [one, into] of /** @type {const} */ ([
        [ours, sizes],
        [floor, against],
      ])) {
        const { ms, cpu } = await one.ask(job);
        if (round >= 0) (into[count] ??= []).push(part({ wall: ms, cpu }, count + 1));
      }
  }
  ours.close();
  floor.close();
  return { unit: "turn", limit: 1.2, sizes, against };
}

/**
 * Measures agents of one parallel run, one call each.
 *
 * @param {string} url @param {string} root @returns {Promise<Series>}
 */
async function agents(url, root) {
  const crew = crewAt(`${url}/0/v1`, root);
  /** @type {Series["sizes"]} */
  const sizes = {};
  const run = (/** @type {number} */ count) => {
    const tasks = Array.from({ length: count }, (_, n) => ({ agent: "worker", task: "Go.", name: `t${n}` }));
    return taken(() => good(crew.run({ mode: "parallel", tasks }, { concurrency: 8 })));
  };
  for (let warm = 0; warm < 3; warm += 1) await run(1_000);
  for (const count of [100, 1_000, 5_000]) {
    sizes[count] = [];
    for (let round = 0; round < ROUNDS * (count < 1_000 ? 5 : 1); round += 1)
      sizes[count].push(part(await run(count), count));
  }
  return { unit: "agent", limit: 1.5, sizes };
}

/**
 * Measures nodes of a plan whose tasks do nothing: checked, executed, recorded in memory.
 *
 * @returns {Promise<Series>}
 */
async function plans() {
  /** @type {Series["sizes"]} */
  const sizes = {};
  for (const count of [100, 1_000, 10_000]) {
    const plan = planOf(randomGraph(count));
    const work = async () => {
      compile(plan);
      await execute(plan, { perform: async () => ({ status: "ok", output: "done" }) });
    };
    const times = 10_000 / count;
    const all = async () => {
      for (let n = 0; n < times; n += 1) await work();
    };
    await all();
    sizes[count] = [];
    for (let round = 0; round < ROUNDS; round += 1) sizes[count].push(part(await taken(all), 10_000));
  }
  return { unit: "node of a plan", limit: 1.5, sizes };
}

/** Measures agent files that have to be found and read. @returns {Promise<Series>} */
async function files() {
  const { discoverAgents } = await subcrew();
  /** @type {Series["sizes"]} */
  const sizes = {};
  for (const count of [100, 2_000, 20_000]) {
    const { cwd, home, remove } = writeCorpus(count, 1);
    const work = () => taken(() => discoverAgents(cwd, { home }));
    try {
      for (let warm = 0; warm < (count < 1_000 ? 10 : 1); warm += 1) await work();
      sizes[count] = [];
      for (let round = 0; round < ROUNDS * (count < 1_000 ? 5 : 1); round += 1)
        sizes[count].push(part(await work(), count));
    } finally {
      remove();
    }
  }
  return { unit: "file", limit: 1.5, sizes };
}

/** Measures megabytes of a journal that is read to resume its run. @param {string} root @returns {Promise<Series>} */
async function journals(root) {
  /** @type {Series["sizes"]} */
  const [sizes, against] = [{}, {}];
  for (const megabytes of [20, 200]) {
    const { subcrew: ours, plain } = await reading({ root, rounds: ROUNDS, bytes: megabytes * 1e6 });
    for (const [reads, into] of /** @type {const} */ ([
      [ours, sizes],
      [plain, against],
    ]))
      into[megabytes] = (reads ?? []).map(({ seconds, cpu }) =>
        part({ wall: seconds * 1_000, cpu: cpu * 1_000 }, megabytes),
      );
  }
  return { unit: "MB of a journal", limit: 1.2, sizes, against };
}

/**
 * The ratio of the processor time per unit at the largest size to that at the smallest.
 *
 * @param {Series["sizes"]} sizes
 */
function growth(sizes) {
  const each = Object.values(sizes).map((samples) => median(samples.map(({ cpu }) => cpu)));
  return (each.at(-1) ?? Number.NaN) / (each[0] ?? Number.NaN);
}

const began = performance.now();
const machine = { node: process.version, cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length };
/** @type {Record<string, any>} */
const results = { ...machine, load: loadavg(), rounds: ROUNDS };
/** @type {string[][]} */
const rows = [];
/** @type {string[]} */
const failed = [];
const root = mkdtempSync(join(import.meta.dirname, ".cost-"));
const server = await openServer();
try {
  const all = {
    turns: () => turns(server.url),
    agents: () => agents(server.url, root),
    plans,
    files,
    journals: () => journals(root),
  };
  for (const [name, measure] of Object.entries(all)) {
    const start = performance.now();
    const load = loadavg();
    const series = await measure();
    const seconds = (performance.now() - start) / 1_000;
    const [is, floor] = [growth(series.sizes), series.against ? growth(series.against) : 1];
    // If the time of the floor (the hand-written lower bound) grows with the size, that of subcrew may grow as much.
    const allowed = series.limit * Math.max(1, floor);
    if (is > allowed) failed.push(`${name}: ${is.toFixed(2)} x, the limit is ${allowed.toFixed(2)}`);
    results[name] = { load, seconds, ...series, growth: is, ...(series.against && { growthOfFloor: floor }) };
    rows.push([
      series.unit,
      Object.keys(series.sizes)
        .map((size) => Number(size).toLocaleString("en"))
        .join(" / "),
      Object.values(series.sizes)
        .map((samples) => middle(samples).wall.toFixed(3))
        .join(" / "),
      Object.values(series.sizes)
        .map((samples) => middle(samples).cpu.toFixed(3))
        .join(" / "),
      `${is.toFixed(2)}x`,
      series.against ? `${floor.toFixed(2)}x` : "",
      is > allowed ? "**missed**" : "met",
    ]);
    process.stdout.write(`${name}: ${seconds.toFixed(0)} s\n`);
  }
} finally {
  server.close();
  rmSync(root, { recursive: true, force: true });
  rmSync(homes, { recursive: true, force: true });
}
const minutes = (performance.now() - began) / 60_000;
const columns = [
  "unit",
  "number of units",
  "ms per unit",
  "CPU ms per unit",
  "largest / smallest, CPU",
  "baseline",
  "",
];
process.stdout.write(
  `\n${formatted({ title: "Cost of one unit as the number of units grows", how: `medians of ${ROUNDS} or more`, columns, rows, failed, raw: {} })}\n`,
);
mkdirSync(join(import.meta.dirname, "results"), { recursive: true });
writeFileSync(
  join(import.meta.dirname, "results", "growth.json"),
  `${JSON.stringify({ ...results, minutes, failed }, null, 1)}\n`,
);
fill("growth", `${circumstances({ ...machine, load: results["load"], minutes })}\n\n${markdownTable(columns, rows)}`);
process.stdout.write(failed.length === 0 ? "PASS: all limits are met\n" : `FAIL: ${failed.join("; ")}\n`);
process.exit(failed.length === 0 ? 0 : 1);
