import { exitCodeOfRun } from "../../core/run/result.ts";
import type { State } from "../../core/run/state.ts";
import type { Crew } from "../../crew/crew-type.ts";
import type { Run } from "../../runtime/run/run.ts";
import { writeJsonLines } from "../../sinks/jsonl.ts";
import { createTextSink, type TextOptions, type TextSink } from "../../sinks/text.ts";
import { isClosed, writeProblem } from "../base/file-problem.ts";
import type { Flags } from "../base/flags.ts";
import type { Terminal } from "../base/terminal.ts";
import { type AskPerson, answerGates, answering, askPerson } from "../terminal/gates.ts";
import { openResult, type ResultPrinter } from "../terminal/print-result.ts";
import { createRawInput, type RawInput } from "../terminal/raw-input.ts";
import { onSignals, type Signals } from "../terminal/signals.ts";

/** The options of `watchRun`. */
export type WatchOptions = Readonly<{
  crew: Crew;
  tell?: TextOptions["tell"];
  /** Continues the paused run in a background process. Returns the exit code of this command. */
  background?(id: string): Promise<number>;
}>;

/** Shows a run until its end, asks its questions and handles signals. Returns the exit code. */
export async function watchRun(
  run: Run,
  flags: Flags,
  { look, live, attended }: Terminal,
  { crew, tell, background }: WatchOptions,
): Promise<number> {
  const since = Date.now();
  const printer = await openResult(flags, look);
  for (const stream of new Set([process.stdout, printer.target]))
    stream.once("error", (error) =>
      run.pause(
        isClosed(error, stream) ? "the output was closed" : `the output cannot be written: ${writeProblem(error)}`,
      ),
    );
  let hint = (_: string): void => {};
  const signals = onSignals({
    pause: (reason) => {
      hint("pausing; press Ctrl-C again to exit at once");
      run.pause(reason);
    },
  });
  const { interrupt } = signals;
  try {
    if (live && !flags.quiet && printer.format !== "stream-json") {
      const { followOnScreen } = await import("./run-keys.ts"); // most runs are not shown on a terminal that can redraw
      const { writeEnd } = await import("./run-output.ts");
      const moved = await followOnScreen(run, {
        crew,
        look,
        since,
        out: printer.out,
        attended,
        interrupt,
        hints: (give) => (hint = give),
        canMove: background !== undefined && printer.target === process.stdout,
      });
      signals.stop();
      if (moved && run.state.status === "paused" && background) return await background(run.id);
      writeEnd(run.state, { look, out: printer.out });
    } else await followInLines(run, { flags, look, attended, since, printer, interrupt, tell });
  } finally {
    signals.stop();
  }
  await printer.end(run.state);
  return exitCodeFor(run.state, signals);
}

type LineOptions = Readonly<{
  flags: Flags;
  since: number;
  printer: ResultPrinter;
  interrupt(): void;
  tell: TextOptions["tell"] | undefined;
}> &
  Pick<Terminal, "look" | "attended">;

/** Prints a run as lines, for logs, programs and terminals that cannot redraw. */
async function followInLines(
  run: Run,
  { flags, look, attended, since, printer, interrupt, tell }: LineOptions,
): Promise<void> {
  const streamed = printer.format === "stream-json";
  const text = createTextSink({
    out: printer.out,
    err: process.stderr,
    look,
    quiet: flags.quiet ?? false,
    since,
    ...(tell && { tell }),
  });
  const { keys, person } = openTerminal(text, { attended, interrupt });
  keys?.start();
  try {
    // Without a terminal the run fails instead of asking.
    await Promise.all([
      streamed ? writeJsonLines(run, printer.out, { deltas: flags.deltas ?? false }) : text.follow(run),
      attended ? answerGates(run, person, answering(run, since, text.say)) : undefined,
    ]);
  } finally {
    keys?.stop();
  }
  if (!streamed) text.end(run);
}

/** The exit code for the end of a run. For a paused run, the exit code of the signal that paused it. */
export function exitCodeFor(state: State, signals: Pick<Signals, "code">): number {
  if (state.status === "paused" || !state.outcome) return signals.code() ?? PAUSED;
  return exitCodeOfRun(state);
}

/** The exit code after `subcrew stop` or Ctrl-C. */
const PAUSED = 130;

/**
 * Input at a terminal that cannot redraw: the keyboard, and a function that asks the person questions while other
 * output waits.
 */
export type Seat = Readonly<{ keys: RawInput | undefined; person: AskPerson }>;

export function openTerminal(
  { pause, resume }: Pick<TextSink, "pause" | "resume">,
  { attended, interrupt }: Readonly<{ attended: boolean; interrupt(): void }>,
): Seat {
  const keys = attended
    ? createRawInput({
        key: ({ ctrl, name }) => {
          if (ctrl && name === "c") interrupt();
        },
        closed: () => {},
        suspend: pause,
        resume,
        paste: false,
        draws: false,
      })
    : undefined;
  const person = askPerson({
    interrupt,
    pause: () => {
      keys?.stop();
      pause();
    },
    resume: () => {
      keys?.start();
      resume();
    },
  });
  return { keys, person };
}
