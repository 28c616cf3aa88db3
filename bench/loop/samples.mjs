// @ts-check
import { median } from "../executor/sample.mjs";
import { names, peers } from "./job.mjs";

/**
 * The samples of one measured quantity, by contender (compared program).
 *
 * @typedef {Record<string, number[]>} Samples
 */

/** @returns {Samples} */
export const noSamples = () => Object.fromEntries(names.map((name) => [name, []]));

/** @param {Samples} samples @param {string} name */
export const middle = (samples, name) => median(samples[name] ?? []);

/**
 * Rows of a table: each compared program with its medians, and their ratios to those of the floor (a hand-written
 * loop).
 *
 * @param {Record<string, Samples>} measures
 * @param {(value: number) => string} shown
 */
export const rowsOf = (measures, shown = (value) => value.toFixed(2)) =>
  names.map((name) => [
    name,
    ...Object.values(measures).flatMap((samples) => [
      shown(middle(samples, name)),
      (middle(samples, name) / middle(samples, "floor")).toFixed(2),
    ]),
    "",
  ]);

/**
 * The exceeded limits: subcrew's value must be less than that of each other program, and at most a multiple of the
 * floor's (a hand-written loop).
 *
 * @param {string} what
 * @param {Samples} samples
 * @param {{ floor?: number }} limits
 */
export function missed(what, samples, { floor } = {}) {
  const ours = middle(samples, "subcrew");
  const misses = peers.flatMap((peer) => {
    const theirs = middle(samples, peer);
    return ours < theirs ? [] : [`${what}: ${(ours / theirs).toFixed(2)} times ${peer}`];
  });
  const ratio = ours / middle(samples, "floor");
  return floor === undefined || ratio <= floor
    ? misses
    : [...misses, `${what}: ${ratio.toFixed(2)} times the floor, the limit is ${floor}`];
}

/**
 * Measures all contenders (compared programs) in turn; each round begins with another one.
 *
 * @param {number} rounds
 * @param {(name: string, round: number) => Promise<void>} take
 */
export async function inTurn(rounds, take) {
  for (let round = 0; round < rounds; round += 1)
    for (let at = 0; at < names.length; at += 1) await take(names[(at + round) % names.length] ?? "", round);
}
