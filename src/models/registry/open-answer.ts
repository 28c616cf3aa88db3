import type { ModelEvent } from "../../core/model/model.ts";

/** The first events of an answer; what the generator returns gives the others. */
export type AnswerOpening = AsyncGenerator<ModelEvent, AsyncIterator<ModelEvent> | undefined, void>;

/**
 * An answer of which only the beginning is looked at. The rest is read from the model directly: a layer that has nothing left to
 * decide costs nothing for each of the thousand pieces that follow.
 */
export function openAnswer(opening: AnswerOpening): AsyncIterable<ModelEvent> {
  let rest: AsyncIterator<ModelEvent> | undefined;
  const begin = async (): Promise<IteratorResult<ModelEvent>> => {
    const step = await opening.next();
    if (!step.done) return step;
    rest = step.value;
    return rest ? rest.next() : { done: true, value: undefined };
  };
  const events: AsyncIterator<ModelEvent> = {
    next: () => (rest ? rest.next() : begin()),
    return: async () => {
      await (rest ? rest.return?.() : opening.return(undefined));
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => events };
}

/** An answer that is being read. A reader that stops closes it, unless it passes on the rest. */
export type AnswerReading = Readonly<{ events: AsyncIterable<ModelEvent>; rest(): AsyncIterator<ModelEvent> }>;

export function readAnswer(answer: AsyncIterable<ModelEvent>): AnswerReading {
  const inner = answer[Symbol.asyncIterator]();
  let handedOn = false;
  const events: AsyncIterator<ModelEvent> = {
    next: () => inner.next(),
    return: async () => {
      if (!handedOn) await inner.return?.();
      return { done: true, value: undefined };
    },
  };
  return {
    events: { [Symbol.asyncIterator]: () => events },
    rest: () => {
      handedOn = true;
      return inner;
    },
  };
}
