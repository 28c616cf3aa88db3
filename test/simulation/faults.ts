import type { Dice } from "./dice.ts";
import type { DiskFaults } from "./disk.ts";

/**
 * The faults of one simulation. Each simulation has its own selection: a fault that always happens would hide other
 * faults.
 */
export type Faults = Readonly<{
  disk: DiskFaults;
  /** One in this many turns of a model fails, is endless, or breaks off. */
  model?: number;
  /** One in this many calls of a tool throws, hangs, or ignores its abort. */
  tool?: number;
  /** The process ends, or the machine loses its power, after this many steps; several times. */
  crashes: readonly Crash[];
  /** The person cancels everything, or one task, after this many milliseconds. */
  cancelAt?: number;
  cancelTaskAt?: number;
  /** The person pauses everything after this many milliseconds. */
  pauseAt?: number;
  /** The second process resumes only one task, this one of those that have not ended. */
  resumesOne?: number;
  /** The limits of the run. */
  budget?: Readonly<{ maxTurns?: number; maxToolCalls?: number }>;
  /** The period in which the provider refuses the key; tasks wait for it. */
  closed?: Readonly<{ from: number; to: number }>;
  /** The clock of the machine is changed by this many milliseconds. */
  clockJump?: number;
  /** Calls and answers arrive twice. */
  duplicates: boolean;
  /** A second process considers the run abandoned while the first one lives, after this many steps. */
  usurpedAt?: number;
  /** The person who resumes the run wants to allow more than before. */
  widens: boolean;
}>;

export type Crash = Readonly<{ step: number; power: boolean }>;

export const noFaults: Faults = { disk: {}, crashes: [], duplicates: false, widens: false };

export function drawFaults(dice: Dice): Faults {
  const sometimes = <T>(many: number, value: () => T): T | undefined => (dice.oneIn(many) ? value() : undefined);
  const rate = (least: number): number => least + dice.below(20);
  const drawn = {
    disk: {
      full: sometimes(6, () => rate(30)),
      broken: sometimes(6, () => rate(30)),
      short: sometimes(4, () => rate(3)),
      slow: sometimes(4, () => rate(5)),
    },
    model: sometimes(2, () => rate(3)),
    tool: sometimes(2, () => rate(3)),
    cancelAt: sometimes(5, () => dice.below(40_000)),
    cancelTaskAt: sometimes(6, () => dice.below(20_000)),
    clockJump: sometimes(5, () => (dice.below(2) * 2 - 1) * dice.below(10 * 86_400_000)),
    usurpedAt: sometimes(6, () => 20 + dice.below(150)),
    pauseAt: sometimes(5, () => dice.below(20_000)),
    resumesOne: sometimes(5, () => dice.below(100)),
    budget: sometimes(6, () =>
      dice.oneIn(2) ? { maxTurns: 1 + dice.below(12) } : { maxToolCalls: 1 + dice.below(8) },
    ),
    closed: sometimes(6, () => {
      const from = dice.below(8_000);
      return { from, to: from + 5_000 + dice.below(120_000) };
    }),
  };
  // An owner that was wrongly considered dead and whose disk fails at the same moment: see decision 045.
  if (drawn.usurpedAt !== undefined)
    drawn.disk = { ...drawn.disk, short: undefined, full: undefined, broken: undefined };
  return {
    ...present(drawn),
    disk: present(drawn.disk),
    crashes: dice.oneIn(2)
      ? Array.from({ length: 1 + dice.below(3) }, () => ({ step: 5 + dice.below(250), power: dice.oneIn(2) }))
      : [],
    duplicates: dice.oneIn(4),
    widens: dice.oneIn(3),
  };
}

/** The faults of this simulation, without those that were not drawn. */
function present<T extends object>(value: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(value).filter(([, given]) => given !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
