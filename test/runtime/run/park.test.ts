import { expect, test } from "vitest";
import type { Event, KeptEvent } from "../../../src/core/run/event.ts";
import { isKept } from "../../../src/core/run/kept-event.ts";
import { runStatusOf } from "../../../src/core/run/run-status.ts";
import { emptyState, reduce } from "../../../src/core/run/state.ts";
import type { RunOptions } from "../../../src/crew/prepare/run-options.ts";
import { createCrew } from "../../../src/crew.ts";
import type { Crew } from "../../../src/crew/crew-type.ts";
import { type Script, type ScriptedModel, scripted } from "../../../src/models/scripted/scripted.ts";
import type { Run } from "../../../src/runtime/run/run.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const parks: RunOptions = { onLimit: "park", onProviderFault: "park" };
const usage = { input: 400, output: 100 };
const says = (text: string): Script => ({ text, usage });
const refused = (message: string, more: object = {}): Script => ({
  error: { code: "MODEL_AUTH", message, hint: "Correct the key.", retryable: false, ...more },
});
const works: Script = { calls: [{ name: "list_files", input: {} }], usage };

function crewAt(home: string, model: ScriptedModel, more: object = {}): Crew {
  return createCrew({
    cwd: home,
    home,
    discover: false,
    env: {},
    models: { m: model },
    agents: [{ name: "worker", description: "Works.", instructions: "Work.", tools: ["list_files"] }],
    ...more,
  });
}

const one = { mode: "single", agent: "worker", task: "x" } as const;
const many = (n: number) =>
  ({ mode: "parallel", tasks: Array.from({ length: n }, (_, i) => ({ agent: "worker", task: `${i}` })) }) as const;

/** Follows a run to its end, and calls a function with each recorded event. */
async function eventsOf(run: Run, heard: (event: KeptEvent) => void = () => {}): Promise<KeptEvent[]> {
  const events: KeptEvent[] = [];
  for await (const event of run as AsyncIterable<Event>)
    if (isKept(event)) {
      events.push(event);
      heard(event);
    }
  return events;
}

const typesOf = (events: readonly KeptEvent[]): string[] => events.map(({ type }) => type);

test("a task whose key is refused parks with the reason and a fix, and retries automatically", async () => {
  const model = scripted(refused("401", { retryAfterMs: 1 }), says("done"));
  const run = crewAt(tempFolder(), model).run(one, parks);
  const seen = emptyState(run.id);
  let life = "";
  const events = await eventsOf(run, (event) => {
    reduce(seen, event);
    if (event.type === "node.parked") life = runStatusOf(seen, true);
  });
  expect(events.find(({ type }) => type === "node.parked")).toMatchObject({
    why: "401",
    waitsFor: "key",
    helps: "Correct the key.",
    until: expect.any(Number),
  });
  expect(life).toBe("parked");
  expect(typesOf(events)).toContain("node.unparked");
  expect(await run).toMatchObject({ status: "ok", output: "done", usage: { turns: 1, input: 400 } });
});

test.each([
  ["MODEL_AUTH", false, "key"],
  ["MODEL_RATE_LIMIT", false, "credit"],
  ["MODEL_RATE_LIMIT", true, "quota"],
  ["MODEL_OVERLOADED", true, "provider"],
  ["MODEL_NETWORK", true, "provider"],
])("%s (retryable: %s) parks for the %s", async (code, retryable, waitsFor) => {
  const model = scripted(refused("no", { code, retryable, retryAfterMs: 1 }), says("done"));
  const run = crewAt(tempFolder(), model).run(one, parks);
  const events = await eventsOf(run);
  expect(events.find(({ type }) => type === "node.parked")).toMatchObject({ waitsFor });
  expect(await run).toMatchObject({ status: "ok" });
});

test("an invalid request does not park, and without the option nothing does", async () => {
  const strange = scripted(refused("no such model", { code: "MODEL_UNKNOWN" }));
  expect(await crewAt(tempFolder(), strange).run(one, parks)).toMatchObject({ fault: { code: "MODEL_UNKNOWN" } });
  const plain = scripted(refused("401"));
  expect(await crewAt(tempFolder(), plain).run(one)).toMatchObject({ fault: { code: "MODEL_AUTH" } });
});

test("the slot of a parked task is free for others", async () => {
  const model = scripted(refused("401", { retryAfterMs: 60_000 }), says("1"), says("2"));
  const tasks = ["slow", "a", "b"].map((task) => ({ agent: "worker", task }));
  const run = crewAt(tempFolder(), model).run({ mode: "parallel", tasks }, { ...parks, concurrency: 1 });
  let ended = 0;
  await eventsOf(run, ({ type }) => {
    if (type === "node.ended") ended += 1;
    if (ended === 2) run.pause("seen");
  });
  expect(run.state.status).toBe("paused");
  expect(model.requests).toHaveLength(3);
});

