import { expect, test } from "vitest";
import { modes, STOPS, sweep } from "./kill-sweep.ts";

/**
 * How many points of each mode are tried with every change, each with the next way to stop; the long rounds try all of
 * them.
 */
const POINTS = 3;

// LOG-01: a real SIGKILL, SIGINT, SIGTERM, SIGHUP, stop and cancel at writes, in every mode.
// RES-11: finished branches are reused, and a winner stays the winner.
test.for(Object.entries(modes))(
  "%s: a run that is killed at any point and resumed ends with the same result",
  { timeout: 600_000 },
  async ([name, mode]) => {
    // Each mode begins with another way to stop, so that the first and the last points are tried with all of them.
    const first = Object.keys(modes).indexOf(name) % STOPS.length;
    const { points, stopped, resumed } = await sweep(mode, POINTS, [...STOPS.slice(first), ...STOPS.slice(0, first)]);
    process.stdout.write(`${name}: stopped at ${stopped} of ${points} points, ${resumed} times taken up again\n`);
    expect(resumed).toBeGreaterThan(0);
  },
);
