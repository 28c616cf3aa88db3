import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { callOf, contextOf, worldOf, type WorldParts } from "../../../test/support/task-world.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import { defineTool, type Tool } from "../../core/task/tool.ts";
import { type Script, scripted } from "../../models/scripted/scripted.ts";
import { stopped } from "../async/cancel.ts";
import { deferred } from "../async/deferred.ts";
import { openPreviousRuns } from "../resume/previous-runs.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import { createPerformer } from "./perform.ts";
import type { World } from "./world.ts";

test("the outcome has the duration and the artifact of the output that is recorded", async () => {
  let now = 10;
  const model = scripted(() => {
    now = 40;
    return "It rains.";
  });
  const perform = createPerformer(
    worldOf({
      models: { m: model },
      clock: () => now,
    }),
  );
  const outcome = await perform(callOf(), contextOf().context);
  expect(outcome).toMatchObject({ status: "ok", output: "It rains.", ms: 30, model: "m" });
  expect(outcome.artifact).toEqual({
    hash: "6f58a7623963538dbefa38678f970b43c50f6b65b49eff214bc0ba31c8cbc536",
    bytes: 9,
  });
});

test("a task takes no time while the clock stands still", async () => {
  const world = worldOf({ models: { m: scripted("done") }, clock: () => 10 });
  expect((await createPerformer(world)(callOf(), contextOf().context)).ms).toBe(0);
});

test("a task during which the clock is set back has the time that it took", async () => {
  let now = 10_000;
  const model = scripted(() => {
    now = 4_000;
    for (const began = performance.now(); performance.now() - began < 5; );
    return "done";
  });
  const world = worldOf({ models: { m: model }, clock: () => now });
  const { ms } = await createPerformer(world)(callOf(), contextOf().context);
  expect(ms).toBeGreaterThanOrEqual(5);
  expect(ms).toBeLessThan(60_000);
});

test("a promised file that cannot be written gives a warning, and the task still succeeds", async () => {
  const { context, facts } = contextOf();
  const refused = () => Promise.reject(new Error("the disk is full"));
  const outputs = { recorded: refused, keep: refused, file: refused };
  const outcome = await createPerformer(worldOf({ models: { m: scripted("done") }, outputs }))(callOf(), context);
  expect(outcome).toMatchObject({ status: "ok", output: "done" });
  expect(outcome).not.toHaveProperty("artifact");
  expect(facts.at(-1)).toEqual({
    type: "warning",
    code: "OUTPUT_NOT_KEPT",
    text: 'The output of "worker" could not be saved to a file: the disk is full',
  });
});

test("an answer that does not match the acceptance schema fails and can be retried; its output is kept", async () => {
  const acceptSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  const performed = (said: string) =>
    createPerformer(worldOf({ models: { m: scripted(said) } }))(callOf({ acceptSchema }), contextOf().context);
  expect(await performed('{"n": 1}')).toMatchObject({ status: "ok" });
  expect(await performed('{"n": "one"}')).toMatchObject({
    status: "failed",
    fault: { code: "NOT_ACCEPTED", message: "The answer was not accepted: n must be number.", retryable: true },
    output: '{"n": "one"}',
  });
});

test("a task that is refused never reaches a model", async () => {
  const model = scripted("done");
  const perform = createPerformer(worldOf({ models: { m: model } }));
  expect(await perform(callOf({ agent: "nobody" }), contextOf().context)).toMatchObject({
    status: "failed",
    fault: { code: "DENIED" },
  });
  expect(model.requests).toEqual([]);
});

test("a runner that throws fails its task, and the task's access is closed anyway", async () => {
  const world = worldOf({
    permissions: {},
    runner: () => {
      throw new Error("boom");
    },
  });
  let closed = 0;
  const access: typeof world.access = world.access && {
    ...world.access,
    accessFor: async (task) => {
      const opened = await world.access?.accessFor(task);
      return opened && { ...opened, end: async () => void (closed += 1) };
    },
  };
  const outcome = await createPerformer({ ...world, ...(access && { access }) })(callOf(), contextOf().context);
  expect(outcome).toMatchObject({
    status: "failed",
    fault: { code: "CRASHED", message: "The task run_test/worker crashed: boom" },
  });
  expect(closed).toBe(1);
});

test("a cancelled task ends even if its runner continues, and later events of the runner are dropped", async () => {
  const controller = new AbortController();
  const { context, facts } = contextOf({ signal: controller.signal });
  const goOn = deferred<void>();
  const over = deferred<void>();
  const perform = createPerformer(
    worldOf({
      runner: async (_, { emit }) => {
        emit({ type: "note", text: "before" });
        controller.abort(stopped("enough"));
        await goOn.promise;
        emit({ type: "note", text: "after" });
        over.resolve();
        return { status: "ok", output: "too late" };
      },
    }),
  );
  expect(await perform(callOf(), context)).toMatchObject({ status: "cancelled", reason: "enough" });
  goOn.resolve();
  await over.promise;
  expect(facts).toEqual([{ type: "note", text: "before" }]);
});