test("at a limit of the run, tasks park before their next turn, get no grace turn, and continue when the limit is raised", async () => {
  const home = tempFolder();
  const model = scripted(works, works);
  const run = crewAt(home, model).run(one, { ...parks, budget: { maxTurns: 2 } });
  const events = await eventsOf(run, ({ type }) => {
    if (type === "node.parked") run.pause("seen");
  });
  expect(model.requests).toHaveLength(2);
  expect(events.find(({ type }) => type === "node.parked")).toMatchObject({
    waitsFor: "budget",
    why: "The run reached its limit of 2 turns for the whole run.",
    helps: `Raise the limit: \`subcrew resume ${run.id} --max-run-turns ...\`.`,
  });
  expect(typesOf(events)).not.toContain("limit.reached");

  const same = crewAt(home, scripted()).resume(run.id);
  const again = await eventsOf(same, ({ type, seq }) => {
    if (type === "node.parked" && seq > events.length) same.pause("still parked");
  });
  expect(typesOf(again).filter((type) => type === "node.parked")).toHaveLength(2);

  const more = scripted(says("done"));
  expect(await crewAt(home, more).resume(run.id, { budget: { maxTurns: 3 } })).toMatchObject({
    status: "ok",
    output: "done",
    usage: { turns: 3 },
  });
  expect(more.requests).toHaveLength(1);
});

test("without parking, a task at a limit of the run gets a grace turn", async () => {
  const model = scripted(works, says("half"));
  expect(await crewAt(tempFolder(), model).run(one, { budget: { maxTurns: 1 } })).toMatchObject({
    status: "ok",
    output: "half",
    limit: { kind: "turns", value: 1 },
  });
});

test("when a run reaches its limit, tasks that have not started yet are parked, too", async () => {
  const model = scripted(says("1"), says("2"));
  const run = crewAt(tempFolder(), model).run(many(5), { ...parks, concurrency: 1, budget: { maxTurns: 2 } });
  let parked = 0;
  await eventsOf(run, ({ type }) => {
    if (type === "node.parked") parked += 1;
    if (parked === 3) run.pause("seen");
  });
  expect(model.requests).toHaveLength(2);
});

test("a limit of a single task never parks", async () => {
  const model = scripted(works, says("half"));
  const task = { ...one, resourceLimits: { maxTurns: 1 } };
  expect(await crewAt(tempFolder(), model).run(task, parks)).toMatchObject({
    status: "ok",
    limit: { kind: "turns", value: 1 },
  });
});

test("the time while a task is parked counts neither for the task nor for the run", async () => {
  const model = scripted(refused("401", { retryAfterMs: 600 }), says("done"));
  const task = { ...one, resourceLimits: { maxDurationMs: 300 } };
  const run = crewAt(tempFolder(), model).run(task, { ...parks, maxTimeMs: 400 });
  expect(await run).toMatchObject({ status: "ok", output: "done" });
});

test("at the time limit of a run, running tasks park after their turn", async () => {
  const model = scripted({ ...(works as object), delayMs: 300 }, says("done"));
  const home = tempFolder();
  const run = crewAt(home, model).run(one, { ...parks, maxTimeMs: 100 });
  const events = await eventsOf(run, ({ type }) => {
    if (type === "node.parked") run.pause("seen");
  });
  expect(typesOf(events)).toContain("turn.ended");
  expect(events.find(({ type }) => type === "node.parked")).toMatchObject({
    why: "The run reached its limit of 100ms of time for the whole run.",
  });
});

test("a parked run that is killed and resumed keeps its rules, and the refused turn costs nothing", async () => {
  const home = tempFolder();
  const run = crewAt(home, scripted(refused("401", { retryAfterMs: 60_000 }))).run(one, parks);
  await eventsOf(run, ({ type }) => {
    if (type === "node.parked") run.pause("seen");
  });
  expect([...run.state.nodes.values()][0]?.parked).toMatchObject({ waitsFor: "key" });
  const second = crewAt(home, scripted(refused("still", { retryAfterMs: 1 }), says("done"))).resume(run.id);
  const events = await eventsOf(second);
  expect(events.filter(({ type }) => type === "node.parked")).toHaveLength(2);
  expect(await second).toMatchObject({ status: "ok", usage: { turns: 1, input: 400 }, cost: { unpriced: 1 } });
  expect((await second).usage.estimated).toBeUndefined();
});

test("a parked task that is cancelled ends as cancelled", async () => {
  const run = crewAt(tempFolder(), scripted(refused("401", { retryAfterMs: 60_000 }))).run(one, parks);
  await eventsOf(run, ({ type }) => {
    if (type === "node.parked") run.cancel("enough");
  });
  expect(await run).toMatchObject({ status: "cancelled" });
});

test.each([
  [{ parkByDefault: true }, {}, { onLimit: "park", onProviderFault: "park" }],
  [{ parkByDefault: true }, { CI: "true" }, { onLimit: "end", onProviderFault: "fail" }],
  [{ parkByDefault: true }, { CI: "false" }, { onLimit: "park", onProviderFault: "park" }],
  [{ parkByDefault: true, onLimit: "end" }, {}, { onLimit: "end", onProviderFault: "park" }],
  [{ onProviderFault: "park" }, { CI: "1" }, { onLimit: "end", onProviderFault: "park" }],
  [{}, {}, { onLimit: "end", onProviderFault: "fail" }],
] as const)(
  "with the options %j and the environment %j, a run parks by these rules: %j",
  async (options, env, rules) => {
    const run = crewAt(tempFolder(), scripted(says("x")), { env }).run(one, options);
    const [started] = await eventsOf(run);
    expect(started).toMatchObject({ parks: rules });
  },
);

test("the settings decide for a run without its own option", async () => {
  const config = { onLimit: "park" } as const;
  const run = crewAt(tempFolder(), scripted(says("x")), { config }).run(one, { parkByDefault: false });
  const [started] = await eventsOf(run);
  expect(started).toMatchObject({ parks: { onLimit: "park", onProviderFault: "fail" } });
});
