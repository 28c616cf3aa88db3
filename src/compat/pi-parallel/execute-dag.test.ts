import { describe, expect, test } from "vitest";
import { buildDag } from "../../facades/parallel/dag.ts";
import {
  type ExecutorOptions,
  noUsageStats,
  type TaskProgress,
  type TaskResult,
} from "../../facades/parallel/task-result.ts";
import type { TeamMember, TeamTask } from "../../modes/team.ts";
import { type DagExecutionOptions, executeDag } from "./execute-dag.ts";
import { runAgentWithRetry } from "./run-agent-with-retry.ts";

const result = ({ id, task }: ExecutorOptions, more: Partial<TaskResult> = {}): TaskResult => ({
  id,
  task,
  exitCode: 0,
  output: `out of ${id}`,
  stderr: "",
  truncated: false,
  durationMs: 0,
  usage: noUsageStats(),
  ...more,
});
const members = new Map<string, TeamMember>([
  ["dev", { role: "dev", model: "m", tools: ["read_file"], systemPrompt: "You develop." }],
  ["rev", { role: "rev" }],
]);

async function run(tasks: TeamTask[], more: Partial<DagExecutionOptions> = {}) {
  const nodes = buildDag(tasks, members);
  const given: ExecutorOptions[] = [];
  const { runAgent = async (options) => result(options), ...rest } = more;
  const done = await executeDag({
    nodes,
    members,
    objective: "Ship it.",
    cwd: "/work",
    maxConcurrency: 2,
    ...rest,
    runAgent: (options) => {
      given.push(options);
      return runAgent(options);
    },
  });
  return { ...done, nodes, given };
}

test("an agent gets its task, the settings of its member, and the results of others", async () => {
  const { given } = await run(
    [
      { id: "a", task: "first" },
      { id: "b", task: "then {task:a}", assignee: "dev", depends: ["a", "c"], resourceLimits: { maxTurns: 2 } },
      { id: "c", task: "also" },
    ],
    { sharedContext: "The shared context." },
  );
  expect(given.find(({ id }) => id === "b")).toMatchObject({
    task: "then out of a",
    cwd: "/work",
    id: "b",
    name: "dev: b",
    model: "m",
    tools: ["read_file"],
    systemPrompt: "You develop.",
    resourceLimits: { maxTurns: 2, maxDurationMs: 300_000 },
    context:
      'The shared context.\n\nThe team\'s objective: Ship it.\nYour role in the team: dev\n\n<result of="c">\nout of c\n</result>',
  });
});

test("an agent may work for 5 minutes unless its limits say otherwise", async () => {
  const { given } = await run([
    { id: "a", task: "first" },
    { id: "b", task: "second", resourceLimits: { maxDurationMs: 1_000 } },
  ]);
  expect(given.map(({ id, resourceLimits }) => [id, resourceLimits])).toEqual([
    ["a", { maxDurationMs: 300_000 }],
    ["b", { maxDurationMs: 1_000 }],
  ]);
  const alone: unknown[] = [];
  await runAgentWithRetry({ task: "t", cwd: "/", id: "t" }, async (options) => {
    alone.push(options.resourceLimits);
    return result(options);
  });
  expect(alone).toEqual([{ maxDurationMs: 300_000 }]);
});

test("a task is retried as its member is configured, and only the last result counts", async () => {
  let tries = 0;
  const { results, nodes, given } = await run([{ id: "a", task: "a", retry: { maxAttempts: 3, backoffMs: 0 } }], {
    runAgent: async (options) => {
      tries += 1;
      if (tries === 2) throw new Error("thrown");
      return result(options, tries < 3 ? { exitCode: 1, error: "down" } : {});
    },
  });
  expect(given.map(({ id, retry }) => [id, retry])).toEqual([
    ["a", undefined],
    ["a", undefined],
    ["a", undefined],
  ]);
  expect(results.map(({ id, exitCode }) => [id, exitCode])).toEqual([["a", 0]]);
  expect(nodes.get("a")?.status).toBe("completed");
});

test("an agent that throws has failed, and its error is its result", async () => {
  const { results, nodes } = await run([{ id: "a", task: "a" }], {
    runAgent: () => Promise.reject(new Error("thrown")),
  });
  expect(results).toMatchObject([{ id: "a", exitCode: 1, error: "thrown" }]);
  expect(nodes.get("a")?.status).toBe("failed");
});

test("an abort ends the graph at once, even if an agent ignores its signal", async () => {
  const controller = new AbortController();
  const { aborted, results, nodes } = await run(
    [
      { id: "a", task: "a" },
      { id: "deaf", task: "d" },
      { id: "b", task: "b", depends: ["a", "deaf"] },
    ],
    {
      signal: controller.signal,
      runAgent: (options) => {
        if (options.id === "deaf") return new Promise(() => setImmediate(() => controller.abort()));
        return Promise.resolve(result(options));
      },
    },
  );
  expect(aborted).toBe(true);
  expect(results.map(({ id }) => id)).toEqual(["a"]);
  expect([...nodes].map(([id, { status }]) => [id, status])).toEqual([
    ["a", "completed"],
    ["deaf", "aborted"],
    ["b", "aborted"],
  ]);
});

test("an empty graph succeeds", async () => {
  expect(await run([])).toMatchObject({ results: [], aborted: false });
});

describe("progress", () => {
  test("goes through every state, and includes the reports of agents", async () => {
    const seen: string[] = [];
    let last: readonly TaskProgress[] = [];
    const tasks: TeamTask[] = [
      { id: "w", task: "write", assignee: "dev", review: { reviewer: "rev" }, requiresApproval: true },
      { id: "z", task: "z", depends: ["w"] },
    ];
    const answers = [{ approved: false, feedback: "shorter" }, { approved: true }];
    const { given } = await run(tasks, {
      onApprovalNeeded: async () => answers.shift()!,
      onProgress: (nodes, progress) => {
        const states = [...nodes].map(([id, { status }]) => `${id} ${status}`).join(", ");
        if (seen.at(-1) !== states) seen.push(states);
        last = progress;
      },
      runAgent: async (options) => {
        options.onProgress?.({
          id: options.id,
          status: "running",
          task: options.task,
          recentTools: [],
          recentOutput: ["hm"],
          toolCount: 4,
          tokens: 9,
          durationMs: 1,
        });
        const output =
          options.id === "w:review:1" ? "no\nREVISION_NEEDED" : options.id.includes("review") ? "APPROVED" : options.id;
        return result(options, { output });
      },
    });
    expect(given.map(({ id }) => id)).toEqual([
      "w",
      "w:review:1",
      "w:revision:2",
      "w:review:2",
      "w:revision:3",
      "w:review:3",
      "z",
    ]);
    expect(seen).toEqual([
      "w ready, z pending",
      "w running, z pending",
      "w reviewing, z pending",
      "w revising, z pending",
      "w reviewing, z pending",
      "w awaiting_approval, z pending",
      "w revising, z pending",
      "w reviewing, z pending",
      "w awaiting_approval, z pending",
      "w completed, z pending",
      "w completed, z ready",
      "w completed, z running",
      "w completed, z completed",
    ]);
    expect(last.map(({ id, status, toolCount }) => [id, status, toolCount])).toEqual([
      ["w", "completed", 4],
      ["z", "completed", 4],
      ["w:review:1", "completed", 4],
      ["w:revision:2", "completed", 4],
      ["w:review:2", "completed", 4],
      ["w:revision:3", "completed", 4],
      ["w:review:3", "completed", 4],
    ]);
  });
});
