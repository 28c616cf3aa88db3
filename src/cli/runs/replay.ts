import { Option } from "commander";
import { CrewError } from "../../core/schema/error.ts";
import { pause } from "../../runtime/async/cancel.ts";
import { Run } from "../../runtime/run/run.ts";
import { readJournal } from "../../runtime/store/journal.ts";
import type { CliCommand } from "../base/command.ts";
import { outputOptions } from "../base/flags.ts";

/** A pause between two events is never longer than this. */
const LONGEST_MS = 5_000;

/** `subcrew replay RUN` */
export const replay: CliCommand = {
  description: "Shows a run again as it was, from its journal. No model is asked and no tool is called.",
  words: "[run]",
  usage: "RUN",
  options: [
    new Option("--speed <factor>", "how many times faster than it was; 0 for at once (default: 10)").argParser(speedOf),
    ...outputOptions().filter(({ long }) => long !== "--deltas"),
  ],
  examples: [
    ["subcrew replay nightly", "ten times faster than it was"],
    ["subcrew replay run_4k2x --speed 0", "at once"],
  ],
  act: async ([word], flags) => {
    const [{ findRun }, { terminal }, { showRun }, { writeJsonLines }] = await Promise.all([
      import("./find-run.ts"),
      import("../base/terminal.ts"),
      import("../terminal/show-run.ts"),
      import("../../sinks/jsonl.ts"),
    ]);
    const { run } = await findRun(word);
    const { events } = await readJournal(run.folder);
    const { look, live } = terminal(flags);
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
    const text = showRun(
      { look, live: live && speed > 0 },
      { quiet: flags.quiet ?? false, since: 0, clock: () => now },
    );
    process.once("SIGINT", () => view.cancel("stopped with Ctrl-C"));
    process.once("exit", text.close);
    if (flags.json) await writeJsonLines(view, process.stdout);
    else {
      await text.follow(view);
      text.end(view);
    }
    return 0;
  },
};

function speedOf(text: string): number {
  const factor = /^\d+(?:\.\d+)?x?$/.test(text) ? Number.parseFloat(text) : Number.NaN;
  if (Number.isFinite(factor)) return factor;
  throw new CrewError(
    "BAD_INPUT",
    `--speed cannot be "${text}".`,
    "Give a factor, as in --speed 10, or 0 for at once.",
  );
}
