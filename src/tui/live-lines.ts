import type { State } from "../core/run/state.ts";
import type { Look } from "../core/view/look.ts";
import { defined } from "../core/text/defined.ts";
import { type Frame, frameOf } from "./live.ts";
import { Screen, type ScreenTerminal } from "./screen.ts";

/** The live lines of one run at the bottom of a terminal. */
export type LiveRun = Readonly<{
  columns(): number;
  draw(state: State): void;
  hint(text: string): void;
  clear(): void;
  close(): void;
}>;

export function createLiveLines(
  terminal: ScreenTerminal,
  { look, clock, interrupt }: Readonly<{ look: Look; clock(): number }> & Pick<Frame, "interrupt">,
): LiveRun {
  const screen = new Screen(terminal);
  let hint = "";
  let tick = 0;
  return {
    columns: () => screen.columns,
    draw: (state) => {
      const { columns, rows } = screen;
      screen.draw(frameOf(state, { look, columns, rows, now: clock(), tick, hint, ...defined({ interrupt }) }));
      tick += 1;
    },
    hint: (text) => {
      hint = text;
      screen.clear();
    },
    clear: () => screen.clear(),
    close: () => screen.close(),
  };
}
