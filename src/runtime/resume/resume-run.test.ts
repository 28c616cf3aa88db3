import { expect, test } from "vitest";
import { recordedRun, storeOf } from "../../../test/support/recorded-runs.ts";
import { startOf } from "../../../test/support/start-run.ts";
import type { Outcome } from "../../core/outcome/outcome.ts";
import type { Event } from "../../core/run/event.ts";
import type { Call } from "../../core/task/engine.ts";
import { localEngine } from "../../engines/local.ts";
import { type Drive, Run } from "../run/run.ts";
import { readRecordedRun } from "./recorded-run.ts";
import { type ResumeParts, resumeRun } from "./resume-run.ts";

const RUN = "run_aaaaaaaaaaaa";
const task = (...needs: readonly string[]) => ({ kind: "task", needs, task: { prompt: "Go." } });
const plan = {
  nodes: {
    good: task(),
    bad: task(),
    gone: task(),
    all: { kind: "join", needs: ["good", "bad"] },
    after: task("good"),
    blocked: task("good", "bad"),
    joined: task("all"),
  },
  output: "joined",
};
const started = { type: "run.started", plan, version: "0", cwd: "/here", format: 1 };
const began = (path: string) => ({ type: "node.started", path, attempt: 1, kind: "task" });
const ended = (path: string, outcome: object) => ({ type: "node.ended", path, outcome });
const fault = { code: "MODEL_AUTH", message: "no key", retryable: false };
const events = [
  started,
  ...["good", "bad", "gone"].map(began),
  ended("good", { status: "ok", output: "done" }),
  began("bad/helper"),
  ended("bad", { status: "failed", fault }),
  ended("gone", { status: "cancelled", reason: "not wanted", final: true }),
];

/** The result of resuming: the error, or the plan that is prepared. */
async function resumed(
  parts: readonly object[],
  wished: Partial<ResumeParts> = {},
  id = RUN,
): Promise<{ error: unknown; published: Event[]; prepared: unknown[] }> {
  const published: Event[] = [];
  const prepared: unknown[] = [];
  const prepare: ResumeParts["prepare"] = async (given) => {
    prepared.push(given);
    throw new Error("it would be executed");
  };
  const drive = { publish: (event: Event) => void published.push(event) } as Drive;
  const run = await recordedRun(RUN, parts);
  const error = await resumeRun(drive, { ...run, id }, { retryFailed: false, ...wished, prepare }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { error, published, prepared };
}

const goesOn = { message: "it would be executed" };

test("an interrupted run is prepared with its plan", async () => {
  const { error, published, prepared } = await resumed(events);
  expect(error).toMatchObject(goesOn);
  expect(prepared).toEqual([plan]);
  expect(published).toEqual([]);
});

test("the events of an ended run are published again, and nothing is executed, unless failed tasks are retried", async () => {
  const whole = [...events, { type: "run.ended", outcome: { status: "failed", fault } }];
  const { error, published, prepared } = await resumed(whole);
  expect([error, prepared]).toEqual([undefined, []]);
  expect(published.map(({ type }) => type)).toEqual(whole.map(({ type }) => type));
  expect((await resumed(whole, { retryFailed: true })).error).toMatchObject(goesOn);
});

test("a run that stopped before it began, and a copy of another run, are refused", async () => {
  expect((await resumed([{ type: "note", text: "x", format: 1 }, started])).error).toMatchObject({
    code: "RUN_DAMAGED",
    message: `The run "${RUN}" stopped before it began.`,
  });
  const { error, prepared } = await resumed(events, {}, "run_copy");
  expect(error).toMatchObject({
    code: "RUN_DAMAGED",
    message: expect.stringContaining(`is a copy of the run "${RUN}"`),
  });
  expect(prepared).toEqual([]);
});

test.each([
  ["good", false, goesOn],
  ["after", false, goesOn],
  ["joined", false, goesOn],
  ["bad", true, goesOn],
  ["bad/helper", true, goesOn],
  ["bad", false, { code: "RUN_BUSY", message: 'The task "bad" has failed, so it cannot be continued.' }],
  ["gone", false, { code: "RUN_BUSY", message: 'The task "gone" was cancelled.' }],
  [
    "blocked",
    false,
    { code: "RUN_BUSY", message: 'The task "blocked" depends on the task "bad", which has not finished.' },
  ],
  ["none", false, { code: "UNKNOWN_RUN", message: `"${RUN}" has no task "none".` }],
  ["good/none", false, { code: "UNKNOWN_RUN", message: `"${RUN}" has no task "good/none".` }],
] as const)("resuming only the task %s, with failed tasks retried: %s", async (path, retryFailed, expected) => {
  expect((await resumed(events, { task: path, retryFailed })).error).toMatchObject(expected);
});

test("a resumed task and the tasks that depend on it are executed in the recorded run, before resuming ends", async () => {
  const store = await storeOf({ [RUN]: events });
  const performed: string[] = [];
  const perform = async ({ path }: Call): Promise<Outcome> => {
    performed.push(path);
    return { status: "ok", output: `${path} again` };
  };
  const engine = localEngine({ perform, journal: store.open });
  const recorded = await readRecordedRun(store, RUN);
  const prepare: ResumeParts["prepare"] = async (given) => startOf(engine, { plan: given });
  let done: readonly string[] = [];
  const run = new Run(RUN, async (it) => {
    await resumeRun(it, recorded, { retryFailed: true, task: "bad/helper", prepare });
    done = performed.toSorted();
  });
  await run;
  expect(done).toEqual(["bad", "blocked", "joined"]);
  const { events: all } = await store.readWhole(RUN);
  expect(all.find(({ type }) => type === "run.resumed")).toMatchObject({ task: "bad", retryFailed: true });
});
