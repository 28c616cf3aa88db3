import { basename } from "node:path";
import { Option } from "commander";
import type { Config } from "../../core/config/config.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import { eventsOfPegasusLog, isPegasusRecord } from "../../compat/pegasus/pegasus-log.ts";
import { CrewError } from "../../core/schema/error.ts";
import { readRegularFile } from "../../runtime/disk/regular-file.ts";
import { pause } from "../../runtime/async/cancel.ts";
import { Run } from "../../runtime/run/run.ts";
import { recordsInFile } from "../../runtime/store/journal-records.ts";
import { resultStream } from "../terminal/result-text.ts";
import type { CliCommand } from "../base/command.ts";
import { outputOptions } from "../base/flags.ts";
import { decimalIn } from "../../core/schema/decimal.ts";
import { DEEPEST_RECORD, parseJson } from "../../core/text/json.ts";

/** The longest pause between two events. */
const LONGEST_MS = 5_000;

/** The command `subcrew replay RUN`. */
export const replay: CliCommand = {
  description:
    "Plays back a recorded run, or a journal or pegasus task log from a .jsonl file. Calls no model and no tool.",
  words: "[run]",
  usage: "RUN | FILE.jsonl",
  options: [
    new Option("--speed <factor>", "playback speed as a factor; 0 prints everything at once (default: 10)").argParser(
      speedOf,
    ),
    ...outputOptions().filter(({ long }) => long !== "--deltas"),
  ],
  examples: [
    ["subcrew replay nightly", "ten times as fast as the original run"],
    ["subcrew replay run_4k2x --speed 0", "at once"],
    ["subcrew replay data/tasks/2026-02-25/task1.jsonl", "the log of a pegasus task"],
  ],
  act: async ([word], flags) => {
    const [{ warnOfDamage }, { terminal }, { createRunScreen }, { createTextSink }, { writeJsonLines }] =
      await Promise.all([
        import("./find-run.ts"),
        import("../base/terminal.ts"),
        import("../watch/run-screen.ts"),
        import("../../sinks/text.ts"),
        import("../../sinks/jsonl.ts"),
      ]);
    const { id, events, problems, settings } = await recordOf(word);
    warnOfDamage({ problems });
    const { look, live } = terminal(flags, settings);
    const { speed = 10 } = flags;
    let now = events[0]?.at ?? 0;
    const view = new Run(id, async (it) => {
      for (const event of events) {
        if (speed > 0) await pause(Math.min(LONGEST_MS, Math.max(0, event.at - now) / speed), it.signal);
        if (it.signal.aborted) return;
        now = event.at;
        it.publish(event);
      }
    });
    const out = flags.json ? process.stdout : resultStream();
    const err = process.stderr;
    const quiet = flags.quiet ?? false;
    const text =
      live && speed > 0 && !quiet
        ? createRunScreen({ look, out, since: 0, clock: () => now })
        : createTextSink({ out, err, look, quiet, since: 0 });
    process.once("SIGINT", () => view.cancel("stopped with Ctrl-C"));
    if (flags.json) await writeJsonLines(view, process.stdout);
    else {
      await text.follow(view);
      text.end(view);
    }
    return 0;
  },
};

type Record = Readonly<{ id: string; events: readonly KeptEvent[]; problems: readonly string[]; settings: Config }>;

/** The record to replay: the journal of a run, or a file. */
async function recordOf(word: string | undefined): Promise<Record> {
  if (word?.endsWith(".jsonl")) return fileRecord(word);
  const { findRun } = await import("./find-run.ts");
  const { crew, run } = await findRun(word);
  const { events } = await crew.kept.records(run.id);
  return { id: run.id, events, problems: run.problems, settings: crew.settings.config };
}

async function fileRecord(file: string): Promise<Record> {
  const bytes = await readRegularFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw new CrewError(
      "BAD_FILE",
      cause.code === "ENOENT" ? `The file "${file}" does not exist.` : `"${file}" cannot be read: ${cause.message}.`,
      "Check the path; it is relative to the current folder.",
      { cause },
    );
  });
  const settings = (await (await import("../launch/start.ts")).crewFor({})).settings.config;
  const lines = bytes.toString("utf8").split("\n").flatMap(parsedLine);
  if (!lines.some(isPegasusRecord)) {
    const { events, problems } = recordsInFile(bytes);
    if (events[0]) return { id: events[0].run, events, problems, settings };
    throw new CrewError(
      "BAD_FILE",
      `"${file}" is neither the journal of a run nor the log of a pegasus task.`,
      "Give a journal.jsonl, a pegasus task log, or a run; `subcrew runs` lists stored runs.",
    );
  }
  const events = eventsOfPegasusLog(basename(file, ".jsonl"), lines);
  if (events[0]?.type === "run.started") return { id: events[0].run, events, problems: [], settings };
  throw new CrewError(
    "BAD_FILE",
    `"${file}" does not begin with TASK_CREATED.`,
    "Give the complete log file of the task, from its first line on.",
  );
}

/** Parses a line. A line that is not JSON, as a crash leaves one at the end, is skipped. */
function parsedLine(line: string): unknown[] {
  try {
    return line.trim() === "" ? [] : [parseJson(line, DEEPEST_RECORD)];
  } catch {
    return [];
  }
}

function speedOf(text: string): number {
  const factor = decimalIn(text.replace(/x$/, ""));
  if (factor !== undefined) return factor;
  throw new CrewError(
    "BAD_INPUT",
    `--speed cannot be "${text}".`,
    "Give a factor, as in --speed 10, or 0 to print everything at once.",
  );
}
