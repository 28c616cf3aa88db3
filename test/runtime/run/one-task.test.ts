import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { Plan } from "../../../src/core/plan/plan.ts";
import type { Event } from "../../../src/core/run/event.ts";
import { defineTool } from "../../../src/core/task/tool.ts";
import { type Crew, createCrew } from "../../../src/crew.ts";
import { type Script, scripted } from "../../../src/models/scripted/scripted.ts";
import { handleCommand } from "../../../src/runtime/background/handle-command.ts";
import type { Run } from "../../../src/runtime/run/run.ts";
import { tempFolder } from "../../support/temp-folder.ts";

type Model = ReturnType<typeof scripted>;
type Stage = Readonly<{ crew: Crew; done: string[]; models: Readonly<Record<string, Model>> }>;

/**
 * A crew with one agent and one model for each task; one tool writes a line whenever it runs, another one delegates.
 */
function stage(home: string, scripts: Readonly<Record<string, readonly Script[]>>): Stage {
  const done: string[] = [];
  const leave = defineTool({
    name: "leave",
    description: "Leaves a line.",
    input: z.object({ line: z.string() }),
    effect: "write",
    run: ({ line }) => {
      done.push(line);
      return `done: ${line}`;
    },
  });
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
    tools: [leave, hand],
    agents: Object.keys(scripts).map((name) => ({
      name,
      description: name,
      instructions: "Work.",
      model: name,
      tools: ["leave", "hand_on"],
      spawns: "*" as const,
    })),
    permissions: { mode: "bypass" },
  });
  return { crew, done, models };
}

const uses = (line: string): Script => ({ text: `now ${line}`, calls: [{ name: "leave", input: { line } }] });
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

test("a task that is paused alone waits while the rest continues, and the run is paused once nothing else is left", async () => {
  const home = tempFolder();
  const first = stage(home, { a: [uses("one"), hang], b: ["b is done"], c: ["never"] });
  const run = first.crew.run(team(["a"], ["b"], ["c", "a"]));
  await at(run, [turnOf("a", 2), () => expect(run.pauseTask("a", "not now")).toBe(true)]);
  expect(await run).toMatchObject({ status: "paused" });
  expect(run.state.pausedFor).toBe("everything else is done, and a is paused");
  expect(run.state.nodes.get("a")).toMatchObject({ status: "running", paused: "not now" });
  expect(run.state.nodes.get("b")).toMatchObject({ status: "ok" });
  expect(run.state.nodes.has("c")).toBe(false);

  const second = stage(home, { a: ["a is done"], b: ["b again"], c: ["c is done"] });
  const { status, nodes } = await second.crew.resume(run.id);
  expect(status).toBe("ok");
  expect(nodes["c"]).toMatchObject({ status: "ok", output: "c is done" });
  expect([...first.done, ...second.done]).toEqual(["one"]);
  expect(second.models["a"]?.requests).toHaveLength(1);
  expect(second.models["a"]?.requests[0]?.messages).toEqual(first.models["a"]?.requests[1]?.messages);
  expect(second.models["b"]?.requests).toHaveLength(0);
});

test("a paused task continues in the same process of its run from its recorded turns", async () => {
  const { crew, done, models } = stage(tempFolder(), {
    a: [uses("one"), hang, "a is done"],
    b: [{ text: "slow", delayMs: 600_000 }],
  });
  const run = crew.run(team(["a"], ["b"]));
  const events = await at(
    run,
    [turnOf("a", 2), () => run.pauseTask("a", "not now")],
    [(event) => event.type === "node.paused", () => expect(run.resumeTask("a")).toEqual(["a"])],
    [ended("a"), () => run.cancelTask("b")],
  );
  expect(run.state.nodes.get("a")?.outcome).toMatchObject({ status: "ok", output: "a is done" });
  expect(done).toEqual(["one"]);
  expect(models["a"]?.requests).toHaveLength(3); // the second turn was interrupted and repeated
  expect(models["a"]?.requests[2]?.messages).toEqual(models["a"]?.requests[1]?.messages);
  const ofA = events.filter(({ path, type }) => path === "a" && type.startsWith("node."));
  expect(ofA.map(({ type }) => type)).toEqual([
    "node.started",
    "node.paused",
    "node.resumed",
    "node.started",
    "node.ended",
  ]);
  expect(ofA.filter(({ type }) => type === "node.started")).toMatchObject([{ attempt: 1 }, { attempt: 1 }]);
});

