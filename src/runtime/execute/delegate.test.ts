import { expect, test } from "vitest";
import { collect } from "../../../test/support/collect.ts";
import { type RunUnderTest, startRun } from "../../../test/support/start-run.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { Event } from "../../core/run/event.ts";
import type { Call, DelegationOutcome, Parent, PerformContext } from "../../core/task/engine.ts";
import { createPolicy } from "../../core/policy/policy.ts";
import { reasonOf } from "../async/cancel.ts";
import { onAbort } from "../async/on-abort.ts";

const lead: Plan = { nodes: { lead: { kind: "task", task: { prompt: "lead" } } }, output: "lead" };
const parent: Parent = { spawns: "*", ceiling: ["look"], model: "m" };
const single = (agent: string) => ({ mode: "single", agent, task: `help as ${agent}` });

type Delegated = Readonly<{ events: readonly Event[]; calls: readonly Call[]; asked: readonly DelegationOutcome[] }>;

/** Runs a lead that delegates as `leads` says; each helper answers with its path, or does what `helps` says. */
async function delegating(
  leads: (context: PerformContext) => Promise<readonly DelegationOutcome[]>,
  more: RunUnderTest = {},
  helps?: (call: Call, context: PerformContext) => Promise<void>,
): Promise<Delegated> {
  const calls: Call[] = [];
  let asked: readonly DelegationOutcome[] = [];
  const run = startRun({
    plan: lead,
    ...more,
    engine: {
      perform: async (call, context) => {
        calls.push(call);
        if (call.path === "lead") asked = await leads(context);
        else await helps?.(call, context);
        return context.signal.aborted
          ? { status: "cancelled", reason: reasonOf(context.signal) }
          : { status: "ok", output: `from ${call.path}` };
      },
    },
  });
  const events = await collect(run);
  return { events, calls, asked };
}
const paths = ({ calls }: Delegated): readonly string[] => calls.map(({ path }) => path);

test("helpers run below the path of their parent task, and each further plan has a number", async () => {
  const seen = await delegating(async ({ delegate }) => [
    await delegate(single("scout"), parent),
    await delegate(single("scout"), parent),
  ]);
  expect(paths(seen)).toEqual(["lead", "lead/scout", "lead.2/scout"]);
  expect(seen.asked).toEqual([
    {
      status: "ok",
      output: "from lead/scout",
      under: "lead/",
      nodes: { scout: { status: "ok", output: "from lead/scout" } },
    },
    {
      status: "ok",
      output: "from lead.2/scout",
      under: "lead.2/",
      nodes: { scout: { status: "ok", output: "from lead.2/scout" } },
    },
  ]);
});

test("a helper inherits tools, policy and model of its parent, one level deeper", async () => {
  const policy = createPolicy("plan");
  const { calls } = await delegating(async ({ delegate }) => [await delegate(single("scout"), { ...parent, policy })]);
  expect(calls[0]).not.toHaveProperty("ceiling");
  expect(calls[1]).toMatchObject({ depth: 1, ceiling: ["look"], parentModel: "m", policy });
});

test("the slot of a task is free while its helpers work, so one slot is enough at any depth", async () => {
  const seen = await delegating(
    async ({ delegate }) => [await delegate(single("scout"), parent)],
    { parameters: { concurrency: 1 } },
    async ({ depth }, { delegate }) => {
      if (depth === 1) await delegate(single("digger"), parent);
    },
  );
  expect(paths(seen)).toEqual(["lead", "lead/scout", "lead/scout/digger"]);
  expect(seen.events.at(-1)).toMatchObject({ type: "run.ended", outcome: { status: "ok" } });
});

test("a request beyond the depth limit or the budget, for a forbidden agent, or with an invalid plan starts nothing", async () => {
  const faults = async (
    what: Parameters<PerformContext["delegate"]>[0],
    { parameters, by = parent }: { parameters: NonNullable<RunUnderTest["parameters"]>; by?: Parent },
  ): Promise<unknown> => {
    const seen = await delegating(async ({ delegate }) => [await delegate(what, by)], { parameters });
    expect(paths(seen)).toEqual(["lead"]);
    const [outcome] = seen.asked;
    return outcome?.status === "failed" ? [outcome.fault.code, outcome.fault.message] : outcome;
  };
  expect(await faults(single("scout"), { parameters: { maxDepth: 0 } })).toEqual([
    "DENIED",
    '"lead" is at depth 0 and may not start other agents.',
  ]);
  const two = { mode: "parallel", tasks: [single("scout"), single("thief")].map(({ mode: _, ...task }) => task) };
  expect(await faults(two, { parameters: {}, by: { ...parent, spawns: ["scout"] } })).toEqual([
    "DENIED",
    '"lead" may not start the agent "thief".',
  ]);
  expect(await faults(two, { parameters: { budget: { maxSpawns: 1 } } })).toEqual([
    "BUDGET",
    '"lead" may not start more agents: the run is limited to 1 agents started by agents.',
  ]);
  expect(await faults({ mode: "nonsense" }, { parameters: {} })).toMatchObject(["AGENT_REPORTED", expect.anything()]);
});

test("helpers that the task does not wait for are stopped before the task ends", async () => {
  let begun = (): void => {};
  const working = new Promise<void>((resolve) => (begun = resolve));
  const { events } = await delegating(
    async ({ delegate }) => {
      void delegate(single("scout"), parent);
      await working;
      return [];
    },
    {},
    (_, { signal }) =>
      new Promise((resolve) => {
        onAbort(signal, () => resolve());
        begun();
      }),
  );
  expect(events.filter(({ type }) => type === "node.ended")).toMatchObject([
    { path: "lead/scout", outcome: { status: "cancelled", reason: "the task that asked for it has ended" } },
    { path: "lead", outcome: { status: "ok" } },
  ]);
});

test("a background helper runs while the task works, and the task reads its result", async () => {
  let mail: readonly string[] = [];
  const { events } = await delegating(async ({ background, mail: read, signal }) => {
    const started = await background?.start(single("scout"), parent, "result");
    expect(started).toMatchObject({ key: "lead/", under: "lead/" });
    mail = await read(signal);
    return [];
  });
  expect(mail).toHaveLength(1);
  expect(mail[0]).toMatch(/\/lead\/scout: ok\n\nfrom lead\/scout/);
  const from = expect.stringMatching(/^\w+\/lead\/scout$/);
  expect(events).toContainEqual(expect.objectContaining({ type: "message.sent", path: "lead", from }));
});
