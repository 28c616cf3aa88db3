import type { Dice } from "./dice.ts";

/** A future action in a process of the simulation. */
type Coming = { at: number; readonly number: number; readonly life: number; act: (() => void) | undefined };

/** The only clock of a simulation, which decides the order of everything in it. */
export type Time = Readonly<{
  now(): number;
  steps(): number;
  /** Schedules an action in the current process, or in the given one. */
  after(ms: number, act: () => void, life?: number): () => void;
  /** Waits; in a process that has ended it never resolves. */
  pass(ms: number): Promise<void>;
  /** The current process. */
  life(): number;
  /** Ends a process: none of its actions happens any more. */
  end(life: number): void;
  isOver(life: number): boolean;
  /** Freezes a process for a while. */
  hold(life: number, ms: number): void;
  /** Runs the next action, with everything that follows from it at once. Returns false if no action is left. */
  step(): Promise<boolean>;
  /** Waits for something of the real world, one after the other; nothing else happens meanwhile. */
  outside<T>(look: () => Promise<T>): Promise<T>;
  /** Replaces the clock that programs see by this one; returns a function that restores it. */
  install(): () => void;
}>;

const real = { setImmediate, setTimeout, clearTimeout, clearImmediate, now: Date.now, performance: performance.now };

export function createTime(dice: Dice): Time {
  const coming: Coming[] = [];
  const gone = new Set<number>();
  const held = new Map<number, number>();
  let now = 0;
  let number = 0;
  let steps = 0;
  let current = 0;
  let outside = 0;
  let lookedUp: Promise<unknown> = Promise.resolve();

  const after = (ms: number, act: () => void, life = current): (() => void) => {
    if (gone.has(life)) return () => {};
    const one: Coming = { at: Math.max(now + ms, held.get(life) ?? 0), number: (number += 1), life, act };
    coming.push(one);
    return () => {
      one.act = undefined;
    };
  };
  const next = (): Coming | undefined => {
    let first = -1;
    for (let index = coming.length - 1; index >= 0; index -= 1) {
      const one = coming[index]!;
      if (!one.act || gone.has(one.life)) {
        coming.splice(index, 1);
        if (first > index) first -= 1;
        continue;
      }
      const best = coming[first];
      if (!best || one.at < best.at || (one.at === best.at && one.number < best.number)) first = index;
    }
    return first < 0 ? undefined : coming.splice(first, 1)[0];
  };
  const step = async (): Promise<boolean> => {
    const one = next();
    if (!one) return false;
    now = Math.max(now, one.at);
    steps += 1;
    current = one.life;
    one.act?.();
    do await new Promise((resolve) => void real.setImmediate(resolve));
    while (outside > 0);
    return true;
  };

  /** A timer like that of Node, as far as the program uses it. */
  const timer = (act: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    const life = current;
    const late = dice.below(3); // no machine ends a wait exactly on time
    let stop = after(Math.max(ms, 1) + late, () => act(...args), life);
    const made = {
      refresh: () => {
        stop();
        stop = after(Math.max(ms, 1) + late, () => act(...args), life);
        return made;
      },
      ref: () => made,
      unref: () => made,
      hasRef: () => true,
      stop: () => stop(),
    };
    return made;
  };
  type Timer = ReturnType<typeof timer>;

  return {
    now: () => now,
    steps: () => steps,
    after,
    pass: (ms) => new Promise((resolve) => void after(ms, resolve)),
    life: () => current,
    end: (life) => void gone.add(life),
    isOver: (life) => gone.has(life),
    hold: (life, ms) => {
      held.set(life, now + ms);
      for (const one of coming) if (one.life === life) one.at = Math.max(one.at, now + ms);
    },
    step,
    outside: async (look) => {
      outside += 1;
      const looking = lookedUp.then(look);
      lookedUp = looking.catch(() => {});
      return looking.finally(() => {
        outside -= 1;
      });
    },
    install: () => {
      const clear = (made: Timer | undefined): void => made?.stop();
      Object.assign(globalThis, {
        setTimeout: timer,
        clearTimeout: clear,
        setImmediate: (act: (...args: unknown[]) => void, ...args: unknown[]) => {
          const stop = after(0, () => act(...args));
          return { stop };
        },
        clearImmediate: clear,
      });
      Date.now = () => now;
      performance.now = () => now;
      return () => {
        const { now: date, performance: precise, ...timers } = real;
        Object.assign(globalThis, timers);
        Date.now = date;
        performance.now = precise;
      };
    },
  };
}
