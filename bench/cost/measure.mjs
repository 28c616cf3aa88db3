// @ts-check
import { median } from "../executor/sample.mjs";

/**
 * The wall and processor time of some work, in milliseconds.
 *
 * @typedef {{ wall: number, cpu: number }} Taken
 * @typedef {import("../executor/report.mjs").Report} Report
 * @typedef {{ what: string, ours: string, peers: string, goal: string, met: boolean }} Row one line of the table in the README
 * @typedef {{ url: string, root: string, rounds: number }} Bench
 * @typedef {(bench: Bench) => Promise<Report & { table: Row[] }>} Part
 */

/** @param {() => Promise<unknown>} work @returns {Promise<Taken>} */
export async function taken(work) {
  const used = process.cpuUsage();
  const began = performance.now();
  await work();
  const { user, system } = process.cpuUsage(used);
  return { wall: performance.now() - began, cpu: (user + system) / 1_000 };
}

/**
 * The medians of some samples, divided by `each`.
 *
 * @param {readonly Taken[]} samples @param {number} each @returns {Taken}
 */
export const middle = (samples, each = 1) => ({
  wall: median(samples.map(({ wall }) => wall)) / each,
  cpu: median(samples.map(({ cpu }) => cpu)) / each,
});

/** @param {Taken} one @param {Taken} other @returns {Taken} */
export const less = (one, other) => ({ wall: one.wall - other.wall, cpu: one.cpu - other.cpu });

/** @param {string} what @param {number} is @param {number} limit */
export const above = (what, is, limit) => (is <= limit ? [] : [`${what}: ${is.toFixed(2)}, the limit is ${limit}`]);

/**
 * Measures all contenders (the compared programs) in turn; each round begins with another one.
 *
 * @template T
 * @param {Record<string, (round: number) => Promise<T>>} ways
 * @param {{ rounds: number, warmUp: number }} how
 * @returns {Promise<Record<string, T[]>>}
 */
export async function inTurns(ways, { rounds, warmUp }) {
  /** @type {Record<string, T[]>} */
  const samples = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  const names = Object.keys(ways);
  for (let round = 0; round < warmUp + rounds; round += 1)
    for (let at = 0; at < names.length; at += 1) {
      const name = names[(at + round) % names.length] ?? "";
      const sample = await ways[name]?.(round);
      if (round >= warmUp && sample !== undefined) samples[name]?.push(sample);
    }
  return samples;
}

/** @param {number} value */
export const shown = (value) => (value >= 100 ? value.toFixed(0) : value.toFixed(2));
