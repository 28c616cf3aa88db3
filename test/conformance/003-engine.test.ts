import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ModelRequest } from "../../src/core/model/model.ts";
import type { Outcome } from "../../src/core/outcome/outcome.ts";
import type { RetryConfig } from "../../src/core/plan/retry.ts";
import { taskId } from "../../src/core/plan/task-id.ts";
import { orderOf } from "../../src/core/plan/topological-order.ts";
import type { Event } from "../../src/core/run/event.ts";
import { fillIn } from "../../src/core/schedule/fill-references.ts";
import { isCrewError } from "../../src/core/schema/error.ts";
import { createCrew } from "../../src/crew.ts";
import {
  buildDag,
  type DagNode,
  type ExecutorOptions,
  executeDag,
  mapWithConcurrencyLimit,
  raceWithAbort,
  runAgentWithRetry,
  type TaskResult,
  type TeamMember,
  type TeamTask,
} from "../../src/doors/parallel.ts";
import { planOfDag } from "../../src/facades/parallel/dag.ts";
import { noUsageStats } from "../../src/facades/parallel/task-result.ts";
import { type Script, type ScriptedTurn, scripted } from "../../src/models/scripted/scripted.ts";
import { modeOf } from "../../src/modes/compile.ts";
import { referencesIn } from "../../src/modes/references.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { type Case, cases } from "./harness.ts";

/** One test per case of an area of system 003. */
function area<Input, Want>(name: string, check: (one: Case<Input, Want>) => void | Promise<void>): void {
  describe(name, () => {
    test.each(cases<Input, Want>("003-pi-parallel", name))("$name", check);
  });
}

/** A result with defaults for all fields that do not matter. */
const result = (more: Partial<TaskResult>): TaskResult => ({
  id: "",
  task: "",
  exitCode: 0,
  output: "",
  stderr: "",
  truncated: false,
  durationMs: 0,
  usage: noUsageStats(),
  ...more,
});

const rolesOf = (roles: readonly string[]): Map<string, TeamMember> => new Map(roles.map((role) => [role, { role }]));

type Linked = Pick<DagNode, "status" | "dependsOn" | "dependedBy">;
type Built = { ok: true; nodes: Record<string, Linked> } | { ok: false; error: string };

area<{ members: string[]; tasks: TeamTask[] }, Built>("dag-build", ({ input, want }) => {
  const build = (): Built => {
    try {
      const nodes = [...buildDag(input.tasks, rolesOf(input.members))];
      return {
        ok: true,
        nodes: Object.fromEntries(
          nodes.map(([id, { status, dependsOn, dependedBy }]) => [id, { status, dependsOn, dependedBy }]),
        ),
      };
    } catch (error) {
      return { ok: false, error: (error as Error).message };
    }
  };
  expect(build()).toEqual(want);
});

area<{ tasks: TeamTask[] }, string[]>("dag-topological-order", ({ input, want }) => {
  const plan = planOfDag(buildDag(input.tasks, new Map()), new Map());
  expect(orderOf(plan).order.filter((id) => id !== plan.output)).toEqual(want);
});

type Written = Readonly<{ id: string; status: string; output: string | null }>;

area<{ text: string; nodes: Written[] }, string>("cross-ref-team", ({ input, want }) => {
  const { refs } = referencesIn(input.text, { ids: input.nodes.map(({ id }) => id), self: "me" });
  const outcomes = new Map<string, Outcome>();
  for (const { id, output } of input.nodes) if (output !== null) outcomes.set(id, { status: "ok", output });
  const node = { kind: "task", task: { prompt: input.text, refs } } as const;
  expect(fillIn(node, { outcomeOf: (id) => outcomes.get(id), promptOf: () => "" })).toBe(want);
});

