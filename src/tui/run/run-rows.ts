import type { NodeView, State } from "../../core/run/state.ts";
import { type ParkedRun, parkedRun } from "../../core/run/parked-run.ts";
import { fit, lastRow, pad, widthOf } from "../../core/view/fit.ts";
import type { Look } from "../../core/view/look.ts";
import { nodeTitle, progressOf, progressWords, shownNodes } from "../../core/view/nodes.ts";
import { listed, spentInAll, terminalLine, took } from "../../core/view/words.ts";

/** Style, size and time of one drawing of the rows. */
export type RunFrame = Readonly<{
  look: Look;
  columns: number;
  /** The maximum number of rows to draw. */
  most: number;
  now: number;
  /** The number of this drawing, which animates the spinner. */
  tick: number;
}>;

/** One row per running task, as far as they fit, and the number of further tasks. */
export function taskRows(state: State, frame: RunFrame): string[] {
  const { look, columns } = frame;
  const nodes = shownNodes(state).filter(({ status }) => status === "running");
  const room = Math.max(1, frame.most);
  const shown = nodes.length <= room ? nodes : nodes.slice(0, Math.max(1, room - 1));
  const names = Math.min(
    Math.max(8, ...shown.map((view) => widthOf(nodeTitle(view)))),
    Math.max(8, Math.floor(columns / 3)),
  );
  const lines = shown.map((view) => rowFor(view, names, frame));
  if (shown.length < Math.min(room, nodes.length))
    lines.push(look.colors.dim(fit(`  +${nodes.length - shown.length} more`, columns, look.signs.more)));
  return lines;
}

/** The options for the last rows: the texts about the keys and about Ctrl-C. */
export type FootOptions = Pick<RunFrame, "look" | "columns" | "now"> &
  Readonly<{
    /** A text about the keys, or about the current activity. */
    hint: string;
    /** What Ctrl-C does while the run is parked (waits for a provider); absent: not mentioned. */
    interrupt?: string;
  }>;

/** The last rows: the reason if the run is parked (waits for a provider), and its progress. */
export function footRows(state: State, options: FootOptions): string[] {
  return [...parkedRow(state, options), footer(state, options)];
}

/**
 * For a parked run (one that waits for a provider): the reason, the time until the next try, and what the person can
 * do.
 */
function parkedRow(state: State, { look, columns, now, interrupt = "" }: FootOptions): string[] {
  const parked = parkedRun(state);
  if (!parked) return [];
  const text = listed([`parked: ${countdown(parked, now, look)}`, interrupt, terminalLine(parked.helps)], look);
  return [look.colors.yellow(fit(text, columns - 1, look.signs.more))];
}

/** The remaining waiting time of a parked task (one that waits for a provider). */
function countdown({ nextTry, until }: Pick<ParkedRun, "nextTry" | "until">, now: number, look: Look): string {
  const at = nextTry ?? until;
  if (at === undefined) return "waits until a limit is raised";
  const seconds = Math.ceil((at - now) / 1_000);
  return seconds > 0 ? `next try in ${took(seconds * 1_000, look, "spaced")}` : "trying again";
}

function rowFor(view: NodeView, names: number, { look, columns, now, tick }: RunFrame): string {
  const { colors, signs } = look;
  const sign = view.question === undefined ? (signs.spinner[tick % signs.spinner.length] ?? "") : "?";
  const name = pad(fit(nodeTitle(view), names, signs.more), names);
  const time = took(now - view.startedAt, look);
  const room = columns - names - time.length - 6;
  if (room < 6) return fit(`${sign} ${name}`, columns - 1, signs.more);
  const text = doingOf(view);
  const doing = pad(fit(view.doing === "writing" ? lastRow(text, room) : text, room, signs.more), room);
  return `${colors.cyan(sign)} ${name}  ${colors.dim(doing)}  ${colors.dim(time)}`;
}

function doingOf(view: NodeView): string {
  // A streamed text grows at its end, so its end is shown.
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

function footer(state: State, { look, columns, now, hint }: FootOptions): string {
  const progress = progressOf(state);
  const counts = progress.total > 1 ? progressWords(progress) : mainWords(state);
  const spent = state.usage.turns > 0 ? spentInAll(state.usage, state.cost).slice(1) : [];
  const time = took(now - (state.startedAt || now), look);
  return look.colors.dim(fit(listed([...counts, time, ...spent, hint], look), columns - 1, look.signs.more));
}

/** The agent and the model of the main task. */
function mainWords(state: State): string[] {
  const main = [...state.nodes.values()].find(({ kind, path }) => kind === "task" && !path.includes("/"));
  return main ? [nodeTitle(main), terminalLine(main.model ?? "")] : [];
}
