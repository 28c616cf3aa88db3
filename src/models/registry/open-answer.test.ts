import { expect, test } from "vitest";
import type { ModelEvent } from "../../core/model/model.ts";
import { type AnswerOpening, openAnswer, readAnswer } from "./open-answer.ts";

/** A model's answer that notes when its reader closes it. */
function answerOf(...texts: string[]): { answer: AsyncIterable<ModelEvent>; closed: () => boolean } {
  let closed = false;
  async function* pieces(): AsyncGenerator<ModelEvent> {
    try {
      for (const text of texts) yield { type: "text", text };
    } finally {
      closed = true;
    }
  }
  return { answer: pieces(), closed: () => closed };
}

/** Looks at the first event only. */
async function* firstOnly(answer: AsyncIterable<ModelEvent>): AnswerOpening {
  const reading = readAnswer(answer);
  for await (const event of reading.events) {
    yield event;
    return reading.rest();
  }
  return undefined;
}

async function textsOf(answer: AsyncIterable<ModelEvent>, most = Number.POSITIVE_INFINITY): Promise<string[]> {
  const texts: string[] = [];
  for await (const event of answer) {
    if (event.type === "text") texts.push(event.text);
    if (texts.length >= most) break;
  }
  return texts;
}

test("the first event passes the layer, and the others come from the model in order", async () => {
  const { answer, closed } = answerOf("a", "b", "c");
  expect(await textsOf(openAnswer(firstOnly(answer)))).toEqual(["a", "b", "c"]);
  expect(closed()).toBe(true);
});

test("an empty answer ends, and so does one that the layer does not pass on", async () => {
  expect(await textsOf(openAnswer(firstOnly(answerOf().answer)))).toEqual([]);
});

test.each([1, 2])("a reader that stops after %i events closes the model's answer", async (most) => {
  const { answer, closed } = answerOf("a", "b", "c");
  expect(await textsOf(openAnswer(firstOnly(answer)), most)).toHaveLength(most);
  expect(closed()).toBe(true);
});
