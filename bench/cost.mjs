// @ts-check
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createCrew, defineAgent } from "../dist/index.js";
import { readRecordedRun } from "../dist/runtime/resume/recorded-run.js";
import { createFolderStore } from "../dist/runtime/store/folder-store.js";
import { encodeLines } from "../dist/runtime/store/journal-line.js";
import { depthOf, idOf, planOf, randomGraph } from "./executor/graph.mjs";
import { asyncAuto } from "./executor/peers.mjs";
import { formatted } from "./executor/report.mjs";
import { median } from "./executor/sample.mjs";
import { openServer } from "./loop/company.mjs";
import { run as bareCall } from "./loop/contenders/http-floor.mjs";

// npm run bench -- cost [--only run,node,dag,resume] [--rounds 5]
const flag = (/** @type {string} */ name) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
const rounds = Number(flag("rounds") ?? 5);
const root = mkdtempSync(join(import.meta.dirname, ".cost-"));

/** @typedef {import("./executor/report.mjs").Report} Report */

/** @param {string} url */
function crewAt(url) {
  const home = mkdtempSync(join(root, "home-"));
  return createCrew({
    home: join(home, "state"),
    cwd: home,
    env: { HOME: home },
    providers: { house: { baseURL: url, apiKey: "key-of-the-house" } },
    model: "house/m",
    agents: [defineAgent({ name: "worker", description: "works", instructions: "Work.", tools: [] })],
  });
}
/** @param {string} url */
const bare = (url) =>
  bareCall({ baseURL: url, prompt: "TURNS 0", agents: 1, turns: 0, look: () => "", home: root }).then(() => undefined);

/** @param {() => Promise<unknown>} work */
async function taken(work) {
  const used = process.cpuUsage();
  const began = performance.now();
  await work();
  const { user, system } = process.cpuUsage(used);
  return { wall: performance.now() - began, cpu: (user + system) / 1_000 };
}

/** @param {readonly { wall: number, cpu: number }[]} samples @param {number} each */
const middle = (samples, each) => ({
  wall: median(samples.map(({ wall }) => wall)) / each,
  cpu: median(samples.map(({ cpu }) => cpu)) / each,
});

/** @param {import("../dist/index.js").Run} run */
async function good(run) {
  const { status, output } = await run.then((result) => result);
  if (status !== "ok") throw new Error(`the run ended ${status}: ${output}`);
}

/** @param {string} what @param {number} is @param {number} limit */
const above = (what, is, limit) => (is <= limit ? [] : [`${what}: ${is.toFixed(2)}, ${limit} is allowed`]);

/** What one run and one node cost besides the bare call. @param {"run" | "node"} what @returns {(url: string) => Promise<Report>} */
const fixed = (what) => async (url) => {
  const each = what === "run" ? 100 : 1_000;
  const crew = crewAt(`${url}/0/v1`);
  const task = { agent: "worker", task: "TURNS 0" };
  const ours = async () => {
    if (what === "node") {
      const tasks = Array.from({ length: each }, (_, n) => ({ ...task, name: `t${n}` }));
      return good(crew.run({ mode: "parallel", tasks }, { concurrency: 8 }));
    }
    for (let n = 0; n < each; n += 1) await good(crew.run({ mode: "single", ...task }));
  };
  const floor = async () => {
    for (let n = 0; n < each; n += 1) await bare(`${url}/0/v1`);
  };
  /** @type {{ ours: { wall: number, cpu: number }[], floor: { wall: number, cpu: number }[] }} */
  const raw = { ours: [], floor: [] };
  await ours();
  await floor();
  for (let round = 0; round < rounds; round += 1) {
    raw.ours.push(await taken(ours));
    raw.floor.push(await taken(floor));
  }
  const [us, them] = [middle(raw.ours, each), middle(raw.floor, each)];
  const limit = what === "run" ? 5 : 0.9;
  const cost = { wall: us.wall - them.wall, cpu: us.cpu - them.cpu };
  return {
    title: `One ${what}, one call of a model: milliseconds`,
    how: `medians of ${rounds}, ${each} each; the cost is what it takes more than a bare call over node:http`,
    columns: ["", "wall", "cpu", ""],
    rows: Object.entries({ subcrew: us, "bare call": them, cost }).map(([name, { wall, cpu }]) => [
      name,
      wall.toFixed(2),
      cpu.toFixed(2),
      "",
    ]),
    failed: what === "run" ? above("wall of a run", cost.wall, limit) : above("cpu of a node", cost.cpu, limit),
    raw: { ...raw, each },
  };
};

const LATENCY_MS = 20;
const NODES = 500;

