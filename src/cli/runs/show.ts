import { Option } from "commander";
import { CrewError } from "../../core/schema/error.ts";
import type { CliCommand } from "../base/command.ts";
import { colorOption } from "../base/flags.ts";

/** The command `subcrew show RUN`. */
export const showCommand: CliCommand = {
  description:
    "Shows what a run, or one task of it, did: prompts, answers, tool calls with their results, questions, warnings and the cost of each turn.",
  words: "[run]",
  usage: "RUN[/TASK]",
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
  ],
  notes: "On a terminal the text opens in $PAGER (less by default). Naming a task includes the agents that it started.",
  act: async ([word], flags) => {
    if (flags.markdown && flags.html)
      throw new CrewError("BAD_INPUT", "--markdown and --html cannot be combined.", "Give one of them.");
    const [{ findRun, warnOfDamage }, { stdoutLook }, { transcriptsOf }, { printPaged }] = await Promise.all([
      import("./find-run.ts"),
      import("../base/terminal.ts"),
      import("../../core/view/transcript.ts"),
      import("../base/pager.ts"),
    ]);
    const { crew, run, path } = await findRun(word);
    const events = [];
    const over = new AbortController();
    for await (const event of crew.kept.events(run.id, over.signal)) {
      if (path === undefined || event.path === path || event.path.startsWith(`${path}/`)) events.push(event);
      if (event.seq >= run.state.seq) break;
    }
    over.abort();
    warnOfDamage(run);
    const transcripts = transcriptsOf(events);
    const title = run.state.name ?? run.id;
    if (flags.markdown)
      process.stdout.write((await import("../../sinks/transcript/markdown.ts")).transcriptMarkdown(title, transcripts));
    else if (flags.html)
      process.stdout.write((await import("../../sinks/transcript/html.ts")).transcriptHtml(title, transcripts));
    else {
      const { transcriptText } = await import("../../sinks/transcript/text.ts");
      const look = stdoutLook(flags, crew.settings.config);
      await printPaged(transcriptText(transcripts, { look, full: flags.full ?? false }), {
        pager: flags.pager !== false,
      });
    }
    return 0;
  },
};
