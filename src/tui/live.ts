import { explain } from "../core/outcome/outcome.ts";
import type { NodeView, State } from "../core/run/state.ts";
import { type ParkedRun, parkedRun } from "../core/run/parked-run.ts";
import { formatDuration } from "../core/text/duration.ts";
import { fit, pad, widthOf } from "../core/view/fit.ts";
import type { Look } from "../core/view/look.ts";
import { nodeTitle, progressOf, progressWords, shownNodes, signFor } from "../core/view/nodes.ts";
import { listed, spentInAll, terminalLine, took, toolsUsed } from "../core/view/words.ts";

/** What a frame depends on besides the state. */
export type Frame = Readonly<{
  look: Look;
  columns: number;
  rows: number;
  now: number;
  /** Counts frames; turns the spinner. */
  tick: number;
  /** Said at the end of the last line. */
  hint: string;
  /** What Ctrl-C does while the run is parked; absent: nothing is said about it. */
  interrupt?: string;
}>;

/** What is going on, as lines that fit the terminal: one per task as far as there is room, then how far it is in all. */
export function frameOf(state: State, frame: Frame): string[] {
  const { look, columns } = frame;
  const nodes = shownNodes(state);
  const room = Math.max(1, Math.min(MOST_ROWS, frame.rows - 2));
  const shown = nodes.length <= room ? nodes : chosen(nodes, Math.max(1, room - 1));
  const names = Math.min(
    Math.max(8, ...shown.map((view) => widthOf(nodeTitle(view)))),
    Math.max(8, Math.floor(columns / 3)),
  );
  const lines = shown.map((view) => rowFor(view, names, frame));
  if (shown.length < Math.min(room, nodes.length))
    lines.push(look.colors.dim(fit(`  +${nodes.length - shown.length} more`, columns, look.signs.more)));
  return [...lines, ...parkedRow(state, frame), footer(state, frame)];
}

/** While nothing goes on: why, how long it still takes, and what can be done. */
function parkedRow(state: State, { look, columns, now, interrupt = "" }: Frame): string[] {
  const parked = parkedRun(state);
  if (!parked) return [];
  const text = listed([`parked: ${countdown(parked, now)}`, interrupt, terminalLine(parked.helps)], look);
  return [look.colors.yellow(fit(text, columns - 1, look.signs.more))];
}

/** How long a parked task still waits. */
function countdown({ nextTry, until }: Pick<ParkedRun, "nextTry" | "until">, now: number): string {
  const at = nextTry ?? until;
  if (at === undefined) return "waits until a limit is raised";
  const seconds = Math.ceil((at - now) / 1_000);
  return seconds > 0 ? `asks again in ${formatDuration(seconds * 1_000, "spaced")}` : "asking again";
}

/** A taller area would be hard to take in. */
const MOST_ROWS = 16;

/** When not all fit: what runs first, then what failed, then what ended last; in the order in which they began. */
function chosen(nodes: readonly NodeView[], room: number): NodeView[] {
  const rank = ({ status }: NodeView): number => (status === "running" ? 0 : status === "failed" ? 1 : 2);
  const best = nodes.toSorted((a, b) => rank(a) - rank(b) || (b.endedAt ?? 0) - (a.endedAt ?? 0)).slice(0, room);
  const kept = new Set(best);
  return nodes.filter((view) => kept.has(view));
}

function rowFor(view: NodeView, names: number, { look, columns, now, tick }: Frame): string {
  const { colors, signs } = look;
  const running = view.status === "running";
  const sign = running ? (signs.spinner[tick % signs.spinner.length] ?? "") : signFor(view, look);
  const name = pad(fit(nodeTitle(view), names, signs.more), names);
  const time = took((view.endedAt ?? now) - view.startedAt);
  const room = columns - names - time.length - 6;
  const doing = room < 6 ? "" : pad(fit(doingOf(view, look), room, signs.more), room);
  const line = `${running ? colors.cyan(sign) : sign} ${running ? name : colors.dim(name)}  ${colors.dim(doing)}  ${colors.dim(time)}`;
  return room < 6 ? fit(`${sign} ${name}`, columns - 1, signs.more) : line;
}

function doingOf(view: NodeView, look: Look): string {
  if (view.outcome)
    return view.outcome.status === "ok" ? toolsUsed(view.tools, look) : terminalLine(explain(view.outcome));
  // The last words of a text that grows are where it grows.
  if (view.doing === "writing")
    return terminalLine(
      view.text
        .slice(-LAST_WORDS)
        .split("\n")
        .findLast((line) => line.trim() !== "") ?? "writing",
    );
  return terminalLine(view.doing);
}

const LAST_WORDS = 400;

function footer(state: State, { look, columns, now, hint }: Frame): string {
  const progress = progressOf(state);
  const counts = progress.total > 1 ? progressWords(progress) : [];
  const spent = state.usage.turns > 0 ? spentInAll(state.usage, state.cost).slice(1) : [];
  const time = took(now - (state.startedAt || now));
  return look.colors.dim(fit(listed([hint, ...counts, time, ...spent], look), columns - 1, look.signs.more));
}
