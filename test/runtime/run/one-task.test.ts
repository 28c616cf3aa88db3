import { expect, test } from "vitest";
import { z } from "zod";
import type { Plan } from "../../../src/core/plan/plan.ts";
import type { Event } from "../../../src/core/run/event.ts";
import { defineTool } from "../../../src/core/task/tool.ts";
import { createCrew } from "../../../src/crew.ts";
import type { Crew } from "../../../src/crew/crew-type.ts";
import { type Script, scripted } from "../../../src/models/scripted/scripted.ts";
import { handleCommand } from "../../../src/runtime/background/handle-command.ts";
import type { Run } from "../../../src/runtime/run/run.ts";
import { tempFolder } from "../../support/temp-folder.ts";

type Model = ReturnType<typeof scripted>;
type Stage = Readonly<{ crew: Crew; models: Readonly<Record<string, Model>> }>;

/**
 * A crew with one agent and one model for each task, and a tool that delegates.
 */
function stage(home: string, scripts: Readonly<Record<string, readonly Script[]>>): Stage {
  const hand = defineTool({
    name: "hand_on",
    description: "Hands a task on.",
    input: z.object({ to: z.string() }),
    effect: "read",
    run: async ({ to }, { delegate }) => {
      const outcome = await delegate({ mode: "single", agent: to, task: "Help." });
      return `${outcome.status}: ${"output" in outcome ? outcome.output : ""}`;
    },
  });
  const models = Object.fromEntries(Object.entries(scripts).map(([name, turns]) => [name, scripted(...turns)]));
  const crew = createCrew({
    cwd: home,
    home,
    discover: false,
    env: {},
    models,
    tools: [hand],
    agents: Object.keys(scripts).map((name) => ({
      name,
      description: name,
      instructions: "Work.",
      model: name,
      tools: ["hand_on"],
      spawns: "*" as const,
    })),
    permissions: { mode: "bypass" },
  });
  return { crew, models };
}

const hang: Script = { text: "late", delayMs: 600_000 };
/** A plan of tasks that need others, each for the agent of its name. */
const team = (...tasks: readonly (readonly [name: string, ...needs: string[]])[]): Plan => ({
  nodes: {
    ...Object.fromEntries(
      tasks.map(([name, ...needs]) => [name, { kind: "task", needs, task: { agent: name, prompt: `Do ${name}.` } }]),
    ),
    all: { kind: "join", pick: "settled", needs: tasks.map(([name]) => name) },
  },
  output: "all",
});
const turnOf = (path: string, turn: number) => (event: Event) =>
  event.type === "turn.started" && event.path === path && event.turn === turn;

/** Iterates over a run and calls a function at the first event of a kind. */
async function at(run: Run, ...acts: readonly (readonly [(event: Event) => boolean, () => void])[]): Promise<Event[]> {
  const events: Event[] = [];
  const left = [...acts];
  for await (const event of run) {
    events.push(event);
    const next = left.findIndex(([is]) => is(event));
    if (next >= 0) left.splice(next, 1)[0]![1]();
  }
  expect(left).toHaveLength(0);
  return events;
}
const ended = (path: string) => (event: Event) => event.type === "node.ended" && event.path === path;

test("a task that has not begun can be cancelled, so that its dependents are skipped", async () => {
  let finish: (text: string) => void = () => {};
  const waits = new Promise<string>((resolve) => (finish = resolve));
  const { crew, models } = stage(tempFolder(), { a: [() => waits], c: ["never"], d: ["never"] });
  const run = crew.run(team(["a"], ["c", "a"], ["d", "c"]));
  await at(run, [
    (event) => event.type === "run.started",
    () => {
      expect(run.cancelTask("c", "not wanted")).toBe(true);
      expect(run.cancelTask("nobody")).toBe(false);
      finish("a is done");
    },
  ]);
  const { nodes } = await run;
  expect(nodes["c"]).toEqual({ status: "cancelled", reason: "not wanted", final: true });
  expect(nodes["d"]).toMatchObject({ status: "skipped", because: "c" });
  for (const task of ["c", "d"]) expect(models[task]?.requests).toHaveLength(0);
});

