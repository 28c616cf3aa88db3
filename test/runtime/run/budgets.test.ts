import { expect, test } from "vitest";
import { budgetSpent } from "../../../src/core/run/budget-spent.ts";
import type { Event } from "../../../src/core/run/event.ts";
import { isKept } from "../../../src/core/run/kept-event.ts";
import type { RunOptions } from "../../../src/crew/prepare/run-options.ts";
import type { Model } from "../../../src/core/model/model.ts";
import { createCrew } from "../../../src/crew.ts";
import type { Crew } from "../../../src/crew/crew-type.ts";
import { type ScriptedModel, scripted } from "../../../src/models/scripted/scripted.ts";
import { provider } from "../../support/talk.ts";
import { tempFolder } from "../../support/temp-folder.ts";

function crewAt(home: string, model: ScriptedModel): Crew {
  return createCrew({
    cwd: home,
    home,
    discover: false,
    env: {},
    models: { m: model },
    agents: [{ name: "worker", description: "Works.", instructions: "Work.", tools: ["list_files"] }],
  });
}

const usage = { input: 400, output: 100 };
const says = (text: string) => ({ text, usage });
const chain = {
  mode: "chain",
  chain: ["a", "b", "c", "d", "e", "f"].map((task) => ({ agent: "worker", task })),
} as const;

/** Pauses a run when its n-th turn begins, and returns its events. */
async function pausedAt(crew: Crew, turn: number, options: RunOptions): Promise<{ id: string; events: Event[] }> {
  const run = crew.run(chain, options);
  const events: Event[] = [];
  let begun = 0;
  for await (const event of run) {
    events.push(event);
    if (event.type === "turn.started") begun += 1;
    if (event.type === "turn.started" && begun === turn) run.pause("enough");
  }
  return { id: run.id, events };
}

test("a budget of three turns lets a chain of six take three, and tasks that have not begun do not begin", async () => {
  const model = scripted(...["1", "2", "3", "4", "5", "6"].map(says));
  const result = await crewAt(tempFolder(), model).run(chain, { budget: { maxTurns: 3 } });
  expect(model.requests).toHaveLength(3);
  expect(result).toMatchObject({ status: "failed", fault: { code: "MAX_TURNS" }, limit: { kind: "turns", value: 3 } });
  expect(Object.values(result.nodes).map(({ status }) => status)).toEqual([
    ...["ok", "ok", "ok", "failed", "skipped", "skipped"],
  ]);
});

test("a resumed run keeps its limits and its usage, and reports a limit that was raised", async () => {
  const home = tempFolder();
  const hang = { text: "late", delayMs: 600_000 };
  const { id, events } = await pausedAt(crewAt(home, scripted(says("1"), says("2"), hang)), 3, {
    budget: { maxTurns: 3, maxTokens: 100_000 },
  });
  expect(events.filter(isKept)[0]).toMatchObject({ type: "run.started", limits: { maxTurns: 3, maxTokens: 100_000 } });
  expect(budgetSpent(events.filter(isKept))).toMatchObject({ maxTurns: 2, maxToolCalls: 0 });

  const second = scripted(says("3"), says("4"));
  expect(await crewAt(home, second).resume(id)).toMatchObject({ status: "failed", fault: { code: "MAX_TURNS" } });
  expect(second.requests).toHaveLength(1);

  const third = scripted(says("4"), says("5"), says("6"));
  const again = crewAt(home, third).resume(id, { retryFailed: true, budget: { maxTurns: 9 } });
  const told: string[] = [];
  for await (const event of again) if (event.type === "warning") told.push(event.text);
  expect(await again).toMatchObject({ status: "ok", output: "6" });
  expect(told).toEqual(["maxTurns: 3 -> 9 for this run."]);
});

test("--max-turns of a task is not a limit of the run", async () => {
  const model = scripted(...["1", "2", "3", "4", "5", "6"].map(says));
  const tasks = chain.chain.map((step) => ({ ...step, resourceLimits: { maxTurns: 2 } }));
  expect(await crewAt(tempFolder(), model).run({ mode: "chain", chain: tasks })).toMatchObject({ status: "ok" });
  expect(model.requests).toHaveLength(6);
});

test("a run is resumed on the model that it began on, or the error says why not", async () => {
  const home = tempFolder();
  const { id } = await pausedAt(crewAt(home, scripted({ text: "late", delayMs: 600_000 })), 1, {});
  const other = createCrew({
    cwd: home,
    home,
    discover: false,
    env: {},
    models: { another: scripted("from another") },
    agents: [{ name: "worker", description: "Works.", instructions: "Work." }],
  });
  await expect(other.resume(id).then((result) => result)).rejects.toMatchObject({ code: "UNKNOWN_MODEL" });
});

test("a task that has begun is resumed on its own model, whatever model its agent would get now", async () => {
  const home = tempFolder();
  const worker = { name: "worker", description: "Works.", instructions: "Work.", model: ["good", "better"] };
  const crewWith = (models: Readonly<Record<string, Model>>) =>
    createCrew({ cwd: home, home, discover: false, env: {}, models, agents: [worker] });
  const better = scripted({ text: "late", delayMs: 600_000 });
  const run = crewWith({ better }).run({ mode: "single", agent: "worker", task: "Go." });
  for await (const event of run) if (event.type === "turn.started") run.pause();
  const [good, again] = [scripted("from the other"), scripted("from its own")];
  expect(await crewWith({ good, better: again }).resume(run.id)).toMatchObject({
    status: "ok",
    output: "from its own",
  });
  expect(good.requests).toHaveLength(0);
});

test("a named model that its server does not have is an error, never the offline model", async () => {
  const server = await provider([{ fault: "no-such-model" }, { fault: "no-such-model" }]);
  const home = tempFolder();
  const crew = createCrew({ cwd: home, home, discover: false, env: server.env });
  const result = await crew.run({ mode: "single", task: "Go.", model: "ollama/nobody" });
  expect(result).toMatchObject({ status: "failed", fault: { code: "MODEL_UNKNOWN" } });
  expect(JSON.stringify(result.nodes)).not.toContain("offline");
  expect(server.requests.length).toBe(1);
});

test("prices in the settings enforce a dollar limit for a model without a known price", async () => {
  const home = tempFolder();
  const server = await provider(() => ({ text: "done", usage: { input: 1_000, output: 1_000 } }));
  const providers = { "openai-chat": { prices: { "*": { input: 1, output: 2 } } } };
  const run = (config: object, maxUsd: number) =>
    createCrew({ cwd: home, home, discover: false, env: server.env, config }).run(
      { mode: "single", task: "Go.", model: "openai-chat/nobody-knows" },
      { budget: { maxUsd } },
    );
  expect(await run({}, 5)).toMatchObject({
    status: "failed",
    fault: { code: "BUDGET", hint: expect.stringContaining("providers.NAME.prices") },
  });
  const priced = await run({ providers }, 5);
  expect(priced).toMatchObject({ status: "ok", cost: { usd: 0.003, unpriced: 0 } });
  expect((await run({ providers }, 0.000001)).fault).toMatchObject({ code: "BUDGET" });
});
