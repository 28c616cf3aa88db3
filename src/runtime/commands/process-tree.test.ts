import { spawn } from "node:child_process";
import { getPriority } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { deprioritize } from "./process-tree.ts";

/** A sleeping process with this niceness, or with that of the tests where it is higher. */
async function sleeping(niceness: number): Promise<number> {
  const child = spawn("nice", ["-n", String(niceness), "sleep", "1000"], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  await new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
  const least = Math.min(19, getPriority() + niceness);
  await expect.poll(() => getPriority(child.pid)).toBe(least);
  return child.pid!;
}

test.runIf(process.platform === "linux")("a process that is to be ended gets less processor time", async () => {
  const pid = await sleeping(0);
  deprioritize([pid]);
  expect(getPriority(pid)).toBeGreaterThanOrEqual(10);
});

test.runIf(process.platform === "linux")(
  "a process that has less processor time already does not get more",
  async () => {
    const pid = await sleeping(15);
    const before = getPriority(pid);
    deprioritize([pid]);
    expect([before >= 15, getPriority(pid)]).toEqual([true, before]);
  },
);
