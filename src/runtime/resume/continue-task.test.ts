import { expect, test } from "vitest";
import { storeOf } from "../../../test/support/recorded-runs.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import { type ContinueOptions, continueTask } from "./continue-task.ts";

const RUN = "run_aaaaaaaaaaaa";
const task = (more: object = {}) => ({ kind: "task", task: { prompt: "Go.", ...more } });
const began = (path: string, more: object = {}) => ({
  type: "node.started",
  path,
  attempt: 1,
  kind: "task",
  agent: "scout",
  ...more,
});
const ended = (path: string, outcome: object = { status: "ok", output: "done" }) => ({
  type: "node.ended",
  path,
  outcome,
});
const started = (nodes: object, output: string, more: object = {}) => ({
  type: "run.started",
  plan: { nodes, output },
  version: "0",
  cwd: "/here",
  format: 1,
  ...more,
});
const over = { type: "run.ended", outcome: { status: "ok", output: "done" } };

const continuing = async (events: readonly object[], more: Partial<ContinueOptions> = {}, others = {}) =>
  continueTask(await storeOf({ [RUN]: events, ...others }), {
    run: RUN,
    prompt: "More.",
    allowFailed: false,
    now: 100,
    ...more,
  });

const resolved = (more: object = {}) => ({
  type: "agent.resolved",
  path: "a",
  agent: "scout",
  hash: "h",
  model: "m2",
  rights: [],
  definition: { name: "scout", description: "d", instructions: "i", ...more },
});

test("the new task has the settings, agent and model of the old one, but none of its inputs", async () => {
  const inputs = { refs: {}, include: ["b"], preface: "Hello.", images: [], fork: true, resumes: "b", revise: {} };
  const settings = { thinking: "high", model: "m1", label: "A", ...inputs };
  const nodes = { a: task(settings), b: task() };
  const events = [started(nodes, "a", { name: "my run" }), began("a"), resolved(), ended("a"), over];
  const { plan, continues, continued, name } = await continuing(events);
  expect(plan).toEqual({
    nodes: {
      a: {
        kind: "task",
        task: {
          thinking: "high",
          label: "A",
          agent: "scout",
          model: "m2",
          prompt: "More.",
          refs: {},
          continues: `${RUN}/a`,
        },
      },
    },
    output: "a",
  });
  expect([continues, continued.id, name]).toEqual([`${RUN}/a`, RUN, "my run"]);
  const given = await continuing(events, { run: continued });
  expect(given.continued).toBe(continued);
});

test("a continued task of a remote agent has no recorded model, and an unnamed run stays unnamed", async () => {
  const remote = { remote: { cardUrl: "https://a.example/card" } };
  const it = await continuing([started({ a: task() }, "a"), began("a"), resolved(remote), ended("a"), over]);
  expect(it.plan.nodes["a"]).toEqual({
    kind: "task",
    task: { agent: "scout", prompt: "More.", refs: {}, continues: `${RUN}/a` },
  });
  expect(Object.keys(it)).not.toContain("name");
});

test("a helper is continued under its own name", async () => {
  const events = [
    started({ a: task() }, "a"),
    began("a"),
    began("a/two", { agent: "helper" }),
    ended("a/two"),
    ended("a"),
    over,
  ];
  const { plan, continues } = await continuing(events, { path: "a/two" });
  expect(plan).toEqual({
    nodes: {
      two: { kind: "task", task: { agent: "helper", prompt: "More.", refs: {}, continues: `${RUN}/a/two` } },
    },
    output: "two",
  });
  expect(continues).toBe(`${RUN}/a/two`);
});

const seven = ["t1", "t2", "t3", "t4", "t5", "t6", "t7"];
const join = { kind: "join", needs: seven };
const many = [
  started({ ...Object.fromEntries(seven.map((id) => [id, task()])), all: join }, "all"),
  ...seven.flatMap((id) => [began(id), ended(id)]),
  began("all", { kind: "join", agent: undefined }),
  ended("all"),
  over,
];

test("without a path, the task that gives the result or the only task is continued; otherwise some paths are suggested", async () => {
  const nodes = { a: task(), b: task() };
  const two = [started(nodes, "b"), began("a"), ended("a"), began("b"), ended("b"), over];
  expect((await continuing(two)).continues).toBe(`${RUN}/b`);
  const one = [
    started({ a: task(), all: { kind: "join", needs: ["a"] } }, "all"),
    began("a"),
    ended("a"),
    began("all", { kind: "join" }),
    ended("all"),
    over,
  ];
  expect((await continuing(one)).continues).toBe(`${RUN}/a`);
  await expect(continuing(many)).rejects.toMatchObject({
    code: "BAD_INPUT",
    message: `"${RUN}" has 7 tasks.`,
    hint: `Name one of: ${seven
      .slice(0, 5)
      .map((id) => `${RUN}/${id}`)
      .join(", ")}.`,
  });
});

