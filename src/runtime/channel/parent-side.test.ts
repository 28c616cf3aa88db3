import { MessageChannel } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import type { Outcome } from "../../core/outcome/outcome.ts";
import { createBudget } from "../../core/run/budget.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { Job } from "../../core/task/job.ts";
import { serveParent, type RunJob } from "./child-side.ts";
import { type ChildCall, serveChild } from "./parent-side.ts";
import type { FromTask, ToTask } from "./protocol.ts";
import { portChannel } from "../../runners/process/thread-channel.ts";

const nothing = { what: { mode: "single", task: "x" }, parent: { spawns: "*", ceiling: [], model: "m" } } as const;
const done = (output: string): Outcome => ({ status: "ok", output });
const never = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

const job: Job = {
  workspace: { id: "/w" },
  needs: { runner: "process", models: ["m"], tools: [] },
  call: { run: "run", path: "lead", attempt: 1, task: { prompt: "x" }, attachments: [], context: "", depth: 0 },
  agent: { name: "lead", description: "", instructions: "" },
  attended: true,
  prices: false,
};

/** Connects a task to a run through a channel in this thread, and records everything that the run received. */
function meet(
  work: RunJob,
  more: Partial<PerformContext> = {},
): { hosted: ChildCall; heard: string[]; guest: Promise<void> } {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const heard: string[] = [];
  const context: PerformContext = {
    signal: new AbortController().signal,
    emit: (fact) => void heard.push(fact.type),
    live: (delta) => void heard.push(delta.type),
    tell: (text) => void heard.push(text),
    durable: async () => void heard.push("durable"),
    delegate: async () => done("helped"),
    budget: createBudget({}),
    attended: true,
    ask: async () => ({ approve: true }),
    mail: async () => ["a letter"],
    past: async () => [{ seq: 1, run: "run", path: "lead", at: 0, type: "note", text: "before" }],
    ...more,
  };
  const guest = serveParent(portChannel<ToTask, FromTask>(port2), work, new AbortController().signal);
  return { hosted: serveChild(portChannel<FromTask, ToTask>(port1), job, context), heard, guest };
}

test("every request of a task reaches its run through the channel, in order", async () => {
  const { hosted, heard } = meet(async ({ call }, context) => {
    context.emit({ type: "note", text: "hello" });
    context.live({ type: "text.delta", text: "h" });
    context.tell("half way");
    await context.durable();
    const outcome = await context.delegate(nothing.what, nothing.parent);
    const answer = await context.ask("Really?", { call: "1", signal: context.signal });
    return done(
      JSON.stringify([
        call.path,
        outcome,
        answer,
        await context.mail(),
        (await context.past()).length,
        context.attended,
      ]),
    );
  });
  expect(await hosted.outcome).toEqual(
    done(JSON.stringify(["lead", done("helped"), { approve: true }, ["a letter"], 1, true])),
  );
  expect(heard).toEqual(["note", "text.delta", "half way", "durable"]);
});

test("budget is reserved, settled and revoked in the process of the run", async () => {
  const budget = createBudget({ maxTokens: 1_000, maxTurns: 1 });
  const { hosted } = meet(
    async (_, { budget: far, signal }) => {
      const said: unknown[] = [await far.count("maxTurns"), await far.count("maxTurns"), await far.room()];
      const first = await far.reserve({ tokens: 400 }, () => {}, signal);
      let revoked = (): void => {};
      const told = new Promise<void>((resolve) => (revoked = resolve));
      await far.reserve({ tokens: 400 }, revoked, signal);
      if ("settle" in first) first.settle({ tokens: 900 });
      await told;
      const refused = await far.reserve({ tokens: 400 }, () => {}, signal);
      return done(JSON.stringify([...said, "refused" in refused]));
    },
    { budget },
  );
  const refused = { refused: "the run is limited to 1 turns in all", limit: { kind: "turns", value: 1, run: true } };
  expect(await hosted.outcome).toEqual(done(JSON.stringify([null, refused, 1_000, true])));
  expect(budget.spent().tokens).toBe(900);
});

test("reserved budget is released when a task ends without a message", async () => {
  const budget = createBudget({ maxTokens: 1_000 });
  const { hosted } = meet(
    async (_, context) => {
      await context.budget.reserve({ tokens: 900 }, () => {}, context.signal);
      context.tell("reserved");
      await never(context.signal);
      return done("late");
    },
    { budget, tell: () => hosted.leave() },
  );
  const freed = await budget.reserve({ tokens: 900 }, () => {}, new AbortController().signal);
  expect("settle" in freed).toBe(true);
});

test("an aborted request is stopped in the run, and an error of the run fails the request of the task", async () => {
  const { hosted } = meet(
    async (_, context) => {
      const stop = new AbortController();
      const helped = context.delegate(nothing.what, nothing.parent, stop.signal);
      stop.abort();
      const failure = await context.durable().then(
        () => "kept",
        (error: Error) => error.message,
      );
      return done(`${(await helped).status}, ${failure}`);
    },
    {
      delegate: async (_what, _parent, stop) => {
        await never(stop!);
        return { status: "cancelled", reason: "dropped" };
      },
      durable: () => Promise.reject(new Error("the disk is full")),
    },
  );
  expect(await hosted.outcome).toEqual(done("cancelled, the disk is full"));
});

test("a task can be cancelled, messaged and pinged", async () => {
  let ring = (): void => {};
  const { hosted } = meet(
    async (_, context) => {
      await new Promise<void>((resolve) => void context.onUrgent?.(resolve));
      context.tell("rung");
      await never(context.signal);
      return { status: "cancelled", reason: (context.signal.reason as { stop: string }).stop };
    },
    {
      onUrgent: (rung) => {
        ring = rung;
        return () => {};
      },
      tell: () => hosted.cancel("enough"),
    },
  );
  await hosted.ping();
  ring();
  expect(await hosted.outcome).toEqual({ status: "cancelled", reason: "enough" });
});

test("a task that crashes reports the crash, and a task whose run has ended stops", async () => {
  const broken = meet(() => Promise.reject(new Error("oops")));
  expect(await broken.hosted.outcome).toMatchObject({
    status: "failed",
    fault: { code: "CRASHED", message: expect.stringMatching(/oops/) },
  });

  const { port1, port2 } = new MessageChannel();
  let stopped = false;
  const guest = serveParent(
    portChannel<ToTask, FromTask>(port2),
    async (_, { signal, durable }) => {
      const lost = await durable().catch(() => "nobody is there");
      await never(signal);
      stopped = lost === "nobody is there";
      return done("for nobody");
    },
    new AbortController().signal,
  );
  const host = portChannel<FromTask, ToTask>(port1);
  host.listen(
    () => port1.close(), // closes the channel as soon as the task sends a request
    () => {},
  );
  host.send({ type: "job", job });
  await guest;
  expect(stopped).toBe(true);
});
