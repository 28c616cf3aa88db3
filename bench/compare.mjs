// @ts-check
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { formatted } from "./executor/report.mjs";
import { median } from "./executor/sample.mjs";
import { homes, openContender, openServer } from "./loop/company.mjs";

// npm run bench -- compare ../OTHER-TREE [--only turn,run] [--scale 1]
/**
 * @typedef {{ prompt: string, turns: number, result: number, expected: string, runs: number, atOnce?: boolean, latency?: number, fresh?: boolean }} Job `fresh`: each run has a crew of its own
 * @typedef {{ ms: number, cpu: number, bytes: number }} Taken
 * @typedef {{ job: Job, per: number, rounds: number, warmUp: number, title: string, floors?: boolean, goal?: (of:
 * Median) => string }} Part `per`: the number by which a sample is divided
 * @typedef {(who: string, what: keyof Taken) => number} Median
 */
const here = import.meta.dirname;
const flag = (/** @type {string} */ name) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
const other = process.argv[2] === undefined || process.argv[2].startsWith("--") ? undefined : resolve(process.argv[2]);
const scale = Number(flag("scale") ?? 1);

const FLOOR = "floor, node:http";
const tools = { result: 200, expected: "done", runs: 1 };
const speech = { result: 0, turns: 0, expected: "word0 word1 word2 ", runs: 1 };
/** @type {Record<string, Part>} */
const parts = {
  turn: { title: "a turn, of 50", job: { ...tools, prompt: "TURNS 50", turns: 50 }, per: 51, rounds: 45, warmUp: 8 },
  long: {
    title: "a turn, of 300 with results of 2 KB",
    job: { ...tools, result: 2_048, prompt: "TURNS 300", turns: 300 },
    per: 301,
    rounds: 9,
    warmUp: 1,
  },
  tokens: { title: "1,000 tokens at once", job: { ...speech, prompt: "SPEAK" }, per: 5, rounds: 25, warmUp: 5 },
  dribble: { title: "1,000 tokens one by one", job: { ...speech, prompt: "DRIBBLE" }, per: 5, rounds: 15, warmUp: 3 },
  run: {
    title: "a run with one call, one after the other",
    job: { ...tools, prompt: "TURNS 0", turns: 0, runs: 50 },
    per: 50,
    rounds: 20,
    warmUp: 4,
    floors: true,
    goal: (of) =>
      `one run, fixed cost (without the bare call over node:http): ${(of("now", "ms") - of(FLOOR, "ms")).toFixed(2)} ms wall, ${(of("now", "cpu") - of(FLOOR, "cpu")).toFixed(2)} ms of processor time; the goal is 5 ms wall`,
  },
  crew: {
    title: "a run with a crew of its own",
    job: { ...tools, prompt: "TURNS 0", turns: 0, runs: 20, fresh: true },
    per: 20,
    rounds: 10,
    warmUp: 3,
  },
  crowd: {
    title: "1,000 runs at once, 5 tool turns each, 50 ms latency",
    job: { ...tools, prompt: "TURNS 5", turns: 5, runs: 1_000, atOnce: true, latency: 50 },
    per: 1_000,
    rounds: 3,
    warmUp: 0,
    floors: true,
    goal: (of) =>
      `1,000 agents, one run each: ${(of("now", "ms") / of(FLOOR, "ms")).toFixed(2)} x the floor over node:http, ${(of("now", "ms") / of("floor, fetch", "ms")).toFixed(2)} x that over fetch, ${(of("now", "bytes") / 1_024).toFixed(0)} KB each; the goals are 3.5 x and 250 KB`,
  },
};
const only = flag("only")?.split(",") ?? Object.keys(parts);
if ((other !== undefined && !existsSync(join(other, "dist"))) || only.some((name) => !Object.hasOwn(parts, name))) {
  process.stderr.write(
    `usage: npm run bench -- compare [BUILT-TREE] [--only ${Object.keys(parts).join(",")}] [--scale 1]\n`,
  );
  process.exit(2);
}
/** @type {Record<string, string>} */
const trees = { ...(other !== undefined && { before: other }), now: join(here, "..") };

/** Starts a built copy of the project in its own process. */
async function openTree(tree, url) {
  const child = fork(join(here, "compare", "child.mjs"), [tree, homes, url], { execArgv: ["--expose-gc"] });
  await once(child, "message");
  return {
    /** @param {Job} job @returns {Promise<Taken>} */
    async ask(job) {
      child.send(job);
      const [taken] = await once(child, "message");
      if (taken.error !== undefined) throw new Error(`${tree}: ${taken.error}`);
      return taken;
    },
    close: () => child.disconnect(),
  };
}

