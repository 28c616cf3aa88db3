import { expect, test } from "vitest";
import { modes, sweep } from "../processes/runtime/resume/kill-sweep.ts";

test.for(Object.entries(modes))(
  "%s: killed at every point and taken up again, it comes to the same end",
  async ([name, mode]) => {
    const { points, killed, resumed } = await sweep(mode);
    process.stdout.write(`${name}: killed at ${killed} of ${points} points, ${resumed} times taken up again\n`);
    expect(resumed).toBeGreaterThan(0);
  },
);
