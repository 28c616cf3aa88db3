import { basename } from "node:path";
import { Option } from "commander";
import { eventsOfPegasusLog, isPegasusRecord } from "../../compat/pegasus/pegasus-log.ts";
import type { Config } from "../../core/config/config.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import { CrewError } from "../../core/schema/error.ts";
import { DEEPEST_RECORD, parseJson } from "../../core/text/json.ts";
import { readRegularFile } from "../../runtime/disk/regular-file.ts";
import { recordsInFile } from "../../runtime/store/journal-records.ts";
import type { CliCommand } from "../base/command.ts";
import { colorOption } from "../base/flags.ts";

/** The command `subcrew show RUN`. */
export const showCommand: CliCommand = {
  description:
    "Shows what a run, or one task of it, did: prompts, answers, tool calls with their results, questions, warnings and the cost of each turn. A .jsonl file is the journal of a run, or the log of a pegasus task.",
  words: "[run]",
  usage: "RUN[/TASK] | FILE.jsonl",
  options: [
    new Option("--full", "show tool calls and their results whole"),
    new Option("--markdown", "print a Markdown document"),
    new Option("--html", "print one HTML page"),
    new Option("--no-pager", "do not use a pager"),
    colorOption(),
  ],
  examples: [
    ["subcrew show last", "read what the newest run did"],
    ["subcrew show run_4k2x/build --full", "one task, with the complete results of its tools"],
    ["subcrew show nightly --html > nightly.html", "save the transcript as a page"],
    ["subcrew show data/tasks/2026-02-25/task1.jsonl", "the log of a pegasus task"],
  ],
  notes: "On a terminal the text opens in $PAGER (less by default). Naming a task includes the agents that it started.",
  act: async ([word], flags) => {
    if (flags.markdown && flags.html)
      throw new CrewError("BAD_INPUT", "--markdown and --html cannot be combined.", "Give one of them.");
    const [{ warnOfDamage }, { stdoutLook }, { transcriptsOf }, { printPaged }] = await Promise.all([
      import("./find-run.ts"),
      import("../base/terminal.ts"),
      import("../../core/view/transcript.ts"),
      import("../base/pager.ts"),
    ]);
    const { title, events, problems, settings } = word?.endsWith(".jsonl") ? await logIn(word) : await runNamed(word);
    warnOfDamage({ problems });
    const transcripts = transcriptsOf(events);
    if (flags.markdown)
      process.stdout.write((await import("../../sinks/transcript/markdown.ts")).transcriptMarkdown(title, transcripts));
    else if (flags.html)
      process.stdout.write((await import("../../sinks/transcript/html.ts")).transcriptHtml(title, transcripts));
    else {
      const { transcriptText } = await import("../../sinks/transcript/text.ts");
      const look = stdoutLook(flags, settings);
      await printPaged(transcriptText(transcripts, { look, full: flags.full ?? false }), {
        pager: flags.pager !== false,
      });
    }
    return 0;
  },
};

type Shown = Readonly<{ title: string; events: readonly KeptEvent[]; problems: readonly string[]; settings: Config }>;

async function logIn(file: string): Promise<Shown> {
  const { crewFor } = await import("../launch/start.ts");
  return { title: file, ...(await readLog(file)), settings: (await crewFor({})).settings.config };
}

async function runNamed(word: string | undefined): Promise<Shown> {
  const { crew, run, path } = await (await import("./find-run.ts")).findRun(word);
  const events = [];
  const over = new AbortController();
  for await (const event of crew.kept.events(run.id, over.signal)) {
    if (path === undefined || event.path === path || event.path.startsWith(`${path}/`)) events.push(event);
    if (event.seq >= run.state.seq) break;
  }
  over.abort();
  return { title: run.state.name ?? run.id, events, problems: run.problems, settings: crew.settings.config };
}

/** The events in a file: the journal of a run, or the log of a pegasus task. */
async function readLog(file: string): Promise<Pick<Shown, "events" | "problems">> {
  const bytes = await readRegularFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw new CrewError(
      "BAD_FILE",
      cause.code === "ENOENT" ? `The file "${file}" does not exist.` : `"${file}" cannot be read: ${cause.message}.`,
      "Check the path; it is relative to the current folder.",
      { cause },
    );
  });
  const lines = bytes.toString("utf8").split("\n").flatMap(parsedLine);
  if (!lines.some(isPegasusRecord)) {
    const { events, problems } = recordsInFile(bytes);
    if (events.length > 0) return { events, problems };
    throw new CrewError(
      "BAD_FILE",
      `"${file}" is neither the journal of a run nor the log of a pegasus task.`,
      "Give a journal.jsonl, a pegasus task log, or a run; `subcrew runs` lists stored runs.",
    );
  }
  const events = eventsOfPegasusLog(basename(file, ".jsonl"), lines);
  if (events[0]?.type === "run.started") return { events, problems: [] };
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
