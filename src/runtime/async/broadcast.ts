/** Sends every value to all listeners; each listener has its own queue. */
export class Broadcast<T> {
  readonly #listeners = new Set<Listener<T>>();
  #over = false;
  #failure: unknown;

  send(value: T): void {
    for (const listener of this.#listeners) listener.push(value);
  }

  /** Ends every listener's loop, with an error when there is one. */
  end(failure?: unknown): void {
    this.#over = true;
    this.#failure = failure;
    for (const listener of this.#listeners) listener.wake();
  }

  /** Iterates over the values sent from now on. */
  async *listen(): AsyncGenerator<T, void> {
    const listener = createListener<T>();
    this.#listeners.add(listener);
    try {
      for (;;) {
        for (const value of listener.drain()) yield value;
        if (this.#over) break;
        await listener.next();
      }
      for (const value of listener.drain()) yield value;
      if (this.#failure !== undefined) throw this.#failure;
    } finally {
      this.#listeners.delete(listener);
    }
  }
}

type Listener<T> = ReturnType<typeof createListener<T>>;

function createListener<T>() {
  let queue: T[] = [];
  let wake = (): void => {};
  return {
    push: (value: T): void => {
      queue.push(value);
      wake();
    },
    wake: (): void => wake(),
    next: (): Promise<void> => (queue.length > 0 ? Promise.resolve() : new Promise((resolve) => (wake = resolve))),
    *drain(): Generator<T, void> {
      while (queue.length > 0) {
        const batch = queue;
        queue = [];
        yield* batch;
      }
    },
  };
}
