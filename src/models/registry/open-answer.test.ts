import { expect, test } from "vitest";
import type { ModelEvent } from "../../core/model/model.ts";
import { type AnswerOpening, type BegunAnswer, beginAnswer, openAnswer, readAnswer } from "./open-answer.ts";

const notice: ModelEvent = { type: "notice", code: "MODEL_RETRY", text: "Trying again." };

/** A model's answer that records when its reader closes it. */
function answerOf(...events: (string | ModelEvent)[]): { answer: AsyncIterable<ModelEvent>; closed: () => boolean } {
  let closed = false;
  async function* pieces(): AsyncGenerator<ModelEvent> {
    try {
      for (const event of events) yield typeof event === "string" ? { type: "text", text: event } : event;
    } finally {
      closed = true;
    }
  }
  return { answer: pieces(), closed: () => closed };
}

/** A layer that adds an event before it passes on an answer, and begins the answer late when `late` is true. */
function layerOf(answer: AsyncIterable<ModelEvent>, late = false): AsyncIterable<ModelEvent> {
  async function* handled(begun?: BegunAnswer): AnswerOpening {
    const reading = readAnswer(begun ?? (await beginAnswer(answer)));
    yield { type: "text", text: "handled" };
    for await (const event of reading.events) {
      if (event.type === "notice") continue;
      yield event;
      return reading.rest();
    }
    return undefined;
  }
  return openAnswer(async () => (late ? undefined : beginAnswer(answer)), handled);
}

async function textsOf(answer: AsyncIterable<ModelEvent>, most = Number.POSITIVE_INFINITY): Promise<string[]> {
  const texts: string[] = [];
  for await (const event of answer) {
    if (event.type === "text") texts.push(event.text);
    if (texts.length >= most) break;
  }
  return texts;
}

test("an answer that begins with content is passed on in order, without the wrapper around its model", async () => {
  const { answer, closed } = answerOf("a", "b", "c");
  expect(await textsOf(layerOf(answer))).toEqual(["a", "b", "c"]);
  expect(closed()).toBe(true);
});

test("an answer that begins with a notice passes through the wrapper around its model, in order", async () => {
  const { answer, closed } = answerOf(notice, "a", "b", "c");
  expect(await textsOf(layerOf(answer))).toEqual(["handled", "a", "b", "c"]);
  expect(closed()).toBe(true);
});

test("a wrapper that opens the answer of its model late still receives the first event", async () => {
  expect(await textsOf(layerOf(answerOf("a", "b").answer, true))).toEqual(["handled", "a", "b"]);
});

test("an empty answer of a model ends without an error", async () => {
  expect(await textsOf(layerOf(answerOf().answer))).toEqual(["handled"]);
});

test.each([1, 2])("when a reader stops after %i events, the answer of the model is closed", async (most) => {
  for (const begins of [[], [notice]]) {
    const { answer, closed } = answerOf(...begins, "a", "b", "c");
    expect(await textsOf(layerOf(answer), most)).toHaveLength(most);
    expect(closed()).toBe(true);
  }
});
