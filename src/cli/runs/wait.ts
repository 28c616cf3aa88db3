import { startTimer } from "../../runtime/async/long-timer.ts";
import { Option } from "commander";
import { exitCodeOf } from "../../core/outcome/outcome.ts";
import { resultOf } from "../../core/run/result.ts";
import { isEnded } from "../../core/run/run-status.ts";
import { CrewError } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { KeptRun } from "../../runtime/background/stored-runs.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption, spanOf } from "../base/flags.ts";

const TIMED_OUT = 4;
const INTERRUPTED = 1;

/** `subcrew wait RUN...` */
export const wait: CliCommand = {
  description: "Waits until runs have ended. The exit code is that of the run, of several the highest.",
  words: "[runs...]",
  usage: "RUN...",
  options: [
    new Option("--timeout <span>", "wait no longer than this; exit code 4").argParser(spanOf("--timeout", "10m")),
    jsonOption(),
  ],
  examples: [["subcrew wait nightly --timeout 30m && subcrew result nightly", "wait for one, then show its result"]],
  notes: "A run that is paused or interrupted does not go on by itself, so it is not waited for: exit code 1.",
  act: async (words, flags) => {
    if (words.length === 0)
      throw new CrewError(
        "BAD_INPUT",
        "No run given.",
        "Give its id, the beginning of it, or its name; `subcrew ps` lists them.",
      );
    const { findRun } = await import("./find-run.ts");
    const over = new AbortController();
    process.once("SIGINT", () => process.exit(130));
    const clear = flags.timeout === undefined ? undefined : startTimer(() => over.abort(), flags.timeout);
    const all = await Promise.all(words.map((word) => findRun(word)));
    const runs = await Promise.all(all.map(({ crew, run }) => crew.kept.ended(run.id, over.signal)));
    clear?.();
    for (const run of runs) {
      if (flags.json)
        process.stdout.write(
          `${jsonText({ status: run.life, ...(isEnded(run.life) ? { result: resultOf(run.state) } : { id: run.id }) })}\n`,
        );
      else process.stderr.write(`${run.id}  ${run.life}${isIdle(run) ? `: subcrew resume ${run.id}` : ""}\n`);
    }
    return Math.max(...runs.map(codeOf));
  },
};

const isIdle = ({ life }: KeptRun): boolean => life === "interrupted" || life === "paused";

function codeOf(run: KeptRun): number {
  if (isEnded(run.life) && run.state.outcome) return exitCodeOf(run.state.outcome);
  return run.owner === undefined || run.life === "paused" ? INTERRUPTED : TIMED_OUT;
}