test("only the resumed task continues, with its dependents; the rest waits for the next resume", async () => {
  const home = tempFolder();
  const names = { a: [hang], b: [hang], c: ["never"], d: ["never"] };
  const first = stage(home, names);
  const run = first.crew.run(team(["a"], ["b"], ["c", "a"], ["d", "b"]));
  await at(run, [(event) => event.type === "turn.started" && run.state.nodes.size === 2, () => run.pause("later")]);
  const second = stage(home, { a: ["a is done"], b: ["never"], c: ["c is done"], d: ["never"] });
  const again = second.crew.resume(run.id, { task: "a" });
  expect(await again).toMatchObject({ status: "paused", nodes: { a: { status: "ok" }, c: { status: "ok" } } });
  expect(again.state.pausedFor).toBe('only "a" and the tasks that depend on it were resumed');
  expect(again.state.nodes.get("b")).toMatchObject({ status: "running", outcome: undefined });
  for (const task of ["b", "d"]) expect(second.models[task]?.requests).toHaveLength(0);

  const third = stage(home, { a: ["again"], b: ["b is done"], c: ["again"], d: ["d is done"] });
  expect(await third.crew.resume(run.id)).toMatchObject({ status: "ok", nodes: { d: { output: "d is done" } } });
  for (const task of ["a", "c"]) expect(third.models[task]?.requests).toHaveLength(0);
});

test("resuming a task that is already done starts only what depends on it", async () => {
  const home = tempFolder();
  const first = stage(home, { a: ["a is done"], b: [hang], c: [hang] });
  const run = first.crew.run(team(["a"], ["b"], ["c", "a"]));
  await at(run, [turnOf("c", 1), () => run.pause("later")]);
  const second = stage(home, { a: [], b: ["never"], c: ["c is done"] });
  const again = await second.crew.resume(run.id, { task: "a" });
  expect(again).toMatchObject({ status: "paused", nodes: { c: { output: "c is done" } } });
  expect(await second.crew.resume(run.id, { task: "a" })).toMatchObject({ status: "paused" });
  expect(second.models["b"]?.requests).toHaveLength(0);
  expect(await stage(home, { a: [], b: ["b is done"], c: [] }).crew.resume(run.id)).toMatchObject({ status: "ok" });
});

test("resuming a helper continues the task that started it", async () => {
  const home = tempFolder();
  const hands: Script = { calls: [{ name: "hand_on", input: { to: "helper" } }] };
  const run = stage(home, { lead: [hands], helper: [hang], b: [hang] }).crew.run(team(["lead"], ["b"]));
  await at(run, [turnOf("lead/helper", 1), () => run.pause("later")]);
  const second = stage(home, { lead: ["thank you"], helper: ["helped"], b: [] });
  const again = await second.crew.resume(run.id, { task: "lead/helper" });
  expect(again).toMatchObject({ status: "paused", nodes: { lead: { output: "thank you" } } });
  expect(JSON.stringify(second.models["lead"]?.requests[0]?.messages)).toContain("ok: helped");
  const third = stage(home, { lead: [], helper: [], b: ["b is done"] });
  expect(await third.crew.resume(run.id)).toMatchObject({ status: "ok", nodes: { lead: { output: "thank you" } } });
});

test("a run is over when the one resumed task wins its race", async () => {
  const home = tempFolder();
  const { nodes, output } = team(["a"], ["b"]);
  const race: Plan = { output, nodes: { ...nodes, all: { kind: "join", pick: "first", needs: ["a", "b"] } } };
  const run = stage(home, { a: [hang], b: [hang] }).crew.run(race);
  await at(run, [(event) => event.type === "turn.started" && run.state.nodes.size === 2, () => run.pause("later")]);
  const second = stage(home, { a: ["never"], b: ["b wins"] });
  expect(await second.crew.resume(run.id, { task: "b" })).toMatchObject({
    status: "ok",
    output: "b wins",
    nodes: { a: { status: "cancelled", reason: "no longer needed" } },
  });
  expect(second.models["a"]?.requests).toHaveLength(0);
});

