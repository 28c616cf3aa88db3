import type { DurationStyle } from "../text/duration.ts";
import picocolors from "picocolors";

/** The style of the output: its colours, if any, and its symbols. */
export type Look = Readonly<{
  colors: ReturnType<typeof picocolors.createColors>;
  signs: Signs;
  /** How durations are written; by default each view has its own style. */
  durations?: DurationStyle;
}>;

/** The symbols of a terminal: Unicode symbols, or ASCII characters for terminals that lack them. */
type Signs = Readonly<{
  ok: string;
  failed: string;
  none: string;
  times: string;
  dot: string;
  more: string;
  bullet: string;
  /** The symbols for a running step and for an ended step. */
  step: string;
  /**
   * The characters of a frame: the corners (top left, top right, bottom left, bottom right), then the horizontal and
   * the vertical line.
   */
  frame: readonly [string, string, string, string, string, string];
  spinner: readonly string[];
}>;

/** Creates a look from two flags of the terminal. */
export function createLook({ color, unicode }: { color: boolean; unicode: boolean }): Look {
  return { colors: picocolors.createColors(color), signs: unicode ? real : ascii };
}

/** The colour of a state of a run or a task, as in `running` or `failed`. */
export function stateColor({ colors }: Pick<Look, "colors">, state: string): (text: string) => string {
  return colors[stateColors[state] ?? "yellow"];
}

/** Colours of run and task states. States without an entry wait or were stopped. */
const stateColors: Readonly<Record<string, "green" | "red" | "cyan" | "magenta" | "dim">> = {
  ok: "green",
  failed: "red",
  damaged: "red",
  running: "cyan",
  starting: "cyan",
  waiting: "magenta",
  skipped: "dim",
};

const real: Signs = {
  ok: "✓",
  failed: "✗",
  none: "–",
  times: "×",
  dot: " · ",
  more: "…",
  bullet: "•",
  step: "●",
  frame: ["┌", "┐", "└", "┘", "─", "│"],
  spinner: ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
};

const ascii: Signs = {
  ok: "+",
  failed: "x",
  none: "-",
  times: "x",
  dot: ", ",
  more: "...",
  bullet: "-",
  step: "*",
  frame: ["+", "+", "+", "+", "-", "|"],
  spinner: ["|", "/", "-", "\\"],
};
