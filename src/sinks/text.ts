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
  /** Draws lines that change in place. Given only where a person watches on a terminal that can redraw. */
  live?: LiveLines | undefined;
  /** Nothing but the result. */
  quiet: boolean;
  /** Skips events that happened before, as when a run is resumed. */
  since: number;
  /** The text for an event that replaces its log line. */
  tell?: (event: KeptEvent, state: State) => string | undefined;
}>;

/** Lines at the bottom of a terminal that show a running run and are redrawn in place. */
export type LiveLines = Readonly<{
  columns(): number;
  draw(state: State): void;
  /** Adds a sentence to the last line. */
  hint(text: string): void;
  /** Removes the lines; the next drawing starts where they started. */
  clear(): void;
  /** Removes the lines and restores the terminal. Safe to call twice. */
  close(): void;
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
  /** Says something once, above the live lines. */
  say(text: string): void;
  /** Says one more thing at the end of the live lines. */
  hint(text: string): void;
  /** Leaves the terminal as it was found. */
  close(): void;
}>;

/** How often the live lines are drawn at the most. */
const FRAME_MS = 80;

/** Progress for people: the live lines it is given, or plain lines. */
export function createTextSink({ out, err, look, live, quiet, since, tell }: TextOptions): TextSink {
  let paused = false;
  let timer: NodeJS.Timeout | undefined;

  const print = (text: string): void => {
    live?.clear();
    err.write(`${text}\n`);
  };
  const draw = (run: Run): void => {
    if (!paused && run.state.plan !== undefined) live?.draw(run.state);
  };

  return {
    follow: async (run) => {
      if (live && !quiet) timer = setInterval(() => draw(run), FRAME_MS);
      let path = "";
      try {
        for await (const event of run) {
          path = event.path;
          if (quiet || !isKept(event) || event.at < since) continue;
          const own = tell?.(event, run.state);
          const said =
            own ?? ((live || tell) && !aboveLive.has(event.type) ? undefined : lineFor(event, run.state, look));
          if (said !== undefined) print(said);
        }
      } catch (thrown) {
        throw crashAt(thrown, { run: run.id, path });
      } finally {
        clearInterval(timer);
        live?.close();
      }
    },
    end: ({ state }) => {
      const output = outputOfRun(state);
      out.write(output);
      if (quiet && state.outcome?.status === "ok") return;
      // In a log the line of each task is above.
      const lines = summaryOf(state, {
        look,
        columns: live ? live.columns() : Number.POSITIVE_INFINITY,
        tasks: live !== undefined || quiet,
      });
      err.write(`${live && output !== "" ? "\n" : ""}${lines.join("\n")}\n`);
    },
    pause: () => {
      paused = true;
      live?.close();
    },
    resume: () => {
      paused = false;
    },
    say: (text) => {
      if (!quiet) print(terminalLine(text));
    },
    hint: (text) => live?.hint(text),
    close: () => live?.close(),
  };
}

/** What the live lines cannot say, and so is printed above them. */
const aboveLive: ReadonlySet<string> = new Set([
  "node.retried",
  "turn.started",
  "tool.denied",
  "tool.unknown",
  "rights.reduced",
  "limit.reached",
  "gate.answered",
  "warning",
]);
