import { expect, test } from "vitest";
import { combineLimits, type ResourceLimits } from "./limits.ts";
import {
  chooseRunner,
  isForeign,
  parseRunnerName,
  type RunnerName,
  type RunnerWishes,
  strangeRunner,
} from "./runner-name.ts";

test.each<[says: string, wishes: RunnerWishes, limits: ResourceLimits, depth: number, runner: RunnerName]>([
  ["no runner is named", {}, {}, 0, "local"],
  ["the agent names process", { agent: "process" }, {}, 0, "process"],
  ["a person's task wins over the agent", { task: "local", agent: "process" }, {}, 0, "local"],
  ["a task given by an agent does not move it back", { task: "local", agent: "process" }, {}, 1, "process"],
  [
    "a task given by an agent moves it to a more isolated runner",
    { task: "process", agent: "thread" },
    {},
    1,
    "process",
  ],
  ["a memory limit", {}, { maxMemoryMB: 100 }, 0, "process"],
  ["a limit of processor time", {}, { maxCpuSeconds: 1 }, 0, "process"],
  ["a limit that cannot be enforced here", { task: "local" }, { maxMemoryMB: 100 }, 0, "process"],
  ["a limit that a thread can enforce, too", { task: "thread" }, { maxMemoryMB: 100 }, 0, "thread"],
  ["the former name of the thread, in a journal", { agent: "worker" as RunnerName }, {}, 1, "thread"],
  ["a person gives it to another tool", { task: "claude", agent: "process" }, {}, 0, "claude"],
  ["an agent that belongs to another tool stays there", { task: "local", agent: "codex" }, {}, 1, "codex"],
  ["a model does not give it to another tool", { task: "acp:evil", agent: "thread" }, {}, 1, "thread"],
  ["limits that do not matter for the runner", {}, { maxTurns: 3, maxDurationMs: 5 }, 0, "local"],
])("the runner of a task: %s", (_, wishes, limits, depth, runner) => {
  expect(chooseRunner(wishes, { limits: combineLimits(limits), depth })).toBe(runner);
});

test("known runner names are parsed, unknown names are not, and other agent programs are recognised", () => {
  expect(["local", "claude", "acp:my-agent --stdio", "acp:", "moon", "acp", "worker"].map(parseRunnerName)).toEqual([
    "local",
    "claude",
    "acp:my-agent --stdio",
    undefined,
    undefined,
    undefined,
    "thread",
  ]);
  expect((["local", "process", "claude", "acp:x", "a2a"] as const).map(isForeign)).toEqual([
    false,
    false,
    true,
    true,
    false,
  ]);
});

test.each<[who: string, wishes: RunnerWishes, depth: number, from: string | undefined, why: RegExp | undefined]>([
  ["a person may name any runner", { task: "acp:x" }, 0, "project", undefined],
  ["a model may not name one", { task: "claude" }, 1, "user", /on its own/],
  ["a model may repeat the runner of the agent", { task: "claude", agent: "claude" }, 1, "user", undefined],
  ["a user's file may", { agent: "acp:x" }, 0, "user", undefined],
  ["a file of a project may name a tool", { agent: "claude" }, 0, "project", undefined],
  ["a file of a project may not name a command", { agent: "acp:x" }, 0, "project", /command to run/],
  ["a file of a plugin may not either, whoever starts it", { agent: "acp:x" }, 2, "plugin", /command to run/],
])("who may choose a program as runner: %s", (_, wishes, depth, from, why) => {
  const said = strangeRunner(wishes, { depth, from });
  if (why) expect(said).toMatch(why);
  else expect(said).toBeUndefined();
});
