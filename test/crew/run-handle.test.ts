import { expect, test } from "vitest";
import type { Model } from "../../src/core/model/model.ts";
import type { Answer } from "../../src/core/plan/gate.ts";
import type { Plan } from "../../src/core/plan/plan.ts";
import { createCrew } from "../../src/crew.ts";
import type { Crew } from "../../src/crew/crew-type.ts";
import { never, scripted } from "../../src/models/scripted/scripted.ts";
import { tempFolder } from "../support/temp-folder.ts";

const crewAt = (home: string, model = never): Crew =>
  createCrew({ cwd: tempFolder(), home, discover: false, env: {}, model: "m", models: { m: model } });

/** A run that another crew, as another process has it, has paused in the middle of its first answer. */
async function pausedRun(): Promise<{ crew: Crew; id: string }> {
  const home = tempFolder();
  const run = crewAt(home).run({ tasks: [{ task: "a" }, { task: "b" }] });
  for await (const event of run) if (event.type === "turn.started") run.pause();
  return { crew: crewAt(home), id: run.id };
}

test("a run that another crew works on is messaged, paused, resumed here and cancelled", async () => {
  const home = tempFolder();
  const run = crewAt(home).run({ task: "a" });
  const [first] = Object.keys((await run.first("run.started"))?.plan.nodes ?? {});
  await run.first("turn.started");
  const handle = crewAt(home).open(run.id);
  expect(await handle.send(first!, "hello")).toMatchObject({ state: "done", code: "DONE" });
  expect(await handle.send("nobody", "hello")).toMatchObject({ state: "refused", code: "NOT_RUNNING" });
  expect(await handle.resume()).toMatchObject({ state: "refused", code: "MOVED" });
  expect(await handle.retry()).toMatchObject({ state: "refused", code: "NOT_FAILED" });
  expect(await handle.pause()).toMatchObject({ state: "done", text: `${run.id} is paused.` });
  expect(await handle.pause()).toMatchObject({ state: "refused", code: "NOT_RUNNING" });
  expect(await handle.resume()).toMatchObject({ state: "done" });
  for await (const event of handle) if (event.type === "run.resumed") break;
  expect(await handle.cancel()).toMatchObject({ state: "done", text: `${run.id} is cancelled.` });
  expect(await handle).toMatchObject({ status: "cancelled" });
});

test("a run that nobody works on gives what there is, keeps what it is told, and is cancelled at once", async () => {
  const { crew, id } = await pausedRun();
  const handle = crew.open(id);
  expect(await handle).toMatchObject({ id, status: "paused" });
  for (const action of [handle.resume({ task: "nobody" }), handle.retry("nobody")])
    expect(await action).toMatchObject({ state: "refused", code: "UNKNOWN_TASK" });
  expect(await handle.answer("task_1", { approve: true })).toMatchObject({ state: "queued", code: "QUEUED" });
  expect(await handle.kill()).toMatchObject({ state: "refused", code: "NOT_RUNNING" });
  const [task] = Object.keys((await handle.look()).state.plan?.nodes ?? {});
  expect(await handle.cancel({ task: task! })).toMatchObject({ state: "done" });
  expect(await handle.cancel({ task: task! })).toMatchObject({ state: "refused", code: "TASK_ENDED" });
  expect(await handle.resume({ task: task! })).toMatchObject({ state: "refused", code: "NOT_RUNNING" });
  expect(await handle.cancel()).toMatchObject({ state: "done" });
  expect((await handle.look()).life).toBe("cancelled");
});

test.each<{ what: string; path: string; plan: Plan; answer: Answer }>([
  {
    what: "a question",
    path: "work",
    plan: { nodes: { work: { kind: "task", task: { prompt: "Go.", tools: ["ask"] } } }, output: "work" },
    answer: { approve: true, text: "2" },
  },
  {
    what: "an approval",
    path: "sure",
    plan: { nodes: { sure: { kind: "gate", question: "Sure?" } }, output: "sure" },
    answer: { approve: true, text: "blue" },
  },
])("a run that is resumed without a person uses the answer to $what that was saved before", async (it) => {
  const home = tempFolder();
  const model = (): Model =>
    scripted(
      { calls: [{ id: "c1", name: "ask", input: { question: "Which?", options: ["red", "blue"] } }] },
      { calls: [{ id: "c2", name: "ask", input: { question: "Sure?" } }] },
      "done",
    );
  const run = crewAt(home, model()).run(it.plan);
  for await (const event of run) if (event.type === "gate.opened") run.pause();
  const { call } = run.state.nodes.get(it.path) ?? {};
  const crew = crewAt(home, model());
  expect(await crew.open(run.id).answer(it.path, it.answer, { call })).toMatchObject({ code: "QUEUED" });
  const resumed = crew.resume(run.id, { unattended: true });
  const answers: unknown[] = [];
  for await (const event of resumed) if (event.type === "gate.answered") answers.push(event.answer);
  expect(answers).toMatchObject([it.answer]);
  expect(await resumed).toMatchObject({ status: "ok" });
});

test("an ended run has its result and events, and refuses every action", async () => {
  const home = tempFolder();
  const run = crewAt(home, scripted("done")).run({ task: "a" });
  await run;
  const handle = crewAt(home).open(run.id);
  expect(await handle).toMatchObject({ status: "ok", output: "done" });
  const types: string[] = [];
  for await (const { type } of handle) types.push(type);
  expect([types[0], types.at(-1)]).toEqual(["run.started", "run.ended"]);
  const ended = { state: "refused", code: "RUN_ENDED" };
  for (const action of [
    () => handle.pause(),
    () => handle.cancel(),
    () => handle.kill(),
    () => handle.resume(),
    () => handle.retry(),
    () => handle.send("a", "hello"),
    () => handle.change({ markFailed: { a: "no" } }),
  ])
    expect(await action()).toMatchObject(ended);
});

test("an unknown run is an error at the first use", async () => {
  const handle = crewAt(tempFolder()).open("run_nobodyknows0");
  const unknown = { code: "UNKNOWN_RUN" };
  await expect(handle.pause()).rejects.toMatchObject(unknown);
  await expect(handle.send("a", "hello")).rejects.toMatchObject(unknown);
  await expect(handle.result()).rejects.toMatchObject(unknown);
});

test("the signal of a handle ends what is waited for, not the run", async () => {
  const home = tempFolder();
  const run = crewAt(home).run({ task: "a" });
  await run.first("turn.started");
  const over = new AbortController();
  const handle = crewAt(home).open(run.id, { signal: over.signal });
  const result = handle.result();
  over.abort(new Error("no time for it"));
  await expect(result).rejects.toThrow("no time for it");
  expect(run.state.endedAt).toBeUndefined();
  run.cancel();
  await run;
});