/** The result of each agent of a script, by the id of its task. */
const scripts: Readonly<Record<string, (id: string) => Partial<TaskResult>>> = {
  "all succeed": () => ({ output: "out" }),
  "all fail": () => ({ exitCode: 1, error: "nope" }),
  "a fails": (id) => (id === "a" ? { exitCode: 1, error: "nope" } : { output: "ok" }),
  "b fails": (id) => (id === "b" ? { exitCode: 1, error: "nope" } : { output: "ok" }),
  "a returns aborted with exit 0": (id) => (id === "a" ? { aborted: true } : { output: "ok" }),
  "worker v1; reviewer APPROVED": (id) => ({ output: id === "w" ? "v1" : "good\nAPPROVED" }),
  "worker v1; reviewer exits 1": (id) => (id === "w" ? { output: "v1" } : { exitCode: 1, error: "nope" }),
  "reviewer never approves": (id) => ({ output: id.startsWith("w:review") ? "more\nREVISION_NEEDED" : `by ${id}` }),
  "reviewer asks revision; revision exits 1": (id) => {
    if (id === "w:revision:2") return { exitCode: 1, error: "nope" };
    return { output: id.startsWith("w:review") ? "more\nREVISION_NEEDED" : "v1" };
  },
};

type Decision = Readonly<{ approved: boolean; feedback?: string }>;

/** The decisions about drafts, by the person that a case describes. */
const approvals: Readonly<Record<string, () => () => Promise<Decision>>> = {
  "always {approved:true}": () => () => Promise.resolve({ approved: true }),
  "first {approved:false,feedback}, then {approved:true}": () => {
    let asked = 0;
    return () => Promise.resolve((asked += 1) === 1 ? { approved: false, feedback: "more" } : { approved: true });
  },
};

type DagInput = Readonly<{
  tasks: TeamTask[];
  members: TeamMember[];
  maxConcurrency: number;
  agent_script: string;
  approval: string | null;
}>;
type DagWant = Readonly<{
  run_order: string[];
  statuses: Record<string, string>;
  iterations: Record<string, number>;
  final_outputs: Record<string, string | null>;
  max_parallel: number;
  aborted: boolean;
  result_ids: string[];
}>;

area<DagInput, DagWant>("dag-execution", async ({ input, want }) => {
  const members = new Map(input.members.map((member) => [member.role, member]));
  const nodes = buildDag(input.tasks, members);
  const order: string[] = [];
  let active = 0;
  let most = 0;
  const { results, aborted } = await executeDag({
    nodes,
    members,
    objective: "the objective",
    cwd: "/",
    maxConcurrency: input.maxConcurrency,
    runAgent: async ({ id, task }) => {
      order.push(id);
      active += 1;
      most = Math.max(most, active);
      await new Promise(setImmediate);
      active -= 1;
      return result({ id, task, ...scripts[input.agent_script]!(id) });
    },
    ...(input.approval !== null && { onApprovalNeeded: approvals[input.approval]!() }),
  });
  const all = [...nodes];
  expect({
    run_order: order,
    statuses: Object.fromEntries(all.map(([id, { status }]) => [id, status])),
    iterations: Object.fromEntries(
      all.flatMap(([id, { iteration }]) => (iteration === undefined ? [] : [[id, iteration]])),
    ),
    final_outputs: Object.fromEntries(all.map(([id, node]) => [id, node.result?.output ?? null])),
    max_parallel: most,
    aborted,
    result_ids: results.map(({ id }) => id),
  }).toEqual(want);
});

/** The test controls the clock, so that it never waits. */
function inFakeTime(): void {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());
}

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

type MapInput = Readonly<{
  items: number[] | number;
  concurrency: number;
  mapper?: string;
  signal?: string;
  each_ms?: number;
  abort_after_ms?: number;
}>;
type MapWant = Readonly<{
  results?: (number | null)[];
  aborted: boolean;
  calls?: number;
  max_active?: number;
  throws?: boolean;
}>;

