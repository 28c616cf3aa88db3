import type { ModelEvent } from "../../core/model/model.ts";

/** A generator of the first events of an answer; its return value iterates over the remaining events. */
export type AnswerOpening = AsyncGenerator<ModelEvent, AsyncIterator<ModelEvent> | undefined, void>;

/** An answer whose first event has arrived. */
export type BegunAnswer = Readonly<{ first: IteratorResult<ModelEvent>; rest: AsyncIterator<ModelEvent> }>;

/** Asks for an answer and waits for its first event. */
export function beginAnswer(answer: AsyncIterable<ModelEvent>): Promise<BegunAnswer> {
  const rest = answer[Symbol.asyncIterator]();
  return rest.next().then((first) => ({ first, rest })); // an async function would take twice the memory while it waits
}

/** True for an event that is a part of the answer: not a failure, and not a notice about a wait. */
export const isContent = ({ type }: ModelEvent): boolean => type !== "error" && type !== "notice";

/**
 * An answer for a wrapper around a model that inspects only the beginning of the answer. An answer that begins with
 * content is passed on as it is, so that the wrapper adds no generator, and no cost to each of thousands of events.
 * `handled` gets every other answer, or `undefined` when `ask` returned nothing because the wrapper has to do something
 * first.
 */
export const openAnswer = (
  ask: () => Promise<BegunAnswer | undefined>,
  handled: (begun: BegunAnswer | undefined) => AnswerOpening,
): AsyncIterable<ModelEvent> => new OpenedAnswer(ask, handled);

/**
 * An answer of which only the beginning is inspected. It is a class and no closure, to save memory: thousands of
 * answers wait for their first event at once.
 */
class OpenedAnswer implements AsyncIterableIterator<ModelEvent> {
  readonly #ask: () => Promise<BegunAnswer | undefined>;
  readonly #handled: (begun: BegunAnswer | undefined) => AnswerOpening;
  #begun: BegunAnswer | undefined;
  #opening: AnswerOpening | undefined;
  #rest: AsyncIterator<ModelEvent> | undefined;

  constructor(ask: () => Promise<BegunAnswer | undefined>, handled: (begun: BegunAnswer | undefined) => AnswerOpening) {
    this.#ask = ask;
    this.#handled = handled;
  }

  next(): Promise<IteratorResult<ModelEvent>> {
    if (this.#rest) return this.#rest.next();
    return this.#opening ? this.#more(this.#opening) : this.#begin();
  }

  async return(): Promise<IteratorResult<ModelEvent>> {
    if (!this.#rest) await this.#opening?.return(undefined);
    await (this.#rest ?? this.#begun?.rest)?.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #begin(): Promise<IteratorResult<ModelEvent>> {
    const begun = await this.#ask();
    this.#begun = begun;
    if (begun && begun.first.done !== true && isContent(begun.first.value)) {
      this.#rest = begun.rest;
      return begun.first;
    }
    this.#opening = this.#handled(begun);
    return this.#more(this.#opening);
  }

  async #more(opening: AnswerOpening): Promise<IteratorResult<ModelEvent>> {
    const step = await opening.next();
    if (!step.done) return step;
    this.#rest = step.value;
    return this.#rest ? this.#rest.next() : { done: true, value: undefined };
  }
}

/** An answer that is being read. Stopping the iteration closes it, unless the rest was passed on. */
export type AnswerReading = Readonly<{ events: AsyncIterable<ModelEvent>; rest(): AsyncIterator<ModelEvent> }>;

/** Reads an answer from its first event on. */
export function readAnswer({ first, rest }: BegunAnswer): AnswerReading {
  let handedOn = false;
  let isFirst = true;
  const events: AsyncIterator<ModelEvent> = {
    next: async () => {
      if (!isFirst) return rest.next();
      isFirst = false;
      return first;
    },
    return: async () => {
      if (!handedOn) await rest.return?.();
      return { done: true, value: undefined };
    },
  };
  return {
    events: { [Symbol.asyncIterator]: () => events },
    rest: () => {
      handedOn = true;
      return rest;
    },
  };
}
