import { expect, onTestFinished, test, vi } from "vitest";
import type { Model, ModelEvent, ModelRequest } from "../../core/model/model.ts";
import type { Fault } from "../../core/outcome/outcome.ts";
import { retrying } from "./retrying.ts";

const request: ModelRequest = { model: "m", system: "", messages: [], tools: [], toolChoice: "auto" };
const end: ModelEvent = { type: "end", usage: { input: 1, output: 1 } };
const busy: Fault = { code: "MODEL_OVERLOADED", message: "Too busy.", retryable: true };

/** A model that fails this many times before it answers, and counts its requests. */
function failing(times: number, fault: Fault = busy): { model: Model; asked(): number } {
  let asked = 0;
  const model: Model = async function* () {
    asked += 1;
    if (asked <= times) yield { type: "error", fault };
    else yield* [{ type: "text", text: "there" } as const, end];
  };
  return { model, asked: () => asked };
}

/** All events of one turn; fake timers skip every wait. */
async function turnOf(model: Model): Promise<ModelEvent[]> {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const events: ModelEvent[] = [];
  const turn = (async () => {
    for await (const event of model(request, new AbortController().signal)) events.push(event);
  })();
  await vi.runAllTimersAsync();
  await turn;
  return events;
}

const noticesIn = (events: readonly ModelEvent[]): string[] =>
  events.flatMap((event) => (event.type === "notice" ? [event.text] : []));

test("each wait before a retry of a model turn is twice as long as the wait before it, and is announced", async () => {
  const { model } = failing(3);
  const events = await turnOf(retrying(model, { random: () => 0 }));
  expect(noticesIn(events)).toEqual([
    "Too busy. Trying again in 500ms (1 of 3).",
    "Too busy. Trying again in 1.0s (2 of 3).",
    "Too busy. Trying again in 2.0s (3 of 3).",
  ]);
  expect(events.at(-1)).toEqual(end);
});

test("after the third retry of a model turn the last fault is returned", async () => {
  const { model, asked } = failing(4);
  const events = await turnOf(retrying(model, { random: () => 0 }));
  expect(events.at(-1)).toEqual({ type: "error", fault: busy });
  expect(asked()).toBe(4);
});

test("a random delay adds at most a quarter to the wait before a retry of a model turn", async () => {
  const { model } = failing(1);
  expect(noticesIn(await turnOf(retrying(model, { random: () => 1 })))[0]).toContain("in 625ms");
});
