/** A period of time in which some task worked. */
export type Interval = Readonly<{ from: number; to: number }>;

/** A pause in which no task worked, and which a drawing shows shorter than it was. */
export type CutPause = Readonly<{ at: number; ms: number }>;

/** Maps a time to a place from 0 to 1. */
export type TimeScale = Readonly<{ place(time: number): number; pauses: readonly CutPause[] }>;

/** The maximum length of a drawn pause, as a fraction of the working time. A longer pause is drawn with this length. */
const LONG = 0.15;
const SHOWN = 0.04;

/** A scale on which long pauses take little room: a run that waited overnight is still readable. */
export function timeScale(work: readonly Interval[], start: number, end: number): TimeScale {
  const busy = merged(work.filter(({ from, to }) => to >= from));
  const worked = Math.max(
    1,
    busy.reduce((sum, { from, to }) => sum + to - from, 0),
  );
  const gaps: Interval[] = [];
  let at = start;
  for (const { from, to } of busy) {
    if (from > at) gaps.push({ from: at, to: from });
    at = Math.max(at, to);
  }
  if (end > at) gaps.push({ from: at, to: end });
  const cut = busy.length === 0 ? [] : gaps.filter(({ from, to }) => to - from > worked * LONG);
  const shrink = (time: number): number =>
    cut.reduce((sum, { from, to }) => {
      if (time <= from) return sum;
      return sum - (Math.min(time, to) - from) * (1 - (worked * SHOWN) / (to - from));
    }, time - start);
  const whole = shrink(end) || 1;
  return {
    place: (time) => Math.max(0, Math.min(1, shrink(time) / whole)),
    pauses: cut.map(({ from, to }) => ({ at: shrink((from + to) / 2) / whole, ms: to - from })),
  };
}

function merged(intervals: readonly Interval[]): Interval[] {
  const all: { from: number; to: number }[] = [];
  for (const { from, to } of intervals.toSorted((a, b) => a.from - b.from)) {
    const last = all.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else all.push({ from, to });
  }
  return all;
}