test("a task that waits for the next resume can be cancelled, and the run can be cancelled with it", async () => {
  const home = tempFolder();
  const run = stage(home, { a: [hang], b: [hang], c: [] }).crew.run(team(["a"], ["b"], ["c", "b"]));
  await at(run, [(event) => event.type === "turn.started" && run.state.nodes.size === 2, () => run.pause("later")]);
  const again = stage(home, { a: [hang], b: [], c: [] }).crew.resume(run.id, { task: "a" });
  let turns = 0; // the first turn belongs to the earlier process
  await at(
    again,
    [(event) => turnOf("a", 1)(event) && ++turns === 2, () => expect(again.cancelTask("b", "not wanted")).toBe(true)],
    [ended("c"), () => again.cancel("enough")],
  );
  expect((await again).nodes).toMatchObject({
    a: { status: "cancelled", reason: "enough" },
    b: { status: "cancelled", reason: "not wanted", final: true },
    c: { status: "skipped", because: "b" },
  });
});

test("of two failed tasks, the named one is retried with its dependents", async () => {
  const home = tempFolder();
  const broken: Script = { error: { code: "MODEL_BAD_ANSWER", message: "broke", retryable: false } };
  const first = stage(home, { a: [broken], b: [broken], c: ["never"], d: ["never"] });
  const run = first.crew.run(team(["a"], ["b"], ["c", "a"], ["d", "b"]));
  expect(await run).toMatchObject({ status: "failed", nodes: { c: { status: "skipped" }, d: { status: "skipped" } } });
  await expect(async () => first.crew.resume(run.id, { task: "nobody", retryFailed: true })).rejects.toThrow(
    'has no task "nobody"',
  );
  const second = stage(home, { a: ["a is done"], b: ["never"], c: ["c is done"], d: ["never"] });
  const result = await second.crew.resume(run.id, { task: "a", retryFailed: true });
  expect(result).toMatchObject({
    status: "failed",
    nodes: { a: { status: "ok" }, b: { status: "failed" }, c: { output: "c is done" }, d: { status: "skipped" } },
  });
  for (const task of ["b", "d"]) expect(second.models[task]?.requests).toHaveLength(0);
});

test("a task whose dependency is not done cannot be resumed alone, and the error names the task that can", async () => {
  const home = tempFolder();
  const { crew } = stage(home, { a: [hang], c: ["never"] });
  const run = crew.run(team(["a"], ["c", "a"]));
  await at(run, [turnOf("a", 1), () => run.pause("later")]);
  await expect(async () => crew.resume(run.id, { task: "c" })).rejects.toThrow(
    'The task "c" depends on the task "a", which has not finished.',
  );
});

test("a task of an idle run is cancelled for good, and its dependants are skipped", async () => {
  const home = tempFolder();
  const first = stage(home, { a: [hang], b: [hang], c: ["never"] });
  const run = first.crew.run(team(["a"], ["b"], ["c", "a"]));
  await at(run, [(event) => event.type === "turn.started" && run.state.nodes.size === 2, () => run.pause("later")]);
  expect(await first.crew.kept.cancelTask(run.id, "a", "not wanted")).toEqual({
    state: "done",
    code: "DONE",
    text: '"a" is cancelled. Skipped as a result: c.',
  });
  expect((await first.crew.kept.look(run.id)).life).toBe("paused");
  expect(await first.crew.kept.cancelTask(run.id, "a", "again")).toEqual({
    state: "refused",
    code: "TASK_ENDED",
    text: '"a" has ended (cancelled).',
  });
  const second = stage(home, { a: ["never"], b: ["b is done"], c: ["never"] });
  const { nodes } = await second.crew.resume(run.id);
  expect(nodes["a"]).toEqual({ status: "cancelled", reason: "not wanted", final: true });
  expect(nodes["c"]).toMatchObject({ status: "skipped", because: "a" });
  expect(nodes["b"]).toMatchObject({ status: "ok" });
});

