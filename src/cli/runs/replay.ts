import { Option } from "commander";
import { CrewError } from "../../core/schema/error.ts";
import { pause } from "../../runtime/async/cancel.ts";
import { Run } from "../../runtime/run/run.ts";
import { resultStream } from "../terminal/result-text.ts";
import type { CliCommand } from "../base/command.ts";
import { outputOptions } from "../base/flags.ts";
import { decimalIn } from "../../core/schema/decimal.ts";

/** The longest pause between two events. */
const LONGEST_MS = 5_000;

/** The command `subcrew replay RUN`. */
export const replay: CliCommand = {
  description: "Plays back a recorded run. Calls no model and no tool.",
  words: "[run]",
  usage: "RUN",
  options: [
    new Option("--speed <factor>", "playback speed as a factor; 0 prints everything at once (default: 10)").argParser(
      speedOf,
    ),
    ...outputOptions().filter(({ long }) => long !== "--deltas"),
  ],
  examples: [
    ["subcrew replay nightly", "ten times as fast as the original run"],
    ["subcrew replay run_4k2x --speed 0", "at once"],
  ],
  act: async ([word], flags) => {
    const [
      { findRun, warnOfDamage },
      { terminal },
      { RunScreen },
      { runViewOn, writeEnd },
      { createTextSink },
      { writeJsonLines },
    ] = await Promise.all([
      import("./find-run.ts"),
      import("../base/terminal.ts"),
      import("../watch/run-screen.ts"),
      import("../watch/run-output.ts"),
      import("../../sinks/text.ts"),
      import("../../sinks/jsonl.ts"),
    ]);
    const { crew, run } = await findRun(word);
    const { events } = await crew.kept.records(run.id);
    warnOfDamage(run);
    const { look, live } = terminal(flags, crew.settings.config);
    const { speed = 10 } = flags;
    let now = events[0]?.at ?? 0;
    const view = new Run(run.id, async (it) => {
      for (const event of events) {
        if (speed > 0) await pause(Math.min(LONGEST_MS, Math.max(0, event.at - now) / speed), it.signal);
        if (it.signal.aborted) return;
        now = event.at;
        it.publish(event);
      }
    });
    const out = flags.json ? process.stdout : resultStream();
    const quiet = flags.quiet ?? false;
    process.once("SIGINT", () => view.cancel("stopped with Ctrl-C"));
    if (flags.json) await writeJsonLines(view, process.stdout);
    else if (live && speed > 0 && !quiet) {
      const ignore = (): void => {};
      const screen = new RunScreen({
        look,
        key: ignore,
        closed: ignore,
        hint: () => "",
        reads: false,
        clock: () => now,
      });
      screen.open();
      await screen.show(view, { view: runViewOn(screen, { look, out }) }).finally(() => screen.close());
      writeEnd(view.state, { look, out });
    } else {
      const text = createTextSink({ out, err: process.stderr, look, quiet, since: 0 });
      await text.follow(view);
      text.end(view);
    }
    return 0;
  },
};

function speedOf(text: string): number {
  const factor = decimalIn(text.replace(/x$/, ""));
  if (factor !== undefined) return factor;
  throw new CrewError(
    "BAD_INPUT",
    `--speed cannot be "${text}".`,
    "Give a factor, as in --speed 10, or 0 to print everything at once.",
  );
}
