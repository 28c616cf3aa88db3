import { expect, test } from "vitest";
import type { Model, ModelEvent, ModelRequest } from "../../core/model/model.ts";
import { never, scripted } from "./scripted.ts";

const request: ModelRequest = {
  model: "m",
  system: "be",
  messages: [{ role: "user", text: "hi" }],
  tools: [],
  toolChoice: "auto",
};

async function turn(model: Model, signal = new AbortController().signal): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model(request, signal)) events.push(event);
  return events;
}

test("scripted model: a text in a script is one turn", async () => {
  expect(await turn(scripted("42"))).toEqual([
    { type: "text", text: "42" },
    { type: "end", usage: { input: 1, output: 1 } },
  ]);
});

test("scripted model: a turn can think, speak and call tools; the calls get ids", async () => {
  const model = scripted({
    thinking: "hm",
    text: "look",
    calls: [
      { name: "glob", input: { pattern: "*" } },
      { name: "x", input: 1, id: "mine" },
    ],
  });
  expect((await turn(model)).slice(0, -1)).toEqual([
    { type: "thinking", text: "hm" },
    { type: "text", text: "look" },
    { type: "call", call: { id: "call_1_1", name: "glob", input: { pattern: "*" } } },
    { type: "call", call: { id: "mine", name: "x", input: 1 } },
  ]);
});

test("scripted model: turns follow each other, and a request after the last turn is an error", async () => {
  const model = scripted("one", (asked) => `two: ${asked.system}`);
  expect(await turn(model)).toContainEqual({ type: "text", text: "one" });
  expect(await turn(model)).toContainEqual({ type: "text", text: "two: be" });
  const fault = {
    code: "MODEL_BAD_ANSWER",
    message: "script is over: it has 2 turns, and one more was requested",
    retryable: false,
  };
  expect(await turn(model)).toEqual([{ type: "error", fault }]);
});

test("scripted model: usage, cost and errors of a turn are those in the script", async () => {
  const usage = { input: 1, output: 2, cacheRead: 3 };
  expect((await turn(scripted({ text: "x", usage, cost: 0.5 }))).at(-1)).toEqual({ type: "end", usage, cost: 0.5 });
  const error = { code: "MODEL_OVERLOADED", message: "busy", retryable: true } as const;
  expect(await turn(scripted({ text: "so far", error }))).toEqual([
    { type: "text", text: "so far" },
    { type: "error", fault: error },
  ]);
});

test("scripted model: each request is recorded as it was sent", async () => {
  const model = scripted("a", "b");
  const messages = [...request.messages];
  for await (const _ of model({ ...request, messages }, new AbortController().signal));
  messages.push({ role: "user", text: "later" });
  expect(model.requests).toEqual([request]);
});

test("scripted model: a turn that throws ends as an error of the stream", async () => {
  const events = await turn(
    scripted(() => {
      throw new Error("expected two messages");
    }),
  );
  expect(events).toMatchObject([
    { type: "error", fault: { message: "turn 1 of the script failed: expected two messages" } },
  ]);
});

test("scripted model: an abort ends a wait in a script", async () => {
  const stop = new AbortController();
  const waiting = Promise.all([turn(never, stop.signal), turn(scripted({ delayMs: 60_000 }), stop.signal)]);
  stop.abort();
  for (const events of await waiting)
    expect(events).toMatchObject([{ type: "error", fault: { message: "the turn was aborted" } }]);
  expect(await turn(never, stop.signal)).toHaveLength(1);
});
