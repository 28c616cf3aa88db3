import { expect, test } from "vitest";
import { createBudget } from "../../core/run/budget.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { Assignment } from "../../core/task/runner.ts";
import type { ToTask } from "../../runtime/channel/protocol.ts";
import { spawnTask } from "./spawn-task.ts";

const call = { run: "run_1", path: "lead", attempt: 1, task: { prompt: "x" }, attachments: [], context: "", depth: 0 };
const assignment = {
  call,
  agent: { name: "lead", description: "", instructions: "" },
  rights: { name: "lead", tools: ["read_file"], withheld: [] },
  model: { name: "m", id: "m", ref: "anthropic/m", model: undefined, why: "" },
  tools: new Map([
    ["read_file", { name: "read_file" }],
    ["bash", { name: "bash" }],
  ]),
  limits: { maxTimeMs: 60_000, enforce: false },
  runner: "process",
} as unknown as Assignment;

test("a job contains its workspace and its requirements, but no environment, key or home folder", async () => {
  const sent: ToTask[] = [];
  const run = spawnTask(
    ({ setup }) => {
      expect(setup.env).toMatchObject({ ANTHROPIC_API_KEY: "sk-secret-key" });
      let ended = (): void => {};
      return {
        called: "process",
        channel: {
          send: (message) => void sent.push(message),
          listen: (receive) => queueMicrotask(() => receive({ type: "ended", outcome: { status: "ok", output: "." } })),
          close: async () => {},
        },
        ended: new Promise((resolve) => (ended = () => resolve({ how: "", said: "", outOfMemory: false }))),
        used: async () => ({ memoryMB: 0, cpuSeconds: 0 }),
        stop: async () => ended(),
      };
    },
    {
      entry: new URL("file:///task-child.js"),
      setup: { cwd: "/home/ann/work", env: { HOME: "/home/ann", ANTHROPIC_API_KEY: "sk-secret-key" } },
      job: { workspace: { id: "/home/ann/work" }, prices: false, permissions: { sandbox: "required" } },
      code: { tools: new Set(), models: new Set() },
      linger: () => {},
    },
  );
  const context: PerformContext = {
    signal: new AbortController().signal,
    emit: () => {},
    live: () => {},
    tell: () => {},
    durable: async () => {},
    delegate: async () => ({ status: "ok", output: "" }),
    budget: createBudget({}),
    attended: false,
    ask: async () => undefined,
    mail: async () => [],
    past: async () => [],
  };
  expect(await run(assignment, context)).toMatchObject({ status: "ok" });
  const [setup, job] = sent;
  expect(setup).toMatchObject({ type: "setup" });
  expect(job).toMatchObject({
    type: "job",
    job: {
      workspace: { id: "/home/ann/work" },
      needs: { runner: "process", models: ["anthropic/m"], tools: ["read_file"], sandbox: true },
    },
  });
  expect(JSON.stringify(job)).not.toMatch(/sk-secret-key|"HOME"|"env"|"home"/);
});