test("the answer to a command lists the tasks that are skipped with a cancelled task, and a task alone is not paused", async () => {
  const { crew } = stage(tempFolder(), { a: ["a is done"], b: [hang], c: ["c is done"], d: ["never"] });
  const run = crew.run(team(["a"], ["b"], ["c", "a"], ["d", "b"]));
  const signal = new AbortController().signal;
  const tell = (command: Parameters<Crew["kept"]["tell"]>[1]) =>
    crew.kept.tell(run.id, command, { waitMs: 20_000, signal });
  const said: unknown[] = [];
  let over: Promise<void> | undefined;
  await at(run, [
    ended("c"),
    () => {
      over = (async () => {
        said.push(await tell({ do: "pause", path: "b", reason: "not now" }));
        said.push(await tell({ do: "retry", path: "b" }));
        said.push(await tell({ do: "cancel", path: "b", reason: "not wanted" }));
      })();
    },
  ]);
  await over;
  expect(said).toEqual([
    {
      state: "refused",
      code: "ONLY_RUNS_PAUSE",
      text: `A single task cannot be paused: \`subcrew cancel ${run.id}/b\` ends it for good, and \`subcrew stop ${run.id}\` pauses the whole run.`,
    },
    { state: "refused", code: "NOT_FAILED", text: '"b" has not failed: it is running.' },
    { state: "done", code: "DONE", text: '"b" is being cancelled. Skipped as a result: d.' },
  ]);
  expect(await run).toMatchObject({ status: "failed", nodes: { c: { status: "ok" }, d: { status: "skipped" } } });
});

test("a failed task is retried while the rest of its run continues, and the tasks that were skipped because of it follow", async () => {
  const home = tempFolder();
  const refused: Script = { error: { code: "MODEL_AUTH", message: "The key was refused.", retryable: false } };
  let finish: (text: string) => void = () => {};
  const waits = new Promise<string>((resolve) => (finish = resolve));
  const { crew, models } = stage(home, { a: [refused, "a is done"], b: [() => waits], c: ["c is done"] });
  const run = crew.run(team(["a"], ["b"], ["c", "a"]));
  const told: unknown[] = [];
  const retry = async (): Promise<void> => {
    const command = { do: "retry", path: "a" } as const;
    told.push(await handleCommand(run, command, new AbortController().signal));
    told.push(await run.retryTask("b"), await run.retryTask("nothing"));
    finish("b is done");
  };
  await at(run, [ended("c"), () => void retry()]);
  expect(told).toEqual([
    { state: "done", code: "DONE", text: "Retrying: a." },
    '"b" has not failed.',
    'The task "nothing" does not exist.',
  ]);
  const { status, nodes } = await run;
  expect({ status, nodes }).toMatchObject({
    status: "ok",
    nodes: { a: { output: "a is done" }, c: { output: "c is done" } },
  });
  expect(models["b"]?.requests).toHaveLength(1);
  const again = stage(home, { a: [], b: [], c: [] });
  expect(await again.crew.resume(run.id)).toMatchObject({ status: "ok" });
});

test("a run that is paused while a failed task is retried continues with that retry", async () => {
  const home = tempFolder();
  const refused: Script = { error: { code: "MODEL_AUTH", message: "The key was refused.", retryable: false } };
  const never = new Promise<string>(() => {});
  const { crew, models } = stage(home, { a: [refused, () => never], b: [() => never], c: [] });
  const run = crew.run(team(["a"], ["b"], ["c", "a"]));
  const isSecondTry = (event: Event): boolean =>
    event.path === "a" && event.type === "turn.started" && models["a"]!.requests.length === 2;
  await at(run, [ended("c"), () => void run.retryTask("a")], [isSecondTry, () => run.pause("enough")]);
  expect(run.state.status).toBe("paused");
  const again = stage(home, { a: ["a is done"], b: ["b is done"], c: ["c is done"] });
  const { status, nodes } = await again.crew.resume(run.id);
  expect({ status, nodes }).toMatchObject({
    status: "ok",
    nodes: { a: { output: "a is done" }, c: { output: "c is done" } },
  });
});

