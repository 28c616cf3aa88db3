import type { Release, Slots } from "./slots.ts";

export type YieldingSlotOptions = Readonly<{
  /** The slot that the task has already, kept where others can release it. */
  held?: { slot: Release | undefined };
  /** Called when the task starts to wait for its subagents, and when it no longer does. */
  onWait?: ((isWaiting: boolean) => void) | undefined;
}>;

/**
 * The slot of a task, which other tasks may use while the task waits for its subagents. If tasks kept their slots while
 * their subagents queue for a slot, every run whose depth reaches the number of slots would hang.
 */
export class YieldingSlot {
  readonly #slots: Slots;
  readonly #over: AbortSignal;
  readonly #held: { slot: Release | undefined };
  readonly #onWait: YieldingSlotOptions["onWait"];
  /** True while the task works or waits, so that it needs a slot. */
  #isOpen = false;
  #waits = 0;
  #taking: Promise<void> | undefined;

  constructor(slots: Slots, over: AbortSignal, { held = { slot: undefined }, onWait }: YieldingSlotOptions = {}) {
    this.#slots = slots;
    this.#over = over;
    this.#held = held;
    this.#onWait = onWait;
  }

  /** True while the task waits for its subagents. */
  get isWaiting(): boolean {
    return this.#waits > 0;
  }

  /** Waits for a slot. False: the task was stopped, or `until` was aborted, first. */
  async open(until = this.#over): Promise<boolean> {
    this.#isOpen = true;
    await this.#hold(until);
    return this.#held.slot !== undefined && !this.#over.aborted;
  }

  /** From now on, a wait that ends takes no slot. */
  close(): void {
    this.#isOpen = false;
  }

  release(): void {
    this.#held.slot?.();
    this.#held.slot = undefined;
  }

  /** Gives the slot to other tasks during a wait, and then takes a slot again. */
  async whileFree<T>(wait: () => Promise<T>): Promise<T> {
    this.#count(1);
    this.release();
    try {
      return await wait();
    } finally {
      this.#count(-1);
      await this.#hold(this.#over);
    }
  }

  get #needsSlot(): boolean {
    return this.#isOpen && this.#waits === 0 && !this.#held.slot && !this.#over.aborted;
  }

  #count(change: 1 | -1): void {
    this.#waits += change;
    if (!this.#over.aborted && this.#waits === (change === 1 ? 1 : 0)) this.#onWait?.(change === 1);
  }

  async #hold(until: AbortSignal): Promise<void> {
    if (!this.#needsSlot) return;
    this.#taking ??= this.#take(until);
    await this.#taking;
  }

  /** A slot that comes too late, because the task has ended or waits again, is released at once. */
  async #take(until: AbortSignal): Promise<void> {
    const taken = await this.#slots.take(until);
    this.#taking = undefined;
    if (this.#needsSlot) this.#held.slot = taken;
    else taken?.();
  }
}