describe("in fake time", () => {
  inFakeTime();

  area<MapInput, MapWant>("concurrency-map", async ({ input, want }) => {
    const items = typeof input.items === "number" ? Array.from({ length: input.items }, (_, n) => n) : input.items;
    const controller = new AbortController();
    if (input.signal === "aborted before call") controller.abort();
    if (input.abort_after_ms !== undefined) setTimeout(() => controller.abort(), input.abort_after_ms);
    let calls = 0;
    let active = 0;
    let most = 0;
    const work = mapWithConcurrencyLimit(
      items,
      input.concurrency,
      async (item) => {
        calls += 1;
        active += 1;
        most = Math.max(most, active);
        await after(input.each_ms ?? 1);
        active -= 1;
        return item * 2;
      },
      controller.signal,
    );
    const threw = work.then(
      () => false,
      () => true,
    );
    await vi.runAllTimersAsync();
    if (want.throws !== undefined) expect(await threw).toBe(want.throws);
    const { results, aborted } = await work;
    expect(aborted).toBe(want.aborted);
    if (want.results) expect(Array.from(results, (value) => value ?? null)).toEqual(want.results);
    if (want.calls !== undefined) expect(calls).toBe(want.calls);
    if (want.max_active !== undefined) expect(most).toBe(want.max_active);
    if (input.abort_after_ms !== undefined) {
      // Finished: the first two rounds of four, and the tasks that ran when the abort came; the rest never ran.
      expect(calls).toBeLessThan(items.length);
      expect(results.filter((value) => value !== undefined).length).toBe(calls);
    }
  });

  type Racer = Readonly<{ id: string; ms: number; value?: string; fail?: string }>;
  type RaceWant = Readonly<{ winner?: string; result?: string; throws?: string; loser_signal_aborted?: boolean }>;

  area<{ contestants: Racer[] }, RaceWant>("race", async ({ input, want }) => {
    const signals = new Map<string, AbortSignal>();
    const race = raceWithAbort(
      input.contestants.map(({ id, ms, value, fail }) => ({
        id,
        run: async (signal: AbortSignal) => {
          signals.set(id, signal);
          await after(ms);
          if (fail !== undefined) throw new Error(fail);
          return value ?? id;
        },
      })),
    ).then(
      (won) => won,
      (error: Error) => ({ throws: error.message }),
    );
    await vi.advanceTimersByTimeAsync(
      Math.min(...input.contestants.filter(({ fail }) => fail === undefined).map(({ ms }) => ms), 1000),
    );
    const came = await race;
    if (want.throws !== undefined) expect(came).toEqual({ throws: want.throws });
    if (want.winner !== undefined) expect(came).toMatchObject({ winner: want.winner });
    if (want.result !== undefined) expect(came).toMatchObject({ result: want.result });
    const losers = input.contestants.filter(({ id }) => id !== want.winner);
    if (want.loser_signal_aborted !== undefined)
      expect(losers.map(({ id }) => signals.get(id)?.aborted)).toEqual([want.loser_signal_aborted]);
  });

  type RetryInput = Readonly<{ retry: RetryConfig | null; attempt_results: Partial<TaskResult>[] }>;

  area<RetryInput, { calls: number; exitCode: number; output: string; error: string }>(
    "retry-run",
    async ({ input, want }) => {
      let calls = 0;
      const options: ExecutorOptions = { task: "t", cwd: "/", id: "t", ...(input.retry && { retry: input.retry }) };
      const work = runAgentWithRetry(options, async () => {
        calls += 1;
        return result(input.attempt_results[Math.min(calls, input.attempt_results.length) - 1]!);
      });
      await vi.runAllTimersAsync();
      const { exitCode, output, error } = await work;
      expect({ calls, exitCode, output, error }).toEqual(want);
    },
  );
});

type Sent = Readonly<{ id: string; task: string; model: string | null; tools: string[] | null }>;
type ToolWant = Readonly<{
  text: string;
  isError: boolean;
  mode: string;
  results: { id: string; exitCode: number }[];
  prompts_sent: Sent[];
}>;
type ToolInput = Readonly<{ params: Record<string, unknown>; agent_script: string; files: Record<string, string> }>;

const nope: ScriptedTurn = { error: { code: "MODEL_REFUSED", message: "nope", retryable: false } };

