// @ts-check
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { join } from "node:path";
import { median } from "../executor/sample.mjs";
import { homes, openContender } from "./company.mjs";
import { names } from "./job.mjs";
import { inTurn, middle, missed, noSamples, rowsOf } from "./samples.mjs";

/**
 * @typedef {import("../executor/report.mjs").Report} Report
 * @typedef {(context: { url: string, rounds: number }) => Promise<Report>} Part
 */

const WARM_UP = 3;
const ONE = { agents: 1, result: 200, expected: "done" };

/**
 * Repeats a job for all contenders (compared programs), each in its own long-lived process.
 *
 * @param {import("./company.mjs").Asked} job
 * @param {{ rounds: number, warmUp?: number }} how
 * @param {(name: string, taken: import("./company.mjs").Taken) => void} note
 */
async function again(job, { rounds, warmUp = WARM_UP }, note) {
  const company = new Map();
  for (const name of names) company.set(name, await openContender(name));
  await inTurn(warmUp + rounds, async (name, round) => {
    const taken = await company.get(name).ask(job);
    if (round >= warmUp) note(name, taken);
  });
  for (const one of company.values()) one.close();
}

/** @type {Part} */
async function turns({ url, rounds }) {
  const [wall, cpu] = [noSamples(), noSamples()];
  const job = { ...ONE, baseURL: `${url}/0/v1`, prompt: "TURNS 50", turns: 50 };
  await again(job, { rounds }, (name, { ms, cpu: used }) => {
    wall[name]?.push(ms / 51);
    cpu[name]?.push(used / 51);
  });
  return {
    title: "One agent, 50 tool turns, no latency: milliseconds per turn",
    how: `medians of ${rounds}, interleaved, after ${WARM_UP} rounds that do not count`,
    columns: ["", "wall", "x floor", "cpu", "x floor", ""],
    rows: rowsOf({ wall, cpu }),
    failed: [...missed("wall per turn", wall), ...missed("cpu per turn", cpu)],
    raw: { wall, cpu },
  };
}

/**
 * @param {string} prompt
 * @param {string} how
 * @returns {Part}
 */
const speech =
  (prompt, how) =>
  async ({ url, rounds }) => {
    const [wall, cpu] = [noSamples(), noSamples()];
    const job = { ...ONE, baseURL: `${url}/0/v1`, prompt, turns: 0, expected: "word0 word1 word2 " };
    await again(job, { rounds }, (name, { ms, cpu: used }) => {
      wall[name]?.push((ms * 1_000) / 5_000);
      cpu[name]?.push((used * 1_000) / 5_000);
    });
    return {
      title: `One answer of 5,000 tokens, ${how}: microseconds per token`,
      how: `medians of ${rounds}, interleaved, after ${WARM_UP} rounds that do not count`,
      columns: ["", "wall", "x floor", "cpu", "x floor", ""],
      rows: rowsOf({ wall, cpu }),
      failed: [...missed(`wall per token ${how}`, wall), ...missed(`cpu per token ${how}`, cpu)],
      raw: { wall, cpu },
    };
  };

/**
 * @param {number} agents
 * @param {boolean} separate each agent is a run of its own
 * @returns {Part}
 */
const crowd =
  (agents, separate = false) =>
  async ({ url, rounds }) => {
    const [wall, memory] = [noSamples(), noSamples()];
    const job = { agents, separate, result: 200, expected: "", prompt: "TURNS 5", turns: 5 };
    const how = separate ? "one run each" : "in one run";
    await inTurn(rounds, async (name) => {
      const one = await openContender(name); // a new process, because memory after earlier work is not representative
      await one.ask({ ...job, agents: 20, baseURL: `${url}/0/v1` });
      await one.ask({ ...job, agents: 20, baseURL: `${url}/0/v1` });
      const { ms, bytes } = await one.ask({ ...job, baseURL: `${url}/50/v1` });
      one.close();
      wall[name]?.push(ms);
      memory[name]?.push(bytes / agents / 1_024);
    });
    return {
      title: `${agents.toLocaleString("en")} agents ${how}, 5 tool turns each, 50 ms latency: milliseconds in all, KB per agent`,
      how: `medians of ${rounds}, each in a new process that warmed up with 20 agents; memory is the growth of the resident set at its peak`,
      columns: ["", "wall", "x floor", "KB", "x floor", ""],
      rows: rowsOf({ wall, memory }, (value) => value.toFixed(0)),
      failed: [
        ...missed(`wall of ${agents} agents ${how}`, wall, { floor: separate ? 3.5 : 3 }),
        ...missed(`memory of ${agents} agents ${how}`, memory, { floor: 3 }),
      ],
      raw: { wall, memory },
    };
  };

/** The range of turns from which the early cost of a turn is computed: the median of the times between tool calls. */
const EARLY = [10, 40];
const LATE = [265, 295];
const GROWTH = 1.2;

/** @type {Part} */
async function history({ url, rounds }) {
  const [early, late, ratio] = [noSamples(), noSamples(), noSamples()];
  const job = { ...ONE, result: 2_048, baseURL: `${url}/0/v1`, prompt: "TURNS 300", turns: 300 };
  await again(job, { rounds, warmUp: 1 }, (name, { at }) => {
    const between = at.slice(1).map((time, turn) => time - (at[turn] ?? time));
    const [first, last] = [median(between.slice(...EARLY)), median(between.slice(...LATE))];
    early[name]?.push(first);
    late[name]?.push(last);
    ratio[name]?.push(last / first);
  });
  const [ours, floor] = [middle(ratio, "subcrew"), middle(ratio, "floor")];
  return {
    title: "One agent, 300 tool turns with results of 2 KB: milliseconds of an early and of a late turn",
    how: `medians of ${rounds}, interleaved; turns ${EARLY.join(" to ")} and ${LATE.join(" to ")}`,
    columns: ["", "early", "late", "late / early", ""],
    rows: names.map((name) => [name, ...[early, late, ratio].map((samples) => middle(samples, name).toFixed(2)), ""]),
    failed:
      ours <= floor * GROWTH
        ? []
        : [`growth of a turn: ${(ours / floor).toFixed(2)} times the floor's, the limit is ${GROWTH}`],
    raw: { early, late, ratio },
  };
}

/** @type {Part} */
async function start({ rounds: asked }) {
  const rounds = asked * 3;
  const wall = noSamples();
  /** @type {(at: number) => void} */
  let heard = () => {};
  const server = createServer((_req, res) => {
    heard(performance.now());
    res.writeHead(500).end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  await inTurn(rounds + 1, async (name, round) => {
    const first = new Promise((resolve) => {
      heard = resolve;
    });
    const began = performance.now();
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, "child.mjs"), name, homes, `http://127.0.0.1:${port}/v1`],
      { stdio: "ignore" },
    );
    const at = await first;
    child.kill("SIGKILL");
    if (round > 0) wall[name]?.push(at - began);
  });
  server.close();
  return {
    title: "From a new process to its first request: milliseconds",
    how: `medians of ${rounds}, interleaved`,
    columns: ["", "wall", "x floor", ""],
    rows: rowsOf({ wall }, (value) => value.toFixed(0)),
    failed: missed("start", wall, { floor: 2 }),
    raw: { wall },
  };
}

/** The parts, in the order in which they are measured. */
export const parts = {
  turns,
  tokens: speech("SPEAK", "sent at once"),
  dribble: speech("DRIBBLE", "sent one by one"),
  agents200: crowd(200),
  agents1000: crowd(1_000),
  runs1000: crowd(1_000, true),
  history,
  start,
};
