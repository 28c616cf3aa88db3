import { expect, test } from "vitest";
import type { Model } from "../../src/core/model/model.ts";
import { rowActions } from "../../src/core/view/row-actions.ts";
import { rowsOf, type TopRow } from "../../src/core/view/run-rows.ts";
import { followRuns, type RunFeed } from "../../src/crew/follow-runs.ts";
import { createCrew } from "../../src/crew.ts";
import type { Crew } from "../../src/crew/crew-type.ts";
import { never, scripted } from "../../src/models/scripted/scripted.ts";
import { deferred } from "../../src/runtime/async/deferred.ts";
import { statusText } from "../../src/sinks/status-text.ts";
import { needRowsIn, runRowOf } from "../../src/web/rows.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";

const failing = () => scripted({ error: { code: "CRASHED", message: "down", retryable: false } });
const crewOf = (home: string, model: Model = failing()): Crew =>
  createCrew({ cwd: tempFolder(), home, discover: false, env: {}, model: "model", models: { model } });

/** What a screen shows of each run: its status, and the status of its tasks. */
const shownIn = (feed: RunFeed): string[] =>
  feed.runs().map(({ life, state }) => [life, ...Array.from(state.nodes.values(), ({ status }) => status)].join(": "));

test.each(["all runs", "one run"])(
  "an ended run that is retried is shown as running, then with its result: %s",
  async (of) => {
    const home = tempFolder();
    const run = crewOf(home).run({ agent: "general", task: "one" });
    await run;
    const over = new AbortController();
    const only = of === "one run" ? run.id : undefined;
    const feed = await followRuns(crewOf(home), { only, signal: over.signal, changed: () => {} });
    expect(shownIn(feed)).toEqual(["failed: failed"]);

    const goOn = deferred<void>();
    const again = crewOf(
      home,
      scripted(async () => {
        await goOn.promise;
        return "up again";
      }),
    ).resume(run.id, { retryFailed: true });
    await until(() => shownIn(feed)[0] === "running: running");
    goOn.resolve();
    await again;
    await until(() => shownIn(feed)[0] === "ok: ok");
    over.abort();
  },
);

test("a task of a paused run that is cancelled is shown as cancelled", async () => {
  const home = tempFolder();
  const run = crewOf(home, never).run({ agent: "general", task: "one" });
  for await (const event of run) if (event.type === "turn.started") run.pause();
  await run;
  const over = new AbortController();
  const feed = await followRuns(crewOf(home), { only: undefined, signal: over.signal, changed: () => {} });
  expect(shownIn(feed)).toEqual(["paused: running"]);
  const [path] = feed.runs()[0]!.state.nodes.keys();
  await crewOf(home).kept.cancelTask(run.id, path!, "not needed");
  await until(() => shownIn(feed)[0] === "paused: cancelled");
  over.abort();
});

const gated = { nodes: { ok: { kind: "gate", question: "Fine?" } }, output: "ok" } as const;

test("a question of a paused run needs a person until an answer to it is stored", async () => {
  const home = tempFolder();
  const run = crewOf(home).run(gated);
  for await (const event of run) if (event.type === "gate.opened") run.pause();
  await run;
  const over = new AbortController();
  const feed = await followRuns(crewOf(home), { only: undefined, signal: over.signal, changed: () => {} });
  const row = (): TopRow => rowsOf(feed.runs(), { one: false, shape: "tree" })[0]!;
  const actions = (): string[] => rowActions(row()).map(({ does }) => does);
  expect([row().group, needRowsIn(feed.runs()).length, actions()[0]]).toEqual(["needs you", 1, "allow"]);

  const command = { do: "answer", path: "ok", question: "Fine?", answer: { approve: true } } as const;
  await crewOf(home).kept.tell(run.id, command, { waitMs: 1, signal: over.signal });
  await until(() => row().group !== "needs you");
  expect(row()).toMatchObject({ group: "waiting", waitsFor: "the run to be resumed; the question is answered" });
  expect([needRowsIn(feed.runs()), runRowOf(feed.runs()[0]!).questions]).toEqual([[], 0]);
  expect(actions()).not.toContain("allow");
  const { state, life, answered } = await crewOf(home).kept.look(run.id);
  expect(statusText(state, life, 0, { answered })).toContain("the answer takes effect when the run is resumed");
  await crewOf(home).resume(run.id);
  await until(() => shownIn(feed)[0] === "ok: ok");
  over.abort();
});

test("an ended run that is deleted is no longer shown, also if it was the only run", async () => {
  const home = tempFolder();
  const run = crewOf(home).run({ agent: "general", task: "one" });
  await run;
  const over = new AbortController();
  const feed = await followRuns(crewOf(home), { only: run.id, signal: over.signal, changed: () => {} });
  expect(shownIn(feed)).toEqual(["failed: failed"]);
  await crewOf(home).kept.remove(run.id);
  await until(() => feed.runs().length === 0);
  over.abort();
});
