import { expect, test } from "vitest";
import { modes, sweep } from "../processes/runtime/resume/kill-sweep.ts";

test.for(Object.entries(modes))(
  "%s: a run that is killed, paused or cancelled at every point and resumed ends with the same result",
  async ([name, mode]) => {
    const { points, stopped, resumed } = await sweep(mode);
    process.stdout.write(`${name}: stopped ${stopped} times at ${points} points, ${resumed} times taken up again\n`);
    expect(resumed).toBeGreaterThan(0);
  },
);
