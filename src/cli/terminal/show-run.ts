import { createTextSink, type TextOptions, type TextSink } from "../../sinks/text.ts";
import { createLiveLines } from "../../tui/live-lines.ts";
import { defined } from "../../core/text/defined.ts";
import type { Terminal } from "../base/terminal.ts";

/** Shows a run on this process's streams: live lines where the terminal can redraw, plain lines elsewhere. */
export function showRun(
  { look, live }: Pick<Terminal, "look" | "live">,
  {
    clock = Date.now,
    out = process.stdout,
    interrupt,
    ...rest
  }: Pick<TextOptions, "quiet" | "since" | "tell"> &
    Partial<Pick<TextOptions, "out">> &
    Readonly<{ clock?: () => number; interrupt?: string }>,
): TextSink {
  const { stderr: err } = process;
  return createTextSink({
    out,
    err,
    look,
    live: live ? createLiveLines(err, { look, clock, ...defined({ interrupt }) }) : undefined,
    ...rest,
  });
}