test("a task that has not begun can be paused, so that it does not begin, or cancelled, so that its dependents are skipped", async () => {
  const home = tempFolder();
  let finish: (text: string) => void = () => {};
  const waits = new Promise<string>((resolve) => (finish = resolve));
  const first = stage(home, { a: [() => waits], b: ["never"], c: ["never"], d: ["never"] });
  const run = first.crew.run(team(["a"], ["b", "a"], ["c", "a"], ["d", "c"]));
  await at(run, [
    (event) => event.type === "run.started",
    () => {
      expect(run.pauseTask("b", "later")).toBe(true);
      expect(run.cancelTask("c", "not wanted")).toBe(true);
      expect(run.pauseTask("nobody")).toBe(false);
      expect(run.cancelTask("nobody")).toBe(false);
      finish("a is done");
    },
  ]);
  expect(await run).toMatchObject({ status: "paused" });
  const second = stage(home, { a: ["again"], b: ["b is done"], c: ["again"], d: ["again"] });
  const { nodes } = await second.crew.resume(run.id);
  expect(nodes["b"]).toMatchObject({ status: "ok", output: "b is done" });
  expect(nodes["c"]).toEqual({ status: "cancelled", reason: "not wanted", final: true });
  expect(nodes["d"]).toMatchObject({ status: "skipped", because: "c" });
  for (const task of ["a", "c", "d"]) expect(second.models[task]?.requests).toHaveLength(0);
});

test("a parent waits for its paused helper, and both continue when the run is resumed", async () => {
  const home = tempFolder();
  const first = stage(home, {
    lead: [{ text: "asking", calls: [{ name: "hand_on", input: { to: "helper" } }] }],
    helper: [uses("one"), hang],
  });
  const run = first.crew.run({ mode: "single", agent: "lead", task: "Lead." });
  await at(run, [turnOf("lead/helper", 2), () => expect(run.pauseTask("lead/helper", "not now")).toBe(true)]);
  expect(await run).toMatchObject({ status: "paused" });
  const second = stage(home, { lead: ["thank you"], helper: ["helped"] });
  expect(await second.crew.resume(run.id)).toMatchObject({ status: "ok", output: "thank you" });
  expect([...first.done, ...second.done]).toEqual(["one"]);
  expect(second.models["helper"]?.requests).toHaveLength(1);
  expect(second.models["lead"]?.requests).toHaveLength(1);
  expect(JSON.stringify(second.models["lead"]?.requests[0]?.messages)).toContain("ok: helped");
});

test("a paused contender is no longer needed once another contender has won", async () => {
  const { crew } = stage(tempFolder(), { a: [hang], b: [{ text: "b wins", delayMs: 50 }] });
  const contest = team(["a"], ["b"]);
  const run = crew.run({
    ...contest,
    nodes: { ...contest.nodes, all: { kind: "join", pick: "first", needs: ["a", "b"] } },
  });
  await at(run, [turnOf("a", 1), () => run.pauseTask("a")]);
  expect(await run).toMatchObject({ status: "ok", output: "b wins" });
  expect(run.state.nodes.get("a")?.outcome).toMatchObject({ status: "cancelled", reason: "no longer needed" });
});

