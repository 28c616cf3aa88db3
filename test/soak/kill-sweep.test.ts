import { expect, test } from "vitest";
import { modes, sweep } from "../processes/runtime/resume/kill-sweep.ts";

test.for(Object.entries(modes))(
  "%s: a run that is killed at every point and resumed ends with the same result",
  async ([name, mode]) => {
    const { points, killed, resumed } = await sweep(mode);
    process.stdout.write(`${name}: killed at ${killed} of ${points} points, ${resumed} times taken up again\n`);
    expect(resumed).toBeGreaterThan(0);
  },
);
