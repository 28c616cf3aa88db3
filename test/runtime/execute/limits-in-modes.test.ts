import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createCrew, defineTool, type Event, type Model, type RunInput } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/scripted.ts";

type Limits = Readonly<{ maxDurationMs?: number; maxConcurrentToolCalls?: number; enforceLimits?: boolean }>;

/** Each of the five modes, with limits for its only task. */
const modes: readonly [mode: string, input: (resourceLimits: Limits) => RunInput][] = [
  ["single", (resourceLimits) => ({ mode: "single", agent: "worker", task: "Go.", resourceLimits })],
  ["parallel", (resourceLimits) => ({ mode: "parallel", tasks: [{ agent: "worker", task: "Go.", resourceLimits }] })],
  ["chain", (resourceLimits) => ({ mode: "chain", chain: [{ agent: "worker", task: "Go.", resourceLimits }] })],
  ["race", (resourceLimits) => ({ mode: "race", race: { agents: ["worker"], task: "Go.", resourceLimits } })],
  [
    "team",
    (resourceLimits) => ({
      mode: "team",
      team: { tasks: [{ id: "it", task: "Go.", agent: "worker", resourceLimits }] },
    }),
  ],
];

async function play(input: RunInput, model: Model, look: () => Promise<string> | string = () => "seen") {
  const tool = defineTool({
    name: "look",
    description: "looks",
    input: z.object({ at: z.number() }),
    effect: "read",
    run: look,
  });
  const crew = createCrew({
    home: false,
    discover: false,
    agents: [{ name: "worker", description: "works", instructions: "Work.", tools: ["look"] }],
    tools: [tool],
    models: { m: model },
  });
  const run = crew.run(input);
  const events: Event[] = [];
  for await (const event of run) events.push(event);
  return { result: await run, events };
}

/** Hangs in its first turn until it is stopped, and answers in the next one. */
const hangs: Model = async function* ({ messages }, signal) {
  if (messages.length === 1)
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  yield { type: "text", text: "late" };
  yield { type: "end", usage: { input: 1, output: 1 }, cost: 0 };
};

describe.each(modes)("resource limits in the mode %s", (_, input) => {
  test("a task is stopped when its time is up, and gets one turn to hand in what it has", async () => {
    const { result, events } = await play(input({ maxDurationMs: 30 }), hangs);
    expect(result.output).toContain("late");
    expect(events.filter(({ type }) => type === "limit.reached")).toMatchObject([{ limit: "TIMEOUT", enforced: true }]);
  });

  test("a task runs no more tool calls at once than allowed", async () => {
    let active = 0;
    let most = 0;
    const calls = Array.from({ length: 5 }, (__, at) => ({ name: "look", input: { at } }));
    const { result } = await play(input({ maxConcurrentToolCalls: 2 }), scripted({ calls }, "done"), async () => {
      active += 1;
      most = Math.max(most, active);
      await new Promise(setImmediate);
      active -= 1;
      return "seen";
    });
    expect([result.status, most]).toEqual(["ok", 2]);
  });
});
