// @ts-check
import { median } from "../executor/sample.mjs";

/** @typedef {import("../executor/report.mjs").Report} Report */

/** How the table names a repeated search for agents with a cache. */
export const AGAIN = "subcrew, unchanged files";

/**
 * Limits on subcrew's time for finding agents, as multiples of the time of another program (peer) in the same
 * measurement.
 */
const limits = [
  { ours: "subcrew", peer: "js-yaml", atMost: 1.3 },
  { ours: "subcrew", peer: "gray-matter", atMost: 1 },
  { ours: AGAIN, peer: "bare read", atMost: 2 },
];

/**
 * The table of one measurement; the medians decide whether limits are exceeded.
 *
 * @param {ReadonlyMap<string, number[]>} taken
 * @param {{ title: string, how: string, judged?: boolean }} about
 * @returns {Report}
 */
export function compared(taken, { title, how, judged = true }) {
  const medians = new Map([...taken].map(([name, list]) => [name, median(list)]));
  const ratio = (/** @type {string} */ name, /** @type {string} */ peer) =>
    (medians.get(name) ?? Number.NaN) / (medians.get(peer) ?? Number.NaN);
  const peers = PEERS.filter((peer) => medians.has(peer));
  /** @type {string[]} */
  const failed = [];
  const rows = [...medians].map(([name, ms]) => {
    const verdicts = limits
      .filter(({ ours }) => judged && ours === name)
      .map(({ peer, atMost }) => {
        const ok = ratio(name, peer) <= atMost;
        if (!ok) failed.push(`${title}: ${name} takes ${ratio(name, peer).toFixed(2)} x ${peer}`);
        return `${ok ? "PASS" : "FAIL"} (${atMost} x ${peer})`;
      });
    const times = peers.map((peer) => ratio(name, peer).toFixed(2));
    return [name, ms.toFixed(1), ...times, verdicts.join(", ")];
  });
  return {
    title,
    how,
    columns: ["", "ms", ...peers.map((peer) => `/ ${peer}`), ""],
    rows,
    failed,
    raw: Object.fromEntries(taken),
  };
}

const PEERS = ["bare read", "js-yaml", "gray-matter"];
