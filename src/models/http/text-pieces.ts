/** The number of waiting characters above which the sender is paused. */
const MOST_WAITING = 1 << 20;

/** The operations on the sender of a text: pausing and resuming it. */
export type TextSender = Readonly<{ pause(): unknown; resume(): unknown }>;

type Reader = Readonly<{ resolve(piece: IteratorResult<string>): void; reject(error: Error): void }>;

/**
 * A text that arrives in pieces and is read by one reader, which gets everything since its last read as one piece. A
 * sender that is faster than the reader is paused.
 */
export class TextPieces implements AsyncIterableIterator<string> {
  readonly #sender: TextSender;
  #waiting = "";
  #isPaused = false;
  #isOver = false;
  #error: Error | undefined;
  #reader: Reader | undefined;

  constructor(sender: TextSender) {
    this.#sender = sender;
  }

  push(piece: string): void {
    this.#waiting += piece;
    if (this.#waiting.length > MOST_WAITING && !this.#isPaused) {
      this.#isPaused = true;
      this.#sender.pause();
    }
    this.#serve();
  }

  /** To be called when no more text will come. An error reaches the reader after the text that was pushed before it. */
  end(error?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    this.#serve();
  }

  next(): Promise<IteratorResult<string>> {
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
      this.#serve();
      if (!this.#isPaused) return;
      this.#isPaused = false;
      this.#sender.resume();
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #serve(): void {
    if (!this.#reader || (this.#waiting === "" && !this.#isOver)) return;
    const { resolve, reject } = this.#reader;
    this.#reader = undefined;
    const value = this.#waiting;
    this.#waiting = "";
    if (value !== "") resolve({ done: false, value });
    else if (this.#error) reject(this.#error);
    else resolve({ done: true, value: undefined });
  }
}
