const MILLION = 1_024 * 1_024;
const MAX = { event: 16 * MILLION, answer: 64 * MILLION } as const;

/** An event or a whole answer of a provider is larger than that of any model. */
export class LargeAnswerError extends Error {
  constructor(of: keyof typeof MAX) {
    super(`${of === "event" ? "an event" : "the answer"} has more than ${MAX[of] / MILLION} million characters`);
    this.name = "LargeAnswerError";
  }
}

/** Counts the size of an answer and of its current event. Throws a `LargeAnswerError` when one of them is too large. */
export function createAnswerSize(): { grow(by: number): void; endEvent(): void } {
  const size = { event: 0, answer: 0 };
  return {
    grow: (by) => {
      size.event += by;
      size.answer += by;
      if (size.event > MAX.event) throw new LargeAnswerError("event");
      if (size.answer > MAX.answer) throw new LargeAnswerError("answer");
    },
    endEvent: () => {
      size.event = 0;
    },
  };
}