test("the outcome says how much of it the caller reads, if the agent or the settings limit that", async () => {
  const limits = async (agent: NonNullable<WorldParts["agent"]>, output?: Readonly<{ summaryChars: number }>) => {
    const settings = { cwd: tempFolder(), env: {}, ...(output && { output }) };
    const world = worldOf({ models: { m: scripted("done") }, agent, settings });
    const outcome = await createPerformer(world)(callOf(), contextOf().context);
    return [outcome.summaryChars, outcome.summaryCut];
  };
  expect(await limits({})).toEqual([undefined, undefined]);
  expect(await limits({}, { summaryChars: 300 })).toEqual([300, undefined]);
  expect(await limits({ summaryChars: 500, summaryCut: "smart" }, { summaryChars: 300 })).toEqual([500, "smart"]);
});

test("an acceptance schema that is not valid fails the task with that reason", async () => {
  const perform = createPerformer(worldOf({ models: { m: scripted("done") } }));
  expect(await perform(callOf({ acceptSchema: { type: "nonsense" } }), contextOf().context)).toMatchObject({
    status: "failed",
    fault: {
      code: "NOT_ACCEPTED",
      message: expect.stringMatching(/^The acceptance schema is not a valid JSON Schema: /),
    },
  });
});

test("a task continues the conversation of its plan, and is over if its agent can change nothing", async () => {
  const change = defineTool({
    name: "change",
    description: "changes",
    input: z.object({}),
    effect: "write",
    run: () => "changed",
  });
  const resumes = { path: "worker", prompt: "Do it.", output: "The plan." };
  const continued = async (tools: readonly Tool[], first: boolean) => {
    const model = scripted(...(first ? ["The plan.", "Done."] : ["Done."]));
    const perform = createPerformer(worldOf({ models: { m: model }, tools, permissions: { mode: "bypass" } }));
    if (first) await perform(callOf({ planOnly: true }), contextOf().context);
    const outcome = await perform(callOf({ prompt: "Go on." }, { resumes }), contextOf().context);
    return { outcome, texts: model.requests.at(-1)?.messages.map((each) => ("text" in each ? each.text : "")) };
  };
  const known = await continued([change], true);
  expect(known.outcome).toMatchObject({ status: "ok", output: "Done." });
  expect(known.texts).toEqual([expect.stringContaining("Do it."), "The plan.", expect.stringContaining("Go on.")]);
  expect((await continued([change], false)).texts).toEqual([
    expect.stringContaining("Do it."),
    "The plan.",
    expect.stringContaining("Go on."),
  ]);
  const readOnly = await continued([], false);
  expect(readOnly.outcome).toMatchObject({ status: "ok", output: "The plan." });
  expect(readOnly.texts).toBeUndefined();
});

test("an earlier result is used for a task that begins, not for one that is resumed, and a new one is added", async () => {
  const earlier: Outcome = { status: "ok", output: "known" };
  const performed = async (found: Outcome | undefined, past: number, said: Script = "new") => {
    const added: string[] = [];
    const reuse = {
      find: async () => found,
      add: async (_key: string, { path }: { path: string }) => void added.push(path),
    };
    const events = Array.from(
      { length: past },
      (_, at) => ({ seq: at, type: "note", text: "" }) as unknown as KeptEvent,
    );
    const perform = createPerformer(worldOf({ models: { m: scripted(said) }, reuse }));
    const outcome = await perform(callOf(), contextOf({ past: () => Promise.resolve(events) }).context);
    return ["output" in outcome ? outcome.output : outcome.status, added];
  };
  expect(await performed(earlier, 0)).toEqual(["known", []]);
  expect(await performed(earlier, 1)).toEqual(["known", []]);
  expect(await performed(earlier, 2)).toEqual(["new", ["worker"]]);
  expect(await performed(undefined, 0)).toEqual(["new", ["worker"]]);
  const broken: Script = { error: { code: "MODEL_REFUSED", message: "no", retryable: false } };
  expect((await performed(undefined, 0, broken))[1]).toEqual([]);
});

test("an answer whose acceptance check is stopped with its task is cancelled, not refused", async () => {
  const controller = new AbortController();
  const world: World = {
    ...worldOf({ models: { m: scripted("the answer") } }),
    acceptance: () => async (outcome) => {
      controller.abort(stopped("no longer needed"));
      return { ...outcome, ...failed("NOT_ACCEPTED", "The check was stopped.") };
    },
  };
  expect(await createPerformer(world)(callOf(), contextOf({ signal: controller.signal }).context)).toMatchObject({
    status: "cancelled",
    reason: "no longer needed",
    output: "the answer",
  });
});

test.each([{ continues: "run_test/first" }, { fork: "run_test/first" }])(
  "a conversation is read when the events before it are stored: %o",
  async (task) => {
    const order: string[] = [];
    const durable = async (): Promise<void> => {
      await setImmediate();
      order.push("stored");
    };
    const talkOf = async (): Promise<undefined> => void order.push("read");
    const world: World = {
      ...worldOf({ models: { m: scripted("done") } }),
      earlier: { ...openPreviousRuns([], { store: createMemoryStore() }), talkOf },
    };
    await createPerformer(world)(callOf(task), contextOf({ durable }).context);
    expect(order).toEqual(["stored", "read"]);
  },
);
