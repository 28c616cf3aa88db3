// @ts-check
import { existsSync, readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";

// The compared programs take turns, and garbage collection between them would discard the compiled code of the idle
// ones.
setFlagsFromString("--no-flush-bytecode");

/**
 * One program to measure (a contender).
 *
 * @typedef {{ name: string, run: (round: number) => unknown }} Contender
 */

/** A sample is repeated when the process waited for a processor for more than this share of the time. */
const DISTURBED = 0.01;
/** The maximum number of attempts; after them, the least disturbed sample counts. */
const ATTEMPTS = 4;

/**
 * Measures every contender (compared program) once per round, in turn, so that a slow minute of the machine affects all
 * of them. Each round starts with another contender. The first `warmUp` rounds do not count.
 *
 * @param {readonly Contender[]} contenders
 * @param {{ rounds: number, warmUp: number }} options
 * @returns {Promise<Map<string, number[]>>} milliseconds by name, one for each round
 */
export async function interleaved(contenders, { rounds, warmUp }) {
  /** @type {Map<string, number[]>} */
  const taken = new Map(contenders.map(({ name }) => [name, []]));
  for (let round = -warmUp; round < rounds; round += 1) {
    for (let index = 0; index < contenders.length; index += 1) {
      const next = contenders[(index + round + warmUp) % contenders.length];
      if (!next) continue;
      if (round < 0) await next.run(0);
      else taken.get(next.name)?.push(await undisturbed(() => next.run(round)));
    }
  }
  return taken;
}

/**
 * @param {() => unknown} run
 * @returns {Promise<number>}
 */
function undisturbed(run) {
  return leastDisturbed(async () => {
    const began = performance.now();
    await run();
    return performance.now() - began;
  });
}

/**
 * Repeats a sample while other processes used the processor; the least disturbed sample counts.
 *
 * @param {() => Promise<number>} sample gives the milliseconds that it took
 * @returns {Promise<number>}
 */
export async function leastDisturbed(sample) {
  let least = { ms: Number.NaN, disturbed: Number.POSITIVE_INFINITY };
  for (let attempt = 0; attempt < ATTEMPTS && least.disturbed > DISTURBED; attempt += 1) {
    collectGarbage(); // so that garbage of the previous program is not charged to the next
    const waited = waitedMs();
    const ms = await sample();
    const disturbed = (waitedMs() - waited) / ms;
    if (disturbed < least.disturbed) least = { ms, disturbed };
  }
  return least.ms;
}

/** How long the main thread was ready to run but had no processor, if the system reports it. */
function waitedMs() {
  if (!existsSync(SCHEDULER)) return 0;
  return Number(readFileSync(SCHEDULER, "utf8").split(" ")[1]) / 1e6;
}

const SCHEDULER = "/proc/self/schedstat";

/** @param {readonly number[]} numbers */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The bytes in use after a garbage collection. */
export function heapUsed() {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function collectGarbage() {
  if (!globalThis.gc) throw new Error("start node with --expose-gc, as `npm run bench -- executor` does");
  globalThis.gc();
}
