import { expect, expectTypeOf, test } from "vitest";
import { createCrew, defineAgent, type Event, type Model } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";

const crewWith = (model: Model) => createCrew({ home: false, discover: false, models: { m: model }, model: "m" });
const finish = (result: string) => ({ calls: [{ name: "complete_task", input: { result } }] });

/** A model that answers with these pieces, one text event each. */
const saying = (...pieces: readonly string[]): Model =>
  async function* () {
    for (const text of pieces) yield { type: "text", text };
    yield { type: "end", usage: { input: 1, output: 1 } };
  };

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = [];
  for await (const each of stream) seen.push(each);
  return seen;
}

test("textStream returns the answer piece by piece, each up to the last complete word", async () => {
  const pieces = await all(crewWith(saying("Forty-two ", "is ", "the answer.")).run({ task: "x" }).textStream);
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.join("")).toBe("Forty-two is the answer.");
});

test("textStream returns an answer of the finish tool after the text before it", async () => {
  const model = scripted({ text: "Let me think.", ...finish("42") });
  const agent = defineAgent({ name: "a", description: "a", instructions: "a", completion: "tool" });
  const crew = createCrew({ home: false, discover: false, models: { m: model }, agents: [agent] });
  expect((await all(crew.run({ agent: "a", task: "x" }).textStream)).join("")).toBe("Let me think.\n\n42");
});

test("textStream returns the whole answer to a reader that starts late", async () => {
  const run = crewWith(saying("For", "ty-", "two")).run({ task: "x" });
  await run;
  expect((await all(run.textStream)).join("")).toBe("Forty-two");
});

test("textStream of several tasks returns their output at the end", async () => {
  const run = crewWith(scripted("one", "two")).run({ tasks: [{ task: "a" }, { task: "b" }] });
  expect(await all(run.textStream)).toEqual([(await run).output]);
});

test("events returns the events of the given types, typed", async () => {
  const run = crewWith(scripted(finish("42"))).run({ task: "x" });
  const seen = await all(run.events("run.started", "turn.ended", "run.ended"));
  expectTypeOf(seen).toEqualTypeOf<Extract<Event, { type: "run.started" | "turn.ended" | "run.ended" }>[]>();
  expect(seen.map(({ type }) => type)).toEqual(["run.started", "turn.ended", "run.ended"]);
});

test("first waits for an event, and returns undefined when the run ends without it", async () => {
  const run = crewWith(scripted("42")).run({ task: "x" });
  const [ended, question] = await Promise.all([
    run.first("node.ended", ({ path }) => path === "task"),
    run.first("gate.opened"),
  ]);
  expect(ended?.outcome).toMatchObject({ status: "ok", output: "42" });
  expect(question).toBeUndefined();
});

/** A model that never answers; its turn ends when it is aborted. */
const stuck: Model = async function* (_, signal) {
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  yield { type: "error", fault: { code: "MODEL_NETWORK", message: "aborted", retryable: false } };
};

test("an aborted signal cancels the run", async () => {
  const controller = new AbortController();
  const run = crewWith(stuck).run({ task: "x" }, { signal: controller.signal });
  await run.first("turn.started");
  controller.abort(new Error("the user went away"));
  expect(await run).toMatchObject({ status: "cancelled" });
  expect(run.state.outcome).toMatchObject({ reason: "the user went away" });
});

test("a run with an already aborted signal does nothing", async () => {
  const model = scripted("never");
  expect(await crewWith(model).run({ task: "x" }, { signal: AbortSignal.abort() })).toMatchObject({
    status: "cancelled",
  });
  expect(model.requests).toEqual([]);
});
