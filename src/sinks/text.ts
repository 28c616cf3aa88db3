import type { Writable } from "node:stream";
import { isKept, type KeptEvent } from "../core/run/event.ts";
import type { State } from "../core/run/state.ts";
import { crashAt } from "../core/task/crash.ts";
import type { Run } from "../runtime/run/run.ts";
import type { Look } from "../core/view/look.ts";
import { outputOfRun } from "./output.ts";
import { lineFor } from "./plain.ts";
import { summaryOf } from "./summary.ts";
import { terminalLine } from "../core/view/words.ts";

/** Where a person looks, and how. */
export type TextOptions = Readonly<{
  out: Writable;
  err: Writable;
  look: Look;
  /** Nothing but the result. */
  quiet: boolean;
  /** Skips events that happened before, as when a run is resumed. */
  since: number;
  /** The text for an event that replaces its log line. */
  tell?: (event: KeptEvent, state: State) => string | undefined;
}>;

/** A run in front of a person. */
export type TextSink = Readonly<{
  /** Shows what goes on until the run has ended. */
  follow(run: Run): Promise<void>;
  /** Shows the result on `out` and the rest on `err`. */
  end(run: Run): void;
  /** Releases the terminal until `resume`. */
  pause(): void;
  resume(): void;
  /** Says something once, above rows that change. */
  say(text: string): void;
  /** Says what goes on, in the last row that changes. */
  hint(text: string): void;
  /** Leaves the terminal as it was found. */
  close(): void;
}>;

/** Progress for people as plain lines, for a log or a terminal that cannot redraw. */
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
      if (quiet && state.outcome?.status === "ok") return;
      // In a log the line of each task is above.
      err.write(`${summaryOf(state, { look, columns: Number.POSITIVE_INFINITY, tasks: quiet }).join("\n")}\n`);
    },
    // Nothing is printed into an open prompt.
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

/** What is printed even where the text for events is given. */
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