/**
 * Starts the floor (the lower bound): a hand-written loop that makes the same calls. @param {string} name @param
 * {string} url
 */
async function openFloor(name, url) {
  const one = await openContender(name);
  return {
    /** @param {Job} job @returns {Promise<Taken>} */
    async ask({ runs, atOnce = false, prompt, turns, result, expected }) {
      const all = { ms: 0, cpu: 0, bytes: 0 };
      for (let n = 0; n < (atOnce ? 1 : runs); n += 1) {
        const { ms, cpu, bytes } = await one.ask({
          baseURL: url,
          prompt,
          turns,
          result,
          expected,
          agents: atOnce ? runs : 1,
        });
        all.ms += ms;
        all.cpu += cpu;
        all.bytes = bytes;
      }
      return all;
    },
    close: one.close,
  };
}

/** @param {Part} part @param {string} url */
async function measure({ job, per, rounds, warmUp, floors = false }, url) {
  const at = `${url}/${job.latency ?? 0}/v1`;
  const open = async () => ({
    ...Object.fromEntries(
      await Promise.all(
        Object.entries(trees).map(async ([name, tree]) => /** @type {const} */ ([name, await openTree(tree, at)])),
      ),
    ),
    ...(floors && {
      [FLOOR]: await openFloor("http-floor", at),
      "floor, fetch": await openFloor("floor", at),
    }),
  });
  /** @type {Record<string, Taken[]>} */
  const samples = {};
  let company = await open();
  const count = Math.max(1, Math.round(rounds * scale));
  for (let round = -warmUp; round < count; round += 1) {
    const names = Object.keys(company);
    for (let n = 0; n < names.length; n += 1) {
      const name = names[(n + round + warmUp) % names.length] ?? "";
      const one = /** @type {Awaited<ReturnType<typeof openTree>>} */ (company[name]);
      // Warm up with small jobs. Large ones need a new process each round, since memory after earlier work is not representative.
      if (job.atOnce) for (let first = 0; first < 2; first += 1) await one.ask({ ...job, runs: 20 });
      const taken = await one.ask(job);
      if (round >= 0)
        (samples[name] ??= []).push({ ms: taken.ms / per, cpu: taken.cpu / per, bytes: taken.bytes / per });
    }
    if (!job.atOnce || round === count - 1) continue;
    for (const one of Object.values(company)) one.close();
    company = await open();
  }
  for (const one of Object.values(company)) one.close();
  return samples;
}

const machine = { node: process.version, cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length };
/** @type {Record<string, unknown>} */
const results = { ...machine, load: loadavg() };
const began = performance.now();
const server = await openServer();
try {
  for (const name of only) {
    const part = parts[name];
    if (!part) continue;
    const samples = await measure(part, server.url);
    const of = (/** @type {string} */ who, /** @type {keyof Taken} */ what) =>
      median((samples[who] ?? []).map((taken) => taken[what]));
    const names = [...new Set([...Object.keys(trees), ...Object.keys(samples)])];
    const first = Object.keys(trees)[0] ?? "";
    const rows = names.map((who) => [
      who,
      of(who, "ms").toFixed(3),
      (of(who, "ms") / of(first, "ms")).toFixed(2),
      of(who, "cpu").toFixed(3),
      (of(who, "cpu") / of(first, "cpu")).toFixed(2),
      part.job.atOnce ? (of(who, "bytes") / 1_024).toFixed(0) : "",
      "",
    ]);
    const columns = ["", "wall ms", `x ${first}`, "cpu ms", `x ${first}`, part.job.atOnce ? "KB" : "", ""];
    const how = `medians of ${samples[first]?.length}, in turn, each in a process of its own; load ${(loadavg()[0] ?? 0).toFixed(1)}`;
    process.stdout.write(`${formatted({ title: part.title, how, columns, rows, failed: [], raw: {} })}\n`);
    if (part.goal !== undefined) process.stdout.write(`${part.goal(of)}\n\n`);
    results[name] = samples;
  }
} finally {
  server.close();
  rmSync(homes, { recursive: true, force: true });
}
process.stdout.write(`${((performance.now() - began) / 1_000).toFixed(0)} s\n`);
if (flag("only") === undefined) {
  mkdirSync(join(here, "results"), { recursive: true });
  writeFileSync(join(here, "results", "compare.json"), `${JSON.stringify(results, null, 1)}\n`);
}
process.exit();
