import type { ModelEvent } from "../../core/model/model.ts";

/** A generator of the first events of an answer; its return value gives the remaining ones. */
export type AnswerOpening = AsyncGenerator<ModelEvent, AsyncIterator<ModelEvent> | undefined, void>;

/**
 * An answer of which a layer inspects only the beginning. The remaining events are read from the model directly, so
 * that the layer adds no cost to each of thousands of events.
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

/** An answer that is being read. Stopping the iteration closes it, unless the rest was passed on. */
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