test("a path that is not a task is refused, and paths of some tasks are suggested", async () => {
  for (const path of ["all", "none"])
    await expect(continuing(many, { path })).rejects.toMatchObject({
      code: "UNKNOWN_RUN",
      message: `The task "${path}" was not found in the run "${RUN}".`,
      hint: "The tasks of the run: t1, t2, t3, t4, t5.",
    });
  expect((await continuing(many, { path: "t7" })).continues).toBe(`${RUN}/t7`);
});

const fault = { code: "MODEL_AUTH", message: "no key", retryable: false };

test.each([
  ["ok", { status: "ok", output: "" }, false, undefined],
  ["cancelled", { status: "cancelled", reason: "no" }, false, undefined],
  ["failed and continued on request", { status: "failed", fault }, true, undefined],
  [
    "failed",
    { status: "failed", fault },
    false,
    ["failed", "Add --allow-failed to continue the task, or --retry-failed to retry it."],
  ],
  ["skipped", { status: "skipped", reason: "no" }, true, ["was skipped", "Start the work as a new task."]],
  ["skipped", { status: "skipped", reason: "no" }, false, ["was skipped", "Start the work as a new task."]],
])("whether a task can be continued depends on its outcome: %s", async (_how, outcome, allowFailed, refused) => {
  const it = continuing([started({ a: task() }, "a"), began("a"), ended("a", outcome), over], { allowFailed });
  if (refused === undefined) expect((await it).continues).toBe(`${RUN}/a`);
  else
    await expect(it).rejects.toMatchObject({
      code: "NOT_RESUMABLE",
      message: `Can only resume COMPLETED or cancelled tasks, and "${RUN}/a" ${refused[0]}.`,
      hint: refused[1],
    });
});

test("a task that has not ended, and a task of a run that is still running, are refused", async () => {
  const open = { code: "NOT_RESUMABLE", message: `"${RUN}/a" has not ended, so it cannot be continued yet.` };
  const begin = [started({ a: task(), b: task() }, "a"), began("a")];
  await expect(continuing(begin)).rejects.toMatchObject(open);
  await expect(continuing([...begin, began("b"), ended("b"), over])).rejects.toMatchObject(open);
  await expect(continuing([...begin, ended("a"), began("b")])).rejects.toMatchObject(open);
});

const DAY = 24 * 60 * 60 * 1_000;
const whole = [started({ a: task() }, "a"), began("a"), ended("a"), over]; // task `a` ends at the time 3

test("a task can be continued for seven days and five times, or as the settings say", async () => {
  const expired = { code: "NOT_RESUMABLE", message: "Session expired (>7 days old)." };
  expect((await continuing(whole, { now: 3 + 7 * DAY })).continues).toBe(`${RUN}/a`);
  await expect(continuing(whole, { now: 4 + 7 * DAY })).rejects.toMatchObject(expired);
  expect((await continuing(whole, { now: 4 + 7 * DAY, expiresAfterDays: 8 })).continues).toBe(`${RUN}/a`);
  const later = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`run_${at}aaaaaaaaaaa`, [started({}, "a", { continues: `${RUN}/a` })]]),
    );
  expect((await continuing(whole, {}, later(4))).continues).toBe(`${RUN}/a`);
  await expect(continuing(whole, {}, later(5))).rejects.toMatchObject({ message: "Resume quota exceeded (max 5)." });
  expect((await continuing(whole, { maxContinuations: 6 }, later(5))).continues).toBe(`${RUN}/a`);
});

test("an unknown run is reported as unknown; any other problem with its records is reported as it is", async () => {
  await expect(continuing(whole, { run: "run_none" })).rejects.toMatchObject({
    code: "UNKNOWN_RUN",
    message: 'Session not found: the run "run_none" does not exist.',
  });
  const newer = [{ ...started({ a: task() }, "a"), format: 999 }];
  await expect(continuing(newer)).rejects.not.toMatchObject({ message: expect.stringContaining("Session not found") });
  const broken = { readWhole: () => Promise.reject(new Error("disk error")) } as unknown as RunStore;
  const options = { run: RUN, prompt: "More.", allowFailed: false, now: 0 };
  await expect(continueTask(broken, options)).rejects.toThrow("disk error");
});
