/**
 * Sends every value to all listeners; each listener has its own queue. It does not use generators, because they would
 * slow down each of a run's many events.
 */
export class Broadcast<T> {
  readonly #listeners = new Set<Listener<T>>();
  #over: Readonly<{ failure?: unknown }> | undefined;

  send(value: T): void {
    for (const listener of this.#listeners) listener.push(value);
  }

  /** Ends every listener's loop, with the error if one is given. */
  end(failure?: unknown): void {
    this.#over = failure === undefined ? {} : { failure };
    for (const listener of this.#listeners) listener.end();
    this.#listeners.clear();
  }

  /** Iterates over the values sent from the first call of `next` on. */
  listen(): Listening<T> {
    let queue: T[] = [];
    let taken = 0;
    let begun = false;
    let closed = false;
    const waiting: Waiter<T>[] = [];
    const finish = ({ resolve, reject }: Waiter<T>): void => {
      const failure = closed ? undefined : this.#over?.failure;
      closed = true; // an error is thrown only once
      if (failure === undefined) resolve({ done: true, value: undefined });
      else reject(failure);
    };
    const listener: Listener<T> = {
      push: (value) => {
        const first = waiting.shift();
        if (first) first.resolve({ done: false, value });
        else queue.push(value);
      },
      end: () => {
        for (const each of waiting.splice(0)) finish(each);
      },
    };
    return {
      next: () => {
        if (!begun && !this.#over) this.#listeners.add(listener);
        begun = true;
        if (taken < queue.length) {
          const value = queue[taken]!;
          taken += 1;
          if (taken === queue.length) [queue, taken] = [[], 0];
          return Promise.resolve({ done: false, value });
        }
        return new Promise((resolve, reject) => {
          if (closed || this.#over) finish({ resolve, reject });
          else waiting.push({ resolve, reject });
        });
      },
      return: async () => {
        [queue, taken, begun, closed] = [[], 0, true, true];
        this.#listeners.delete(listener);
        listener.end();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}

/** An iteration over values that its reader can end early. */
export type Listening<T> = AsyncIterableIterator<T, void> & Readonly<{ return(): Promise<IteratorResult<T, void>> }>;

type Listener<T> = Readonly<{ push(value: T): void; end(): void }>;
type Waiter<T> = Readonly<{ resolve(step: IteratorResult<T, void>): void; reject(failure: unknown): void }>;
