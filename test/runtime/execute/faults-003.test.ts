import { existsSync, readFileSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { defineAgent } from "../../../src/core/agent/agent.ts";
import type { Model, ModelRequest } from "../../../src/core/model/model.ts";
import type { Event } from "../../../src/core/run/event.ts";
import { defineTool } from "../../../src/core/task/tool.ts";
import { cutTail } from "../../../src/core/text/cut.ts";
import type { CrewOptions } from "../../../src/crew/outfit/options.ts";
import { createCrew } from "../../../src/crew.ts";
import type { Crew } from "../../../src/crew/crew-type.ts";
import {
  buildDag,
  cleanupWorkspace,
  createWorkspace,
  type DagExecutionOptions,
  type ExecutorOptions,
  executeDag,
  MAX_OUTPUT_BYTES,
  type RunningDag,
  raceWithAbort,
  runAgentWithRetry,
  type TaskResult,
  type TeamMember,
  type TeamTask,
  writeTaskResult,
} from "../../../src/doors/parallel.ts";
import { noUsageStats } from "../../../src/facades/parallel/task-result.ts";
import { never, type ScriptedTurn, scripted } from "../../../src/models/scripted/scripted.ts";
import { deferred } from "../../../src/runtime/async/deferred.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const crewOf = (options: CrewOptions): Crew =>
  createCrew({
    cwd: tempFolder(),
    home: false,
    discover: false,
    env: {},
    model: Object.keys(options.models ?? {})[0]!,
    ...options,
  });

function asked({ messages }: ModelRequest): string {
  const last = messages.at(-1);
  return last?.role === "user" ? last.text : "";
}

const speaker = (say: (prompt: string) => ScriptedTurn | Promise<ScriptedTurn>): Model & { prompts: string[] } => {
  const prompts: string[] = [];
  const model: Model = (request, signal) => {
    prompts.push(asked(request));
    return scripted((given) => say(asked(given)))(request, signal);
  };
  return Object.assign(model, { prompts });
};

const result = ({ id, task }: ExecutorOptions, more: Partial<TaskResult> = {}): TaskResult => ({
  id,
  task,
  exitCode: 0,
  output: id,
  stderr: "",
  truncated: false,
  durationMs: 0,
  usage: noUsageStats(),
  ...more,
});

async function dag(tasks: TeamTask[], options: Partial<DagExecutionOptions> = {}, roles: readonly string[] = []) {
  const members = new Map<string, TeamMember>(roles.map((role) => [role, { role }]));
  const nodes = buildDag(tasks, members);
  const order: string[] = [];
  const { runAgent = async (given) => result(given), ...more } = options;
  const done = await executeDag({
    nodes,
    members,
    objective: "",
    cwd: "/",
    maxConcurrency: 8,
    ...more,
    runAgent: (given) => {
      order.push(given.id);
      return runAgent(given);
    },
  });
  const statuses = Object.fromEntries([...nodes].map(([id, { status }]) => [id, status]));
  return { ...done, nodes, order, statuses };
}

describe("limits: faults of system 003 that subcrew does not have", () => {
  afterEach(() => void vi.useRealTimers());
  const fake = (): void => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const slow = speaker(() => new Promise((resolve) => setTimeout(() => resolve("late, but good"), 8 * 60_000)));

  /** Runs a single task in simulated time until it has ended. */
  async function played(models: Record<string, Model>, resourceLimits: object) {
    fake();
    const run = crewOf({ models }).run({ mode: "single", task: "x", resourceLimits });
    const events: Event[] = [];
    const listening = (async () => {
      for await (const event of run) events.push(event);
    })();
    let over = false;
    void listening.then(() => (over = true));
    while (!over) {
      await new Promise(setImmediate);
      await vi.advanceTimersByTimeAsync(30_000);
    }
    return { outcome: await run, events };
  }

  test("003 fault: the default time limit is never applied", async () => {
    const chatty: Model = async function* (_request, signal) {
      while (!signal.aborted) {
        await new Promise((resolve) => setTimeout(resolve, 60_000));
        yield { type: "thinking", text: "hm " };
      }
    };
    const { outcome, events } = await played({ chatty }, {});
    expect(outcome).toMatchObject({
      status: "failed",
      fault: { code: "TIMEOUT", message: expect.stringContaining("30m") },
    });
    expect(events.filter((event) => event.type === "warning" && event.code === "LIMIT_NEAR")).toMatchObject([
      { text: expect.stringContaining("has worked for 27m0s and may take 30m0s of time") },
    ]);
  });

  test("003 fault: the duration is enforced even when limits should not be enforced", async () => {
    const { outcome, events } = await played(
      { slow },
      { maxDurationMs: 60_000, maxIdleMs: 20 * 60_000, enforceLimits: false },
    );
    expect(outcome).toMatchObject({ status: "ok", output: "late, but good" });
    expect(events.some((event) => event.type === "limit.reached" && event.enforced)).toBe(false);
  });

  const looker = defineAgent({ name: "looker", description: "looks", instructions: "Look.", tools: ["look"] });

  test("003 fault: the limit of parallel tool calls is never used", async () => {
    let active = 0;
    let most = 0;
    const look = defineTool({
      name: "look",
      description: "looks",
      input: z.object({ at: z.number() }),
      effect: "read",
      run: async () => {
        active += 1;
        most = Math.max(most, active);
        await new Promise(setImmediate);
        active -= 1;
        return "seen";
      },
    });
    const turn: ScriptedTurn = { calls: Array.from({ length: 5 }, (_, at) => ({ name: "look", input: { at } })) };
    const crew = crewOf({ models: { m: scripted(turn, "done") }, tools: [look], agents: [looker] });
    expect(
      (await crew.run({ mode: "single", agent: "looker", task: "x", resourceLimits: { maxConcurrentToolCalls: 2 } }))
        .status,
    ).toBe("ok");
    expect(most).toBe(2);
  });

  test("003 fault: tool counts come from the last ten calls only", async () => {
    const look = defineTool({
      name: "look",
      description: "looks",
      input: z.object({ at: z.number() }),
      effect: "read",
      run: () => "seen",
    });
    const turns = Array.from({ length: 13 }, (_, at): ScriptedTurn => ({ calls: [{ name: "look", input: { at } }] }));
    const { nodes } = await crewOf({ models: { m: scripted(...turns, "done") }, tools: [look], agents: [looker] }).run({
      mode: "single",
      agent: "looker",
      task: "x",
    });
    expect(nodes["looker"]?.tools).toEqual({ look: 13 });
  });

  test("003 fault: an output above 50 KB is cut by halving it", () => {
    const { text, cut } = cutTail("x".repeat(60 * 1024));
    expect({ cut, length: text.length }).toEqual({ cut: true, length: MAX_OUTPUT_BYTES });
  });
});

describe("teams: faults of system 003 that subcrew does not have", () => {
  const reviewed: TeamTask[] = [
    { id: "w", task: "write", assignee: "dev", review: { reviewer: "rev", maxIterations: 3 } },
  ];

  test("003 fault: after revisions the summary shows the first draft", async () => {
    const says = speaker((prompt) => {
      if (prompt.includes("You are reviewing")) return says.prompts.length > 3 ? "APPROVED" : "more\nREVISION_NEEDED";
      return says.prompts.length === 1 ? "FIRST draft" : "SECOND draft";
    });
    const outcome = await crewOf({ models: { says } }).run({
      team: { members: [{ role: "dev" }, { role: "rev" }], tasks: reviewed },
    } as never);
    expect(outcome).toMatchObject({ status: "ok", output: "SECOND draft" });

    const { nodes } = await dag(
      reviewed,
      {
        runAgent: async (given) =>
          result(given, {
            output: given.id === "w:review:2" ? "APPROVED" : given.id.includes("review") ? "REVISION_NEEDED" : given.id,
          }),
      },
      ["dev", "rev"],
    );
    expect(nodes.get("w")).toMatchObject({
      result: { output: "w:revision:2" },
      iteration: 2,
      reviewHistory: [
        { iteration: 1, approved: false },
        { iteration: 2, approved: true },
      ],
    });
  });

  test("003 fault: dependents of a blocked task stay pending", async () => {
    const tasks: TeamTask[] = [
      { id: "a", task: "a" },
      { id: "b", task: "b", depends: ["a"] },
      { id: "c", task: "c", depends: ["b"] },
      { id: "d", task: "d", depends: ["c"] },
    ];
    const { statuses, order } = await dag(tasks, { runAgent: async (given) => result(given, { exitCode: 1 }) });
    expect(statuses).toEqual({ a: "failed", b: "blocked", c: "blocked", d: "blocked" });
    expect(order).toEqual(["a"]);
  });

  test("003 fault: tasks run in batches, and each batch waits for the slowest task of the one before", async () => {
    const next = deferred<void>();
    const tasks: TeamTask[] = [
      { id: "slow", task: "slow" },
      { id: "fast", task: "fast" },
      { id: "next", task: "next", depends: ["fast"] },
    ];
    const { order } = await dag(tasks, {
      runAgent: async (given) => {
        if (given.id === "next") next.resolve();
        if (given.id === "slow") await next.promise; // would hang if tasks ran in batches
        return result(given);
      },
    });
    expect(order).toEqual(["slow", "fast", "next"]);
  });

  test("003 fault: work that requires approval is approved without a person", async () => {
    const tasks: TeamTask[] = [
      { id: "plan", task: "plan", requiresApproval: true },
      { id: "impl", task: "impl", depends: ["plan"] },
    ];
    const { statuses, order, pendingApproval } = await dag(tasks);
    expect(statuses).toEqual({ plan: "failed", impl: "blocked" });
    expect(order).toEqual(["plan"]);
    expect(pendingApproval).toEqual({ taskId: "plan", plan: "plan" });

    const asked: string[] = [];
    const answers = [{ approved: false, feedback: "shorter" }, { approved: true }];
    const answered = await dag(tasks, {
      onApprovalNeeded: async (id, plan) => {
        asked.push(`${id}: ${plan}`);
        return answers.shift()!;
      },
    });
    expect(asked).toEqual(["plan: plan", "plan: plan"]);
    expect(answered.statuses).toEqual({ plan: "completed", impl: "completed" });

    const run = crewOf({ models: { m: scripted("a plan") }, unattended: true }).run({ team: { tasks } } as never);
    expect(await run).toMatchObject({
      status: "failed",
      nodes: { plan: { fault: { code: "NEEDS_ANSWER" } }, impl: { status: "skipped" } },
    });
  });

  test("003 fault: result files are written into a workspace that is deleted in the same call", async () => {
    const workspace = createWorkspace("team", tempFolder());
    const told: string[] = [];
    await dag([{ id: "a", task: "a" }], {
      workspacePath: workspace.root,
      runAgent: async (given) => {
        told.push(given.context ?? "");
        writeTaskResult(workspace, given.id, "kept", "completed");
        return result(given);
      },
    });
    expect(told[0]).toContain(workspace.root);
    expect(readFileSync(`${workspace.tasksDir}/a.json`, "utf8")).toContain("kept");
    cleanupWorkspace(workspace);
    expect(existsSync(workspace.root)).toBe(false);

    const crew = crewOf({ home: tempFolder(), models: { m: scripted("the whole answer") } });
    const { id } = await crew.run({ team: { tasks: [{ id: "a", task: "a" }] } } as never);
    expect(readFileSync((await crew.outputFile(id, "a")) ?? "", "utf8")).toBe("the whole answer\n");
  });

  test("003 fault: changing tasks during a run exists only in tests of literal objects", async () => {
    const running = deferred<RunningDag>();
    const { statuses, order, nodes, results } = await dag(
      [
        { id: "a", task: "a" },
        { id: "b", task: "b", depends: ["a"] },
        { id: "c", task: "c", depends: ["a"] },
        { id: "x", task: "x", depends: ["a"] },
      ],
      {
        onStart: running.resolve,
        runAgent: async (given) => {
          if (given.id === "a") {
            const dag = await running.promise;
            dag.modify({
              newTasks: [{ id: "late", task: "late, after {task:b}" }],
              updateDependencies: { c: ["late"] },
              markFailed: ["x"],
            });
            expect(() => dag.modify({ newTasks: [{ id: "b", task: "again" }] })).toThrow('Duplicate task ID: "b"');
            expect(() => dag.modify({ newTasks: [{ id: "y", task: "y" }], updateDependencies: { b: ["b"] } })).toThrow(
              "The change would make a cycle: b -> b.",
            );
          }
          return result(given, { output: given.task });
        },
      },
    );
    expect(statuses).toEqual({ a: "completed", b: "completed", c: "completed", x: "failed", late: "completed" });
    expect(order).toEqual(["a", "b", "late", "c"]);
    expect(results.map(({ output }) => output)).toEqual(["a", "b", "late, after b", "c"]);
    expect(nodes.get("late")).toMatchObject({ dependsOn: ["b"], dependedBy: ["c"] });
    expect(nodes.get("a")?.dependedBy).toEqual(["b", "x"]);
  });
});

describe("texts and references: faults of system 003 that subcrew does not have", () => {
  const tricky = "cost: $& and $$5, $1, $`, {previous}, {task}";

  test("003 fault: $& and $$ in an output corrupt {previous}", async () => {
    const model = speaker((prompt) => (prompt === "one" ? tricky : "done"));
    await crewOf({ models: { model } }).run({ chain: [{ task: "one" }, { task: "two: {previous}!" }] } as never);
    expect(model.prompts[1]).toBe(`two: ${tricky}!`);
  });

  test("003 fault: $& and $$ in an output corrupt the prompt of a review", async () => {
    const model = speaker((prompt) => (prompt.startsWith("Look at") ? "APPROVED" : tricky));
    await crewOf({ models: { model } }).run({
      team: {
        members: [{ role: "rev" }],
        tasks: [{ id: "w", task: `do ${tricky}`, review: { reviewer: "rev", prompt: "Look at {output} for {task}." } }],
      },
    } as never);
    expect(model.prompts[1]?.split("\n\n")[0]).toBe(`Look at ${tricky} for do ${tricky}.`);
  });

  test("003 fault: ids with hyphens are never found by {task:...}", async () => {
    const model = speaker((prompt) => (prompt === "first" ? "found" : "done"));
    await crewOf({ models: { model } }).run({
      tasks: [
        { task: "first", name: "step-one.a" },
        { task: "got {task:step-one.a} {result:step-one.a} {task_step-one.a}" },
      ],
    } as never);
    expect(model.prompts[1]).toBe("got found found found");
  });

  test("003 fault: a name that begins with a digit is mistaken for a position", async () => {
    const model = speaker((prompt) => `<${prompt}>`);
    await crewOf({ models: { model } }).run({
      tasks: [
        { task: "zero", name: "zero" },
        { task: "second", name: "0nd" },
        { task: "{task:0nd} {task_0} {task:9}" },
      ],
    } as never);
    expect(model.prompts[2]).toBe("<second> <zero> {task:9}");
  });

  test("003 fault: a failed parallel task shows no output and hides its error", async () => {
    const model = speaker(() => ({ error: { code: "MODEL_REFUSED", message: "the model said no", retryable: false } }));
    const outcome = await crewOf({ models: { model } }).run({ tasks: [{ task: "a", name: "A" }] } as never);
    expect(outcome).toMatchObject({ status: "failed", output: "(failed) the model said no" });
  });

  test.each<[string, object]>([
    ["single", { task: "x" }],
    ["chain", { chain: [{ task: "x" }] }],
    ["race", { race: { task: "x", models: ["model"] } }],
    ["parallel", { tasks: [{ task: "x" }] }],
    ["team", { team: { tasks: [{ id: "x", task: "x" }] } }],
  ])("003 fault: %s ignores the given context", async (_mode, input) => {
    const cwd = tempFolder({ "notes.txt": "from the file" });
    const model = speaker(() => "done");
    await crewOf({ cwd, models: { model } }).run({
      ...input,
      context: "from the text",
      contextFiles: ["notes.txt"],
    } as never);
    expect(model.prompts).toEqual([expect.stringMatching(/^from the text[^]*from the file[^]*\n\nx$/)]);
  });
});

describe("races and retries: faults of system 003 that subcrew does not have", () => {
  afterEach(() => void vi.useRealTimers());

  test("003 fault: a race waits until the losers have ended", async () => {
    let heard = false;
    const won = await raceWithAbort([
      { id: "quick", run: async () => "first" },
      {
        id: "deaf",
        run: (signal) => {
          signal.addEventListener("abort", () => (heard = true));
          return new Promise<string>(() => {});
        },
      },
    ]);
    expect(won).toEqual({ winner: "quick", result: "first" });
    expect(heard).toBe(true);
  });

  test("003 fault: a race between agents is not possible", async () => {
    const model: Model = (request, signal) =>
      request.system.includes("I am slow") ? never(request, signal) : scripted("I won")(request, signal);
    const agent = (name: string) => defineAgent({ name, description: name, instructions: `I am ${name}` });
    const outcome = await crewOf({ agents: [agent("slow"), agent("fast")], models: { model } }).run({
      race: { task: "go", agents: ["slow", "fast"] },
    } as never);
    expect(outcome).toMatchObject({
      status: "ok",
      output: "I won",
      nodes: { winner: { from: ["fast"] }, slow: { status: "cancelled" } },
    });
  });

  test("003 fault: the wait between two attempts ignores an abort", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const controller = new AbortController();
    const options: ExecutorOptions = {
      id: "a",
      task: "a",
      cwd: "/",
      retry: { maxAttempts: 3, backoffMs: 60_000 },
      signal: controller.signal,
    };
    let tries = 0;
    const work = runAgentWithRetry(options, async (given) => {
      tries += 1;
      return result(given, { exitCode: 1, error: "down" });
    });
    await new Promise(setImmediate);
    controller.abort();
    expect(await work).toMatchObject({ error: "down", aborted: true });
    expect({ tries, timers: vi.getTimerCount() }).toEqual({ tries: 1, timers: 0 });
  });
});