/** The answers of the model in each script, turn by turn. */
const talks: Readonly<Record<string, readonly Script[]>> = {
  ok: ["ok"],
  "see name": [],
  "all ok": ["done sec", "done perf"],
  "A ok with tools, B fails": Array.from(
    { length: 2 },
    (): Script => (request) => (asked(request) === "a" ? "fine" : nope),
  ),
  "a fails": [nope],
  "both fail": [nope],
  "B fails with an error and no output": [nope],
  "step1 -> P1": ["P1", "final"],
  "step1 outputs: price $& and $$5": ["price $& and $$5", "final"],
  "2500 chars": ["z".repeat(2500)],
};

function asked({ messages }: ModelRequest): string {
  const last = messages.at(-1);
  return last?.role === "user" ? last.text : "";
}

/** Cases that are refused before anything runs, with the code of the error; its text is the facade's. */
const refusals: Readonly<Record<string, string>> = {
  "team DAG cycle error": "PLAN_CYCLE",
  "team unknown agent": "UNKNOWN_AGENT",
  "single unknown agent": "UNKNOWN_AGENT",
  "parallel: unknown agents deduplicated": "UNKNOWN_AGENT",
  "two modes given": "BAD_INPUT",
  "blank task counts as no mode": "BAD_INPUT",
  "no mode given": "BAD_INPUT",
};

/** The canonical names of the tools in these cases. */
const canonical: Readonly<Record<string, string>> = { read: "read_file", grep: "grep_files" };

/** The id that system 003 gives to a node. */
function idOf(mode: string, path: string, index: number): string {
  if (mode === "single") return "single";
  if (mode === "parallel") return taskId(index, path);
  return mode === "chain" ? taskId(index + 1, path) : path;
}

area<ToolInput, ToolWant>("tool-mode", async ({ name, input, want }) => {
  const turns = talks[input.agent_script]!;
  const models = Object.fromEntries(
    ["any", "m1", "m2", "claude-sonnet-4-5"].map((model) => {
      // Failures are listed in the order in which they came, so the second contender is the slower one.
      const slower = model === "m2" && input.agent_script === "both fail";
      return [model, slower ? scripted({ ...nope, delayMs: 1_500 }) : scripted(...turns)];
    }),
  );
  const folder = tempFolder(input.files);
  const crew = createCrew({
    cwd: tempFolder(),
    home: tempFolder(),
    userHome: `${folder}/home`,
    env: {},
    models,
    model: "any",
  });
  const run = crew.run(input.params as never);
  const events: Event[] = [];
  const code = refusals[name];
  if (code !== undefined) {
    const error: unknown = await run.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(isCrewError(error) && error.code).toBe(code);
    expect(Object.values(models).flatMap(({ requests }) => requests)).toEqual(want.prompts_sent);
    return;
  }
  for await (const event of run) events.push(event);
  const outcome = await run;
  const mode = modeOf(input.params);

  const started = events.flatMap((event) => (event.type === "node.started" ? [event] : []));
  const sent = started.map(({ path, prompt }, index) => ({ id: idOf(mode, path, index), task: prompt }));
  expect(sent).toEqual(want.prompts_sent.map(({ id, task }) => ({ id, task })));
  const results = started.map(({ path }, index) => ({
    id: idOf(mode, path, index),
    exitCode: outcome.nodes[path]?.status === "ok" ? 0 : 1,
  }));
  expect(results).toEqual(want.results);

  for (const { model, tools } of want.prompts_sent) {
    const request = models[model ?? "any"]?.requests[0];
    expect(request, "the model that was asked for was asked").toBeDefined();
    if (tools)
      expect(new Set(request?.tools.map((tool) => tool.name))).toEqual(new Set(tools.map((tool) => canonical[tool])));
  }
  if (mode === "single" || mode === "chain") expect(outcome.output).toBe(want.text);
  if (mode === "race") expect(outcome.fault?.message.split("\n").slice(1)).toEqual(want.text.split("\n").slice(1));
  if (name === "team failure reports blocked tasks")
    expect(outcome.nodes["b"]).toEqual({ status: "skipped", because: "a" });
  if (name === "parallel: failed task shows its error") expect(outcome.output).toContain("nope");
  if (name === "parallel: mixed success")
    expect(outcome).toMatchObject({ status: "failed", output: "## A\n\nfine\n\n## B\n\n(failed) nope" });
});
