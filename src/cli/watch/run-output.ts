import type { Writable } from "node:stream";
import type { KeptEvent } from "../../core/run/event.ts";
import type { State } from "../../core/run/state.ts";
import type { Look } from "../../core/view/look.ts";
import { outputOfRun } from "../../sinks/output.ts";
import { lineFor } from "../../sinks/plain.ts";
import { endedTaskLines, summaryOf } from "../../sinks/summary.ts";
import type { LiveView } from "../../tui/chat/answer-view.ts";
import { createRunView } from "../../tui/run/run-view.ts";
import { boxesOn, delegates } from "../terminal/helper-boxes.ts";
import type { RunScreen } from "./run-screen.ts";

/** The style of a run on a terminal, and the stream for its result. */
export type RunOutput = Readonly<{ look: Look; out: Writable }>;

/** Events that are printed on a line of their own, because neither the answer nor the task rows show them. */
const TOLD: ReadonlySet<KeptEvent["type"]> = new Set(["node.retried", "turn.started", "gate.answered"]);

/** True when the result is printed in the scrollback of the terminal, as Markdown. */
const isPrinted = (out: Writable): boolean => out === process.stdout && process.stdout.isTTY;

/** The view of a run that a command started or follows. */
export function runViewOn(screen: RunScreen, { look, out }: RunOutput): LiveView {
  const named = new Set<string>();
  return createRunView({
    look,
    columns: () => screen.columns(),
    highlight: () => screen.highlight(),
    boxes: boxesOn(look),
    delegates,
    prints: isPrinted(out),
    told: (event, state) => (TOLD.has(event.type) ? lineFor(event, state, look, named) : undefined),
    ended: endedTaskLines,
  });
}

/** Writes the result of a run, unless it was printed, and its summary. */
export function writeEnd(state: State, { look, out }: RunOutput): void {
  if (!isPrinted(out)) out.write(outputOfRun(state));
  const lines = summaryOf(state, { look, columns: process.stderr.columns || 80, tasks: false });
  process.stderr.write(`\n${lines.join("\n")}\n`);
}
