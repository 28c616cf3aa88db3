import { startTimer } from "../../runtime/async/long-timer.ts";
import { Option } from "commander";
import { exitCodeOfRun } from "../../core/run/result.ts";
import { resultOf } from "../../core/run/result.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import { type ParkedRun, parkedRun, parkedUntil } from "../../core/run/parked-run.ts";
import { isEnded, openQuestions } from "../../core/run/run-status.ts";
import { emptyState, reduce } from "../../core/run/state.ts";
import { CrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { doingOf } from "../../sinks/status-text.ts";
import { progressOf, progressWords } from "../../core/view/nodes.ts";
import { terminalLine } from "../../core/view/words.ts";
import { following } from "../../runtime/async/cancel.ts";
import type { KeptRun } from "../../runtime/background/kept-run.ts";
import type { CliCommand } from "../base/command.ts";
import { type Flags, jsonOption, spanOf } from "../base/flags.ts";

const TIMED_OUT = 4;
const INTERRUPTED = 1;
const PARKED = 1;
const ASKED = 3;

/** The command `subcrew wait RUN...`. */
export const wait: CliCommand = {
  description:
    "Waits until runs have ended. The exit code is that of the run; for several runs it is the highest of them.",
  words: "[runs...]",
  usage: "RUN...",
  options: [
    new Option(
      "--until <state>",
      "ended: wait for the end; parked: also return when every task is parked, exit code 1; question: also return when a person has to answer, exit code 3",
    )
      .choices(["ended", "parked", "question"])
      .default("ended"),
    new Option("--timeout <duration>", "maximum time to wait; when it is over, the exit code is 4").argParser(
      spanOf("--timeout", "10m"),
    ),
    jsonOption(),
  ],
  examples: [
    ["subcrew wait nightly --timeout 30m && subcrew result nightly", "wait for a run, then print its result"],
    ["subcrew wait nightly --until question || subcrew inbox", "wait until the run needs you"],
  ],
  notes:
    "A paused or interrupted run does not continue by itself, so the command does not wait for it: exit code 1. The command waits for a parked run and prints the reason.",
  act: async (words, flags) => {
    if (words.length === 0)
      throw new CrewError(
        "BAD_INPUT",
        "No run given.",
        "Give the id of the run, the beginning of the id, the name of the run, or `last` for the newest run; `subcrew ps` lists them.",
      );
    const { findRun } = await import("./find-run.ts");
    const over = new AbortController();
    process.once("SIGINT", () => process.exit(130));
    const clear = flags.timeout === undefined ? undefined : startTimer(() => over.abort(), flags.timeout);
    const all = await Promise.all(words.map((word) => findRun(word)));
    const say = (parked: ParkedRun, id: string): void => {
      if (!flags.json) process.stderr.write(`${parkedText(parked, id)}\n`);
    };
    const runs = await Promise.all(
      all.map(async ({ crew, run }) => {
        const stop = following(over.signal);
        if (!flags.json && run.owner !== undefined) process.stderr.write(`${run.id}  waiting: ${waitsFor(run)}\n`);
        const parked = watchWaiting(crew.kept.events(run.id, stop.controller.signal), run.id, {
          parked: (why) => {
            if (flags.until === "parked") stop.controller.abort();
            else say(why, run.id);
          },
          asked: () => {
            if (flags.until === "question") stop.controller.abort();
          },
        });
        const ended = await crew.kept.ended(run.id, stop.controller.signal);
        stop.controller.abort();
        await parked;
        return ended;
      }),
    );
    clear?.();
    for (const run of runs) {
      const parked = run.life === "parked" ? parkedRun(run.state) : undefined;
      if (flags.json)
        process.stdout.write(
          `${jsonText({ status: run.life, ...(isEnded(run.life) ? { result: resultOf(run.state) } : { id: run.id }), ...defined({ parked }) })}\n`,
        );
      else if (parked) say(parked, run.id);
      else process.stderr.write(`${run.id}  ${run.life}${isIdle(run) ? `: subcrew resume ${run.id}` : ""}\n`);
    }
    return Math.max(...runs.map((run) => codeUntil(run, flags.until)));
  },
};

function codeUntil(run: KeptRun, until: Flags["until"]): number {
  if (until === "parked" && run.life === "parked") return PARKED;
  return until === "question" && openQuestions(run.state).length > 0 && !isEnded(run.life) ? ASKED : codeOf(run);
}

/** Short text about what a run is doing or waiting for. */
function waitsFor({ state, life }: KeptRun): string {
  const [question] = openQuestions(state);
  if (question) return `the run asks a question, see \`subcrew inbox\``;
  return [life, ...progressWords(progressOf(state)), doingOf(state)].filter((part) => part !== "").join(", ");
}

function parkedText({ why, helps, command, ...when }: ParkedRun, id: string): string {
  const until = parkedUntil({ why, helps, ...when });
  return [
    `${id}  parked: ${terminalLine(why)}${until === "" ? "" : ` (${until})`}`,
    ...(helps === "" ? [] : [`  ${terminalLine(helps)}`]),
    `  to continue now: ${command}`,
  ].join("\n");
}

/**
 * Calls back when a run has been parked, or has had an open question, for a moment. Shorter waits are ignored: while
 * the run's record is read from its beginning, waits that ended long ago appear and disappear again.
 */
async function watchWaiting(
  events: AsyncIterable<KeptEvent>,
  id: string,
  { parked, asked }: Readonly<{ parked(why: ParkedRun): void; asked(): void }>,
): Promise<void> {
  const state = emptyState(id);
  let told = "";
  let since = 0;
  let open = 0;
  const timer = setInterval(() => {
    open = openQuestions(state).length > 0 ? open + 1 : 0;
    if (open === MOMENTS) asked();
    const why = parkedRun(state);
    if (!why) since = 0;
    else since += 1;
    if (!why || since < MOMENTS || why.why === told) return;
    told = why.why;
    parked(why);
  }, MOMENT_MS);
  try {
    for await (const event of events) reduce(state, event);
  } finally {
    clearInterval(timer);
  }
}

const MOMENT_MS = 100;
const MOMENTS = 3;

const isIdle = ({ life }: KeptRun): boolean => life === "interrupted" || life === "paused";

function codeOf(run: KeptRun): number {
  if (isEnded(run.life) && run.state.outcome) return exitCodeOfRun(run.state);
  return run.owner === undefined || run.life === "paused" ? INTERRUPTED : TIMED_OUT;
}
