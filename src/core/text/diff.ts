/** What changed between two texts, as a unified diff with three lines around each change; empty when nothing did. */
export function unifiedDiff(before: string, after: string, path: string): string {
  if (before === after) return "";
  const [old, now] = [linesOf(before), linesOf(after)];
  const hunks = hunksOf(changesOf(old, now));
  const body = hunks.map((hunk) => printed(hunk, old, now)).join("\n");
  return `--- ${before === "" ? "/dev/null" : path}\n+++ ${after === "" ? "/dev/null" : path}\n${body}`;
}

/** Lines `[from, to)` of the old text became lines `[at, until)` of the new one. */
type Change = Readonly<{ from: number; to: number; at: number; until: number }>;

const CONTEXT = 3;
/** Beyond so many differing lines the smallest diff is not worth the time: all of it counts as changed. */
const MOST_EDITS = 400;

function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  else lines[lines.length - 1] += NO_NEWLINE;
  return lines;
}

/** A mark that no line holds, put to a last line without an end. */
const NO_NEWLINE = "\u0000";

function changesOf(old: readonly string[], now: readonly string[]): Change[] {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (
    end < old.length - start &&
    end < now.length - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  )
    end++;
  const inner = edits(old.slice(start, old.length - end), now.slice(start, now.length - end));
  return inner.map(({ from, to, at, until }) => ({
    from: from + start,
    to: to + start,
    at: at + start,
    until: until + start,
  }));
}

/** The shortest way from one list to the other, after Myers: `furthest[k]` is how far the diagonal k gets with so many edits. */
function edits(old: readonly string[], now: readonly string[]): Change[] {
  const whole: Change = { from: 0, to: old.length, at: 0, until: now.length };
  if (old.length === 0 || now.length === 0) return [whole];
  const most = Math.min(old.length + now.length, MOST_EDITS);
  const trail: Map<number, number>[] = [];
  let furthest = new Map<number, number>([[1, 0]]);
  for (let count = 0; count <= most; count++) {
    const next = new Map(furthest);
    trail.push(furthest);
    for (let k = -count; k <= count; k += 2) {
      const down = k === -count || (k !== count && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
      let x = down ? (furthest.get(k + 1) ?? 0) : (furthest.get(k - 1) ?? 0) + 1;
      while (x < old.length && x - k < now.length && old[x] === now[x - k]) x++;
      next.set(k, x);
      if (x >= old.length && x - k >= now.length) return walkBack(trail, old.length, now.length);
    }
    furthest = next;
  }
  return [whole];
}

function walkBack(trail: readonly Map<number, number>[], oldLength: number, newLength: number): Change[] {
  const steps: Change[] = [];
  let [x, y] = [oldLength, newLength];
  for (let count = trail.length - 1; count > 0; count--) {
    const furthest = trail[count]!;
    const k = x - y;
    const down = k === -count || (k !== count && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
    const fromK = down ? k + 1 : k - 1;
    const fromX = furthest.get(fromK) ?? 0;
    const fromY = fromX - fromK;
    steps.push(
      down
        ? { from: fromX, to: fromX, at: fromY, until: fromY + 1 }
        : { from: fromX, to: fromX + 1, at: fromY, until: fromY },
    );
    [x, y] = [fromX, fromY];
  }
  return joined(steps.toReversed());
}

/** Edits that touch each other are one change. */
function joined(steps: readonly Change[]): Change[] {
  const changes: Change[] = [];
  for (const step of steps) {
    const last = changes.at(-1);
    if (last && last.to === step.from && last.until === step.at)
      changes[changes.length - 1] = { ...last, to: step.to, until: step.until };
    else changes.push(step);
  }
  return changes;
}

/** Changes that are near each other share a hunk. */
function hunksOf(changes: readonly Change[]): Change[][] {
  const hunks: Change[][] = [];
  for (const change of changes) {
    const last = hunks.at(-1)?.at(-1);
    if (last && change.from - last.to <= 2 * CONTEXT) hunks.at(-1)!.push(change);
    else hunks.push([change]);
  }
  return hunks;
}

function printed(hunk: readonly Change[], old: readonly string[], now: readonly string[]): string {
  const [first, last] = [hunk[0]!, hunk.at(-1)!];
  const lead = Math.min(CONTEXT, first.from);
  const tail = Math.min(CONTEXT, old.length - last.to);
  const rows: string[] = [];
  let at = first.from - lead;
  for (const change of hunk) {
    rows.push(...old.slice(at, change.from).map((line) => row(" ", line)));
    rows.push(...old.slice(change.from, change.to).map((line) => row("-", line)));
    rows.push(...now.slice(change.at, change.until).map((line) => row("+", line)));
    at = change.to;
  }
  rows.push(...old.slice(at, at + tail).map((line) => row(" ", line)));
  return `@@ -${range(first.from - lead, last.to + tail)} +${range(first.at - lead, last.until + tail)} @@\n${rows.join("\n")}`;
}

function row(sign: string, line: string): string {
  return line.endsWith(NO_NEWLINE) ? `${sign}${line.slice(0, -1)}\n\\ No newline at end of file` : `${sign}${line}`;
}

function range(from: number, to: number): string {
  const length = to - from;
  return length === 1 ? `${from + 1}` : `${length === 0 ? from : from + 1},${length}`;
}
