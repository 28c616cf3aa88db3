import { exitCodeOf } from "../../core/outcome/outcome.ts";
import type { State } from "../../core/run/state.ts";
import { defined } from "../../core/text/defined.ts";
import type { Look } from "../../core/view/look.ts";
import { facadeOf } from "../../core/vocabulary/delegation-names.ts";
import type { Run } from "../../runtime/run/run.ts";
import { writeJsonLines } from "../../sinks/jsonl.ts";
import type { TextOptions, TextSink } from "../../sinks/text.ts";
import { type Boxes, createBoxes } from "../../tui/boxes.ts";
import type { Flags } from "../base/flags.ts";
import type { Terminal } from "../base/terminal.ts";
import { type AskPerson, answerGates, answering, askPerson, yes } from "./gates.ts";
import { type Keyboard, keyboard } from "./keyboard.ts";
import { openResult } from "./print-result.ts";
import { showRun } from "./show-run.ts";
import { onSignals, type Signals } from "./signals.ts";

/** Shows a run until its end, asks its questions and handles signals. Returns the exit code. */
export async function watchRun(
  run: Run,
  flags: Flags,
  { look, live, attended }: Terminal,
  tell?: TextOptions["tell"],
): Promise<number> {
  const since = Date.now();
  const printer = await openResult(flags);
  const isStreamed = printer.format === "stream-json";
  const text = showRun(
    { look, live },
    {
      out: printer.out,
      quiet: flags.quiet ?? false,
      since,
      interrupt: "Ctrl-C pauses",
      ...defined({ tell }),
    },
  );
  const signals = onSignals({
    pause: (reason) => {
      text.hint("pausing; Ctrl-C again exits at once");
      run.pause(reason);
    },
  });
  process.once("exit", text.close); // however we leave, the terminal is as it was
  process.stdout.once("error", () => run.pause("the output was closed"));
  const { keys, person } = openTerminal(text, { attended, interrupt: signals.interrupt });
  const show = isStreamed ? writeJsonLines(run, printer.out, { deltas: flags.deltas ?? false }) : text.follow(run);
  try {
    // Without a terminal the run fails instead of asking.
    await Promise.all([
      show,
      keys?.hold(),
      flags.yes || attended
        ? answerGates(run, (asked, signal) => (flags.yes && asked.call === undefined ? yes : person)(asked, signal), {
            ...answering(run, since, text.say),
            calls: attended,
          })
        : undefined,
    ]);
  } finally {
    keys?.release();
    text.close();
    signals.stop();
  }
  if (!isStreamed) text.end(run);
  await printer.end(run.state);
  return exitCodeFor(run.state, signals);
}

/** As the run ended; one that is paused, as the signal asks that paused it. */
export function exitCodeFor({ outcome, status }: State, signals: Pick<Signals, "code">): number {
  if (status === "paused" || !outcome) return signals.code() ?? PAUSED;
  return exitCodeOf(outcome);
}

/** `stop` and Ctrl-C. */
const PAUSED = 130;

/** What a person at the terminal uses: keys that do not disturb what is shown, and questions that have the terminal to themselves. */
export type Seat = Readonly<{ keys: Keyboard | undefined; person: AskPerson }>;

export function openTerminal(
  { pause, resume }: Pick<TextSink, "pause" | "resume">,
  { attended, interrupt }: Readonly<{ attended: boolean; interrupt(): void }>,
): Seat {
  const keys = attended ? keyboard({ interrupt, pause, resume }) : undefined;
  const person = askPerson({
    interrupt,
    pause: () => {
      keys?.release();
      pause();
    },
    resume: async () => {
      await keys?.hold();
      resume();
    },
  });
  return { keys, person };
}

/** The boxes of the agents that a main agent starts, as wide as the terminal is. */
export function boxesOn(look: Look): Boxes {
  return createBoxes({
    look,
    columns: () => process.stderr.columns || 80,
    delegates,
  });
}

/** Whether a tool starts agents. */
export const delegates = (tool: string): boolean => facadeOf(tool) !== undefined;