/** A DAG of real agents, beside async.auto on bare calls. The bound is what the calls alone take. @param {string} url @returns {Promise<Report>} */
async function dag(url) {
  const at = `${url}/${LATENCY_MS}/v1`;
  const crew = crewAt(at);
  /** @type {Record<string, { subcrew: number[], "async.auto": number[], bound: number }>} */
  const raw = {};
  for (const slots of [8, Number.POSITIVE_INFINITY]) {
    /** @type {{ subcrew: number[], "async.auto": number[], bound: number }} */
    const of = { subcrew: [], "async.auto": [], bound: 0 };
    const bounds = [];
    for (let round = 0; round <= rounds; round += 1) {
      const graph = randomGraph(NODES, round + 1);
      const { nodes, output } = planOf(graph);
      for (const node of Object.values(nodes)) if (node.kind === "task") Object.assign(node.task, { agent: "worker" });
      const concurrency = Number.isFinite(slots) ? slots : NODES;
      const us = await taken(() => good(crew.run({ nodes, output }, { concurrency })));
      const them = await taken(() => asyncAuto(graph, slots, (free) => void bare(at).then(() => free())));
      if (round === 0) continue; // it warms up
      of.subcrew.push(us.wall);
      of["async.auto"].push(them.wall);
      bounds.push(LATENCY_MS * Math.max(depthOf(graph), Number.isFinite(slots) ? Math.ceil(NODES / slots) : 0));
    }
    of.bound = median(bounds);
    raw[Number.isFinite(slots) ? String(slots) : "unlimited"] = of;
  }
  const ratio = (/** @type {string} */ slots, /** @type {"subcrew" | "async.auto"} */ who) =>
    median(raw[slots]?.[who] ?? []) / (raw[slots]?.bound ?? 1);
  return {
    title: `A DAG of ${NODES} agents, one call of ${LATENCY_MS} ms each: milliseconds`,
    how: `medians of ${rounds} graphs; the bound is the longer of the critical path and the calls divided by the slots`,
    columns: ["slots", "subcrew", "x bound", "async.auto", "x bound", ""],
    rows: Object.entries(raw).map(([slots, of]) => [
      slots,
      median(of.subcrew).toFixed(0),
      ratio(slots, "subcrew").toFixed(2),
      median(of["async.auto"]).toFixed(0),
      ratio(slots, "async.auto").toFixed(2),
      "",
    ]),
    failed: [
      ...above("8 slots, x bound", ratio("8", "subcrew"), 1.15),
      ...above("unlimited, x bound", ratio("unlimited", "subcrew"), 1.3),
    ],
    raw: { ...raw, first: idOf(0) },
  };
}

/** Reading and folding a journal of 182 MB to resume its run, beside a plain read and parse. @returns {Promise<Report>} */
async function resume() {
  const home = mkdtempSync(join(root, "journal-"));
  const store = createFolderStore(home);
  const run = "run_bench0000000";
  mkdirSync(store.place(run), { recursive: true });
  const file = join(store.place(run), "journal.jsonl");
  const events = Array.from({ length: 1_000 }, (_, at) => at);
  let seq = 0;
  let bytes = 0;
  for (const part = { flag: "a" }; bytes < 182e6; ) {
    const made = encodeLines(
      events.map(
        () => /** @type {any} */ ({ seq: ++seq, run, path: "a", at: seq, type: "note", text: "x".repeat(1_900) }),
      ),
      1,
    );
    bytes += made.length;
    writeFileSync(file, made, part);
  }
  const measure = async (/** @type {() => Promise<unknown>} */ work) => {
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    const delay = monitorEventLoopDelay({ resolution: 5 });
    let most = before;
    const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5);
    delay.enable();
    const { wall } = await taken(work);
    delay.disable();
    clearInterval(timer);
    most = Math.max(most, process.memoryUsage().rss);
    return { seconds: wall / 1_000, megabytes: (most - before) / 1e6, blockedMs: delay.max / 1e6 };
  };
  // First: what a process has taken once, it keeps, so the second of the two looks smaller.
  const ours = await measure(() => readRecordedRun(store, run));
  const plain = await measure(async () =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line)),
  );
  return {
    title: "Reading a journal of 182 MB to resume its run",
    how: "once, in this process; the plain read parses every line",
    columns: ["", "seconds", "MB", "blocked ms", ""],
    rows: Object.entries({ subcrew: ours, "plain read and parse": plain }).map(([name, of]) => [
      name,
      of.seconds.toFixed(2),
      of.megabytes.toFixed(0),
      of.blockedMs.toFixed(0),
      "",
    ]),
    failed: [
      ...above("seconds", ours.seconds, 1.3),
      ...above("megabytes", ours.megabytes, 250),
      ...above("blocked ms", ours.blockedMs, 50),
    ],
    raw: { ours, plain, bytes },
  };
}

/** @type {Record<string, (url: string) => Promise<Report>>} */
const parts = { run: fixed("run"), node: fixed("node"), dag, resume };
const only = flag("only")?.split(",") ?? Object.keys(parts);
if (only.some((name) => !Object.hasOwn(parts, name)) || !(rounds > 0)) {
  process.stderr.write(`usage: npm run bench -- cost [--only ${Object.keys(parts).join(",")}] [--rounds 5]\n`);
  process.exit(2);
}
/** @param {string} name @param {string} url */
async function measured(name, url) {
  const part = parts[name];
  if (part === undefined) throw new Error(`there is no part ${name}`);
  return part(url);
}
const machine = { node: process.version, cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length };
/** @type {Record<string, unknown>} */
const results = { ...machine, load: loadavg(), rounds };
/** @type {string[]} */
const failed = [];
const server = await openServer();
try {
  for (const name of only) {
    const report = await measured(name, server.url);
    process.stdout.write(`${formatted(report)}${report.failed.length === 0 ? "PASS" : "FAIL"}: ${name}\n\n`);
    results[name] = { ...report.raw, failed: report.failed };
    failed.push(...report.failed);
  }
} finally {
  server.close();
  rmSync(root, { recursive: true, force: true });
}
mkdirSync(join(import.meta.dirname, "results"), { recursive: true });
if (flag("only") === undefined)
  writeFileSync(join(import.meta.dirname, "results", "cost.json"), `${JSON.stringify(results, null, 1)}\n`);
process.stdout.write(failed.length === 0 ? "PASS: every limit holds\n" : `FAIL: ${failed.join("; ")}\n`);
process.exit(failed.length === 0 ? 0 : 1);
