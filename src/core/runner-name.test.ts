import { expect, test } from "vitest";
import { combineLimits, type ResourceLimits } from "./limits.ts";
import { chooseRunner, type RunnerName, type RunnerWishes } from "./runner-name.ts";

test.each<[says: string, wishes: RunnerWishes, limits: ResourceLimits, depth: number, runner: RunnerName]>([
  ["nobody says anything", {}, {}, 0, "local"],
  ["the agent says process", { agent: "process" }, {}, 0, "process"],
  ["a person's task beats the agent", { task: "local", agent: "process" }, {}, 0, "local"],
  ["a task that an agent gave does not bring it back", { task: "local", agent: "process" }, {}, 1, "process"],
  ["a task that an agent gave moves it further away", { task: "process", agent: "worker" }, {}, 1, "process"],
  ["a memory limit", {}, { maxMemoryMB: 100 }, 0, "process"],
  ["a limit of processor time", {}, { maxCpuSeconds: 1 }, 0, "process"],
  ["a limit that cannot be kept here", { task: "local" }, { maxMemoryMB: 100 }, 0, "process"],
  ["a limit that a thread keeps, too", { task: "worker" }, { maxMemoryMB: 100 }, 0, "worker"],
  ["limits that have nothing to do with it", {}, { maxTurns: 3, maxDurationMs: 5 }, 0, "local"],
])("%s", (_, wishes, limits, depth, runner) => {
  expect(chooseRunner(wishes, { limits: combineLimits(limits), depth })).toBe(runner);
});
