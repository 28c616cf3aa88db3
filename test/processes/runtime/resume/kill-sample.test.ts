import { expect, test } from "vitest";
import { modes, sweep } from "./kill-sweep.ts";

/** How many points of each mode are tried with every change; the long rounds try all of them. */
const POINTS = 20;

// LOG-01: and RES-11: a real SIGKILL at every write, in every mode; finished branches are reused, a winner stays the winner.
test.for(Object.entries(modes))(
  "%s: a run that is killed at any point and resumed ends with the same result",
  { timeout: 600_000 },
  async ([name, mode]) => {
    const { points, killed, resumed } = await sweep(mode, POINTS);
    process.stdout.write(`${name}: killed at ${killed} of ${points} points, ${resumed} times taken up again\n`);
    expect(resumed).toBeGreaterThan(0);
  },
);
