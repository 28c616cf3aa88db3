import { expect, test } from "vitest";
import { recordedRun, storeOf } from "../../../test/support/recorded-runs.ts";
import { startOf } from "../../../test/support/start-run.ts";
import type { Outcome } from "../../core/outcome/outcome.ts";
import type { Call } from "../../core/task/engine.ts";
import { localEngine } from "../../engines/local.ts";
import { drive } from "../features/drive.ts";
import { runFeatures } from "../features/features.ts";
import { Run } from "../run/run.ts";
import { readRecordedRun } from "./recorded-run.ts";
import { resumedPart, type ResumedPart } from "./resume-run.ts";

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

/** The part of the recorded run that is resumed; throws why it cannot be resumed. */
async function resumed(
  parts: readonly object[],
  wished: Partial<ResumedPart> = {},
  id = RUN,
): Promise<ReturnType<typeof resumedPart>> {
  return resumedPart({ ...(await recordedRun(RUN, parts)), id }, { retryFailed: false, ...wished });
}

test("an interrupted run is resumed with its plan", async () => {
  expect(await resumed(events)).toEqual({ plan, resume: { retryFailed: false } });
});

test("an ended run is not resumed, unless failed tasks are retried", async () => {
  const whole = [...events, { type: "run.ended", outcome: { status: "failed", fault } }];
  expect(await resumed(whole)).toBeUndefined();
  expect(await resumed(whole, { retryFailed: true })).toMatchObject({ plan });
});

test("a run that stopped before it began, and a copy of another run, are refused", async () => {
  await expect(resumed([{ type: "note", text: "x", format: 1 }, started])).rejects.toMatchObject({
    code: "RUN_DAMAGED",
    message: `The run "${RUN}" stopped before it began.`,
  });
  await expect(resumed(events, {}, "run_copy")).rejects.toMatchObject({
    code: "RUN_DAMAGED",
    message: expect.stringContaining(`is a copy of the run "${RUN}"`),
  });
});

test.each([
  ["good", false, "good"],
  ["after", false, "after"],
  ["joined", false, "joined"],
  ["bad", true, "bad"],
  ["bad/helper", true, "bad"],
])("resuming only the task %s, with failed tasks retried: %s", async (path, retryFailed, task) => {
  expect(await resumed(events, { task: path, retryFailed })).toMatchObject({ resume: { task } });
});

test.each([
  ["bad", { code: "RUN_BUSY", message: 'The task "bad" has failed, so it cannot be continued.' }],
  ["gone", { code: "RUN_BUSY", message: 'The task "gone" was cancelled.' }],
  ["blocked", { code: "RUN_BUSY", message: 'The task "blocked" depends on the task "bad", which has not finished.' }],
  ["none", { code: "UNKNOWN_RUN", message: `"${RUN}" has no task "none".` }],
  ["good/none", { code: "UNKNOWN_RUN", message: `"${RUN}" has no task "good/none".` }],
])("the task %s cannot be resumed", async (path, error) => {
  await expect(resumed(events, { task: path })).rejects.toMatchObject(error);
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
  const rest = resumedPart(recorded, { retryFailed: true, task: "bad/helper" });
  let done: readonly string[] = [];
  const run = new Run(RUN, async (it) => {
    await drive(runFeatures, startOf(engine, rest), it);
    done = performed.toSorted();
  });
  await run;
  expect(done).toEqual(["bad", "blocked", "joined"]);
  const { events: all } = await store.readWhole(RUN);
  expect(all.find(({ type }) => type === "run.resumed")).toMatchObject({ task: "bad", retryFailed: true });
});