test("only the resumed task continues, with its dependents; the rest stays paused", async () => {
  const home = tempFolder();
  const names = { a: [hang], b: [hang], c: ["never"], d: ["never"] };
  const first = stage(home, names);
  const run = first.crew.run(team(["a"], ["b"], ["c", "a"], ["d", "b"]));
  await at(run, [(event) => event.type === "turn.started" && run.state.nodes.size === 2, () => run.pause("later")]);
  const second = stage(home, { a: ["a is done"], b: ["never"], c: ["c is done"], d: ["never"] });
  const again = second.crew.resume(run.id, { task: "a" });
  expect(await again).toMatchObject({ status: "paused", nodes: { a: { status: "ok" }, c: { status: "ok" } } });
  expect(again.state.nodes.get("b")).toMatchObject({ paused: 'only "a" and the tasks that depend on it were resumed' });
  for (const task of ["b", "d"]) expect(second.models[task]?.requests).toHaveLength(0);

  const third = stage(home, { a: ["again"], b: ["b is done"], c: ["again"], d: ["d is done"] });
  expect(await third.crew.resume(run.id)).toMatchObject({ status: "ok", nodes: { d: { output: "d is done" } } });
  for (const task of ["a", "c"]) expect(third.models[task]?.requests).toHaveLength(0);
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
    done: true,
    text: '"a" is cancelled. Skipped as a result: c.',
  });
  expect((await first.crew.kept.look(run.id)).life).toBe("paused");
  expect(await first.crew.kept.cancelTask(run.id, "a", "again")).toEqual({
    done: false,
    text: '"a" has ended (cancelled).',
  });
  const second = stage(home, { a: ["never"], b: ["b is done"], c: ["never"] });
  const { nodes } = await second.crew.resume(run.id);
  expect(nodes["a"]).toEqual({ status: "cancelled", reason: "not wanted", final: true });
  expect(nodes["c"]).toMatchObject({ status: "skipped", because: "a" });
  expect(nodes["b"]).toMatchObject({ status: "ok" });
});

