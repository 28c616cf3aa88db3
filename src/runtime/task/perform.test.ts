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

test("the duration of a task is zero while the clock stands still", async () => {
  const world = worldOf({ models: { m: scripted("done") }, clock: () => 10 });
  expect((await createPerformer(world)(callOf(), contextOf().context)).ms).toBe(0);
});

test("the duration of a task is correct when the clock is set back meanwhile", async () => {
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

test("an output file that cannot be written gives a warning, and the task still succeeds", async () => {
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
  const broken: Script = { error: { code: "MODEL_REFUSED", message: "no", retryable: false } };
  const fails = createPerformer(worldOf({ models: { m: scripted(broken) } }));
  expect(await fails(callOf({ acceptSchema }), contextOf().context)).toMatchObject({
    fault: { code: "MODEL_REFUSED" },
  });
  const text = createPerformer(worldOf({ models: { m: scripted("no JSON") } }));
  expect(await text(callOf({ acceptSchema: { type: "string" } }), contextOf().context)).toMatchObject({ status: "ok" });
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
      const end = async (): Promise<void> => {
        await setImmediate();
        closed += 1;
      };
      return opened && { ...opened, end };
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

test("the run waits for the commands of a task that was stopped, but not for those of a task that has ended", async () => {
  const lingered = async (stopsMeanwhile: boolean): Promise<number> => {
    const controller = new AbortController();
    const stop = (): void => controller.abort(stopped("enough"));
    const waits: Promise<unknown>[] = [];
    const world = worldOf({
      permissions: {},
      linger: (work) => void waits.push(work),
      runner: async () => {
        if (stopsMeanwhile) stop();
        return { status: "ok", output: "done" };
      },
    });
    await createPerformer(world)(callOf(), contextOf({ signal: controller.signal }).context);
    stop();
    await Promise.all(waits);
    return waits.length;
  };
  expect(await lingered(true)).toBe(1);
  expect(await lingered(false)).toBe(0);
});

test("an isolated task works in its worktree, with its policy, and reports its work from before a resume", async () => {
  const isolated = async (past: readonly string[], agent: NonNullable<WorldParts["agent"]>) => {
    const seen: unknown[] = [];
    const isolate: NonNullable<WorldParts["isolate"]> = {
      run: async (call, isolation, { isBegun, hasWorked, emit }, work) => {
        const { outcome, policy } = await work({ ...call, path: "elsewhere" });
        emit({ type: "note", text: "applied" });
        seen.push(isolation, { isBegun, hasWorked }, policy !== undefined);
        return { ...outcome, status: "ok", output: "applied" };
      },
      sweep: async () => {},
    };
    const runner: WorldParts["runner"] = async ({ call }) => ({ status: "ok", output: call.path });
    const events = past.map((type, seq) => ({ seq, type }) as unknown as KeptEvent);
    const { context, facts } = contextOf({ past: () => Promise.resolve(events) });
    const outcome = await createPerformer(worldOf({ isolate, runner, agent, permissions: {} }))(callOf(), context);
    return { seen, facts, output: "output" in outcome ? outcome.output : undefined };
  };
  const own = { isolation: "worktree" } as const;
  const isolation = { dirty: false, keep: false };
  const first = await isolated(["node.started"], own);
  expect(first.output).toBe("applied");
  expect(first.facts).toContainEqual({ type: "note", text: "applied" });
  expect(first.seen).toEqual([isolation, { isBegun: false, hasWorked: false }, true]);
  expect((await isolated(["node.started", "turn.started"], own)).seen[1]).toEqual({ isBegun: true, hasWorked: false });
  expect((await isolated(["node.started", "tool.started"], own)).seen[1]).toEqual({ isBegun: true, hasWorked: true });
  expect(await isolated([], {})).toMatchObject({ seen: [], output: "worker" });
});

test("the outcome states how much of it the caller reads, if the agent or the settings limit that", async () => {
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

test("a task continues the conversation of its approved plan; if its agent can change nothing, the plan is its result", async () => {
  const change = defineTool({
    name: "change",
    description: "changes",
    input: z.object({}),
    effect: "write",
    run: () => "changed",
  });
  const resumes = { path: "worker", prompt: "Do it.", output: "The plan." };
  const thinks = { text: "First I look.", calls: [{ name: "nothing", input: {} }] };
  const continued = async (tools: readonly Tool[], first: boolean, agent: NonNullable<WorldParts["agent"]> = {}) => {
    const model = scripted(...(first ? [thinks, "The plan.", "Done."] : ["Done."]));
    const perform = createPerformer(worldOf({ models: { m: model }, tools, agent, permissions: { mode: "bypass" } }));
    if (first) await perform(callOf({ planOnly: true }), contextOf().context);
    const outcome = await perform(callOf({ prompt: "Go on." }, { resumes }), contextOf().context);
    return { outcome, texts: model.requests.at(-1)?.messages.map((each) => ("text" in each ? each.text : "")) };
  };
  const known = await continued([change], true);
  expect(known.outcome).toMatchObject({ status: "ok", output: "Done." });
  expect(known.texts).toEqual([
    expect.stringContaining("Do it."),
    "First I look.",
    "",
    "The plan.",
    expect.stringContaining("Go on."),
  ]);
  expect((await continued([change], false)).texts).toEqual([
    expect.stringContaining("Do it."),
    "The plan.",
    expect.stringContaining("Go on."),
  ]);
  const look = { ...change, name: "look", effect: "read" as const };
  for (const readOnly of [await continued([], false), await continued([look, change], false, { tools: ["look"] })]) {
    expect(readOnly.outcome).toMatchObject({ status: "ok", output: "The plan." });
    expect(readOnly.texts).toBeUndefined();
  }
});

const earlier = openPreviousRuns([], { store: createMemoryStore() });

test("the agent of a task is recorded, with the key of a result that can be reused", async () => {
  const resolved = async (more: WorldParts) => {
    const { context, facts } = contextOf();
    const world = worldOf({ models: { m: scripted("done") }, earlier: { ...earlier, told: new Set() }, ...more });
    await createPerformer(world)(callOf(), context);
    return facts.filter(({ type }) => type === "agent.resolved");
  };
  const reuse = { find: async () => undefined, add: async () => {} };
  expect(await resolved({ reuse })).toMatchObject([{ agent: "worker", model: "m", reuse: expect.any(String) }]);
  expect((await resolved({}))[0]).not.toHaveProperty("reuse");
});

test("a task continues the conversation that the journal holds, and is refused when there is none", async () => {
  const model = scripted("Done.");
  const messages = ["Do it.", "First I look.", "The plan."].map((text) => ({ role: "user" as const, text }));
  const order: string[] = [];
  const durable = async (): Promise<void> => {
    await setImmediate();
    order.push("stored");
  };
  const talkOf = async () => {
    order.push("read");
    return { messages } as never;
  };
  const change = defineTool({ name: "change", description: "", input: z.object({}), effect: "write", run: () => "" });
  const resumes = { path: "worker", prompt: "Do it.", output: "The plan." };
  await createPerformer(worldOf({ models: { m: model }, tools: [change], earlier: { ...earlier, talkOf } }))(
    callOf({ prompt: "Go on." }, { resumes }),
    contextOf({ durable }).context,
  );
  expect(model.requests[0]?.messages.slice(0, 3)).toEqual(messages);
  await createPerformer(worldOf({ models: { m: scripted("Done.") } }))(callOf(), contextOf({ durable }).context);
  expect(order).toEqual(["stored", "read"]);
  const refused = async (task: Parameters<typeof callOf>[0]) => {
    const outcome = await createPerformer(worldOf({ earlier }))(callOf(task), contextOf().context);
    return "fault" in outcome ? [outcome.fault.code, outcome.fault.message] : outcome;
  };
  expect(await refused({ continues: "run_0/worker" })).toEqual([
    "BAD_INPUTS",
    '"run_0/worker" no longer exists, so it cannot be continued.',
  ]);
  expect(await refused({ fork: true })).toEqual([
    "BAD_INPUTS",
    '"worker" has no conversation to start from: no agent started it.',
  ]);
});

test("an earlier result is used for a task that begins, not for a resumed task, and a new result is stored", async () => {
  const earlier: Outcome = { status: "ok", output: "known" };
  const performed = async (found: Outcome | undefined, past: number, said: Script = "new") => {
    const added: string[] = [];
    const keys = new Set<unknown>();
    const reuse = {
      find: async (key: string) => {
        keys.add(key);
        return found;
      },
      add: async (key: string, { path }: { path: string }) => {
        await setImmediate();
        keys.add(key);
        added.push(path);
      },
    };
    const events = Array.from(
      { length: past },
      (_, at) => ({ seq: at, type: "note", text: "" }) as unknown as KeptEvent,
    );
    const perform = createPerformer(worldOf({ models: { m: scripted(said) }, reuse }));
    const outcome = await perform(callOf(), contextOf({ past: () => Promise.resolve(events) }).context);
    expect([...keys]).toEqual([expect.any(String)]);
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
  "a conversation is read only after the events before it are stored: %o",
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
