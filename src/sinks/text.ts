import type { Writable } from "node:stream";
import type { KeptEvent } from "../core/run/event.ts";
import { isKept } from "../core/run/kept-event.ts";
import type { State } from "../core/run/state.ts";
import { crashAt } from "../core/task/crash.ts";
import type { Run } from "../runtime/run/run.ts";
import type { Look } from "../core/view/look.ts";
import { outputOfRun } from "./output.ts";
import { lineFor } from "./plain.ts";
import { refusedLines, summaryOf } from "./summary.ts";
import { terminalLine } from "../core/view/words.ts";

/** The streams and style of the output for a person. */
export type TextOptions = Readonly<{
  out: Writable;
  err: Writable;
  look: Look;
  /** True when only the result is printed. */
  quiet: boolean;
  /** Events before this time are skipped, because a resumed run repeats its earlier events. */
  since: number;
  /** If set, its text replaces the log line of an event. */
  tell?: (event: KeptEvent, state: State) => string | undefined;
}>;

/** Shows a run to a person. */
export type TextSink = Readonly<{
  /** Shows progress until the run has ended. */
  follow(run: Run): Promise<void>;
  /** Prints the result on `out` and the summary on `err`. */
  end(run: Run): void;
  /** Releases the terminal until `resume`. */
  pause(): void;
  resume(): void;
  /** Prints a line once, above the rows that are redrawn. */
  say(text: string): void;
  /** Shows a text in the last of the rows that are redrawn. */
  hint(text: string): void;
  /** Restores the terminal. */
  close(): void;
}>;

/** Shows progress as plain lines, for a log or a terminal that cannot redraw. */
export function createTextSink({ out, err, look, quiet, since, tell }: TextOptions): TextSink {
  let held: string[] | undefined;
  const print = (text: string): void => {
    if (held) held.push(text);
    else err.write(`${text}\n`);
  };
  return {
    follow: async (run) => {
      let path = "";
      const named = new Set<string>();
      try {
        for await (const event of run) {
          path = event.path;
          if (quiet || !isKept(event) || event.at < since) continue;
          const said =
            tell?.(event, run.state) ??
            (tell && !BESIDE.has(event.type) ? undefined : lineFor(event, run.state, look, named));
          if (said !== undefined) print(said);
        }
      } catch (thrown) {
        throw crashAt(thrown, { run: run.id, path });
      }
    },
    end: ({ state }) => {
      out.write(outputOfRun(state));
      if (quiet && state.outcome?.status === "ok") {
        for (const line of refusedLines(state, look)) err.write(`${line}\n`);
        return;
      }
      // The log already has a line for each task, so the summary lists the tasks only in quiet mode.
      err.write(`${summaryOf(state, { look, columns: Number.POSITIVE_INFINITY, tasks: quiet }).join("\n")}\n`);
    },
    // While a prompt is open, nothing else is printed.
    pause: () => {
      held ??= [];
    },
    resume: () => {
      const lines = held ?? [];
      held = undefined;
      lines.forEach(print);
    },
    say: (text) => {
      if (!quiet) print(terminalLine(text));
    },
    hint: () => {},
    close: () => {},
  };
}

/** Events whose log lines are printed even if `tell` replaces the lines of other events. */
const BESIDE: ReadonlySet<string> = new Set([
  "node.retried",
  "turn.started",
  "tool.denied",
  "tool.unknown",
  "rights.reduced",
  "limit.reached",
  "gate.answered",
  "warning",
]);
