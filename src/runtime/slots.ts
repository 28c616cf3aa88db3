/** How many tasks may run at once. A slot is handed back while its holder waits for children. */
export class Slots {
  readonly #limit: number;
  readonly #parent: Slots | undefined;
  #taken = 0;
  /** Waiters in order; those that gave up stay without a `grant` until they are reached. */
  #waiting: Waiter[] = [];
  #next = 0;

  /** With a parent, whoever takes a slot here holds one there, too. */
  constructor(limit: number, parent?: Slots) {
    this.#limit = limit;
    this.#parent = parent;
  }

  /** Waits for a slot. Resolves to its release, or to `undefined` when the signal aborts first. */
  async take(signal: AbortSignal): Promise<Release | undefined> {
    if (signal.aborted) return undefined;
    if (this.#taken < this.#limit) this.#taken += 1;
    else if (!(await this.#wait(signal))) return undefined;
    const outer = this.#parent ? await this.#parent.take(signal) : nothing;
    if (!outer) {
      this.#hand();
      return undefined;
    }
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      outer();
      this.#hand();
    };
  }

  #wait(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const waiter: Waiter = { grant: () => {
        signal.removeEventListener("abort", giveUp);
        resolve(true);
      } };
      const giveUp = (): void => {
        waiter.grant = undefined;
        resolve(false);
      };
      this.#waiting.push(waiter);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  }

  /** Gives the slot to the one who waits longest, or back. */
  #hand(): void {
    while (this.#next < this.#waiting.length) {
      const waiter = this.#waiting[this.#next];
      this.#next += 1;
      if (waiter?.grant) return waiter.grant();
    }
    this.#waiting = [];
    this.#next = 0;
    this.#taken -= 1;
  }
}

/** Gives a slot back; calling it again does nothing. */
export type Release = () => void;

type Waiter = { grant: (() => void) | undefined };
const nothing: Release = () => {};