test("the answer to a command lists the tasks that wait for a paused task, are skipped with a cancelled task, or continue", async () => {
  const { crew } = stage(tempFolder(), { a: [hang, "a is done"], b: [hang], c: ["c is done"], d: ["never"] });
  const run = crew.run(team(["a"], ["b"], ["c", "a"], ["d", "b"]));
  const signal = new AbortController().signal;
  const tell = (command: Parameters<Crew["kept"]["tell"]>[1]) =>
    crew.kept.tell(run.id, command, { waitMs: 20_000, signal });
  const said: unknown[] = [];
  let over: Promise<void> | undefined;
  await at(run, [
    (event) => event.type === "turn.started" && run.state.nodes.size === 2,
    () => {
      over = (async () => {
        said.push(await tell({ do: "pause", path: "a", reason: "not now" }));
        said.push(await tell({ do: "pause", path: "a", reason: "not now" }));
        said.push(await tell({ do: "resume", path: "b" }));
        said.push(await tell({ do: "resume", path: "a" }));
        said.push(await tell({ do: "cancel", path: "b", reason: "not wanted" }));
      })();
    },
  ]);
  await over;
  expect(said).toEqual([
    { done: true, text: '"a" is being paused. Waiting for it: c.' },
    { done: true, text: '"a" is paused already.' },
    { done: false, text: '"b" is not paused: it is running.' },
    { done: true, text: "Resuming: a." },
    { done: true, text: '"b" is being cancelled. Skipped as a result: d.' },
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
    const command = { do: "resume", path: "a", retryFailed: true } as const;
    told.push(await handleCommand(run, command, new AbortController().signal));
    told.push(await run.retryTask("b"), await run.retryTask("nothing"));
    finish("b is done");
  };
  await at(run, [ended("c"), () => void retry()]);
  expect(told).toEqual([
    { done: true, text: "Retrying: a." },
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
    const command = { do: "resume", retryFailed: true, ...(path !== undefined && { path }) } as const;
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
    { done: true, text: "Retrying: a." },
    { done: false, text: '"d" has not failed: it is running.' },
    {
      done: false,
      text: '"c/x" is not a task of the plan, so it cannot be retried alone. Retry the task that started it.',
    },
    { done: true, text: "Retrying: b." },
  ]);
  expect(await run).toMatchObject({ status: "ok", nodes: { c: { status: "ok", output: "c is done" } } });
  expect(["a", "b", "c", "d"].map((name) => models[name]!.requests.length)).toEqual([2, 2, 1, 1]);
});

test("if the journal is lost while a paused task continues, only the run of that task ends", async () => {
  const home = tempFolder();
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  const { crew } = stage(home, { a: [hang, hang], b: [hang] });
  const run = crew.run(team(["a"], ["b"]));
  const looking = at(
    run,
    [turnOf("a", 1), () => run.pauseTask("a", "not now")],
    [
      (event) => event.type === "node.paused",
      () => {
        writeFileSync(join(home, "runs", run.id, "owner.2.json"), "{}"); // another process claims the run
        run.send("b", "Hello.").catch(() => {});
        run.resumeTask("a");
      },
    ],
  );
  await expect(looking).rejects.toMatchObject({ code: "RUN_BUSY" });
  await new Promise(setImmediate);
  expect(unhandled).toEqual([]);
});

const asks: Script = { text: "asking", calls: [{ name: "hand_on", input: { to: "helper" } }] };
const endsOf = (events: readonly Event[], ...paths: string[]): string[] =>
  events.flatMap((event) =>
    event.type === "node.ended" && paths.includes(event.path) ? [`${event.path} ${event.outcome.status}`] : [],
  );
const isPaused = (event: Event): boolean => event.type === "node.paused";

test.each<[how: string, act: (run: Run, win: () => void) => void]>([
  ["cancelled by its name", (run) => void run.cancelTask("lead", "not wanted")],
  ["cancelled with its run", (run) => run.cancel("not wanted")],
  ["no longer needed", (_run, win) => win()],
])("a paused task that is %s leaves no helper open", async (_how, act) => {
  let win: (text: string) => void = () => {};
  const waits = new Promise<string>((resolve) => (win = resolve));
  const { crew } = stage(tempFolder(), { lead: [asks], helper: [hang, hang], b: [() => waits] });
  const { nodes, output } = team(["lead"], ["b"]);
  const run = crew.run({ output, nodes: { ...nodes, all: { kind: "join", pick: "first", needs: ["lead", "b"] } } });
  const events = await at(
    run,
    [turnOf("lead/helper", 1), () => run.pauseTask("lead", "not now")],
    [isPaused, () => run.resumeTask("lead")],
    [turnOf("lead/helper", 1), () => run.pauseTask("lead", "not now")],
    [isPaused, () => setImmediate(() => act(run, () => win("b wins")))],
    [(event) => event.type === "node.ended" && event.path.startsWith("lead"), () => win("b is done")],
  );
  expect(endsOf(events, "lead", "lead/helper")).toEqual(["lead/helper cancelled", "lead cancelled"]);
});

test("a helper that is paused and continues in a resumed run ends once", async () => {
  const home = tempFolder();
  const first = stage(home, { lead: [asks], helper: [hang] }).crew.run({
    mode: "single",
    agent: "lead",
    task: "Lead.",
  });
  await at(first, [turnOf("lead/helper", 1), () => first.pause("later")]);
  const { crew } = stage(home, { lead: ["thank you"], helper: [hang, "helped"] });
  const run = crew.resume(first.id);
  let begun = 0; // counts turns; the first one that is published belongs to the earlier process
  const events = await at(
    run,
    [(event) => turnOf("lead/helper", 1)(event) && ++begun === 2, () => run.pauseTask("lead/helper", "not now")],
    [isPaused, () => run.resumeTask("lead/helper")],
  );
  expect(endsOf(events, "lead", "lead/helper")).toEqual(["lead/helper ok", "lead ok"]);
});