test("a task that was marked as failed and then retried keeps its result after a pause, and can be retried by a resume", async () => {
  const home = tempFolder();
  const never = new Promise<string>(() => {});
  const first = stage(home, { a: [hang, "a is done"], b: [() => never], c: [hang], d: ["d is done"] });
  const run = first.crew.run(team(["a"], ["b"], ["c"], ["d", "c"]));
  const isDone = (event: Event): boolean =>
    ended("a")(event) && event.type === "node.ended" && event.outcome.status === "ok";
  await at(
    run,
    [turnOf("c", 1), () => run.change({ markFailed: { a: "too slow", c: "too slow" } })],
    [ended("a"), () => void run.retryTask("a")],
    [isDone, () => run.pause("enough")],
  );
  expect(run.state.nodes.get("a")).toMatchObject({ status: "ok" });

  const second = stage(home, { a: [], b: ["b is done"], c: [], d: [] });
  expect(await second.crew.resume(run.id)).toMatchObject({
    nodes: { a: { output: "a is done" }, c: { fault: { code: "MARKED_FAILED" } }, d: { status: "skipped" } },
  });
  const third = stage(home, { a: [], b: [], c: ["c is done"], d: ["d is done"] });
  expect(await third.crew.resume(run.id, { retryFailed: true })).toMatchObject({
    status: "ok",
    nodes: { a: { output: "a is done" }, c: { output: "c is done" }, d: { output: "d is done" } },
  });
});

test("each of two failed dependencies can be retried alone; a task that needs both follows once both have succeeded", async () => {
  const home = tempFolder();
  const refused: Script = { error: { code: "MODEL_AUTH", message: "The key was refused.", retryable: false } };
  let finish: (text: string) => void = () => {};
  const waits = new Promise<string>((resolve) => (finish = resolve));
  const { crew, models } = stage(home, {
    a: [refused, "a is done"],
    b: [refused, "b is done"],
    c: ["c is done"],
    d: [() => waits],
  });
  const run = crew.run(team(["a"], ["b"], ["c", "a", "b"], ["d"]));
  const told: unknown[] = [];
  const tell = async (path?: string): Promise<void> => {
    const command = { do: "retry", ...(path !== undefined && { path }) } as const;
    told.push(await handleCommand(run, command, new AbortController().signal));
  };
  const isGood = (path: string) => (event: Event) =>
    ended(path)(event) && event.type === "node.ended" && event.outcome.status === "ok";
  const bothFailed = (): boolean => ["a", "b"].every((path) => run.state.nodes.get(path)?.status === "failed");
  await at(
    run,
    [bothFailed, () => void tell("a")],
    [
      isGood("a"),
      () =>
        void tell("d")
          .then(() => tell("c/x"))
          .then(() => tell()),
    ],
    [isGood("c"), () => finish("d is done")],
  );
  expect(told).toEqual([
    { state: "done", code: "DONE", text: "Retrying: a." },
    { state: "refused", code: "NOT_FAILED", text: '"d" has not failed: it is running.' },
    {
      state: "refused",
      code: "NOT_FAILED",
      text: '"c/x" is not a task of the plan, so it cannot be retried alone. Retry the task that started it.',
    },
    { state: "done", code: "DONE", text: "Retrying: b." },
  ]);
  expect(await run).toMatchObject({ status: "ok", nodes: { c: { status: "ok", output: "c is done" } } });
  expect(["a", "b", "c", "d"].map((name) => models[name]!.requests.length)).toEqual([2, 2, 1, 1]);
});
