import { Option } from "commander";
import type { KeptEvent } from "../../core/run/event.ts";
import { deniedText } from "../../core/run/kept-event.ts";
import { cutTail } from "../../core/text/cut.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { terminalLine } from "../../core/view/words.ts";
import type { CliCommand } from "../base/command.ts";
import { colorOption, jsonOption } from "../base/flags.ts";

/** The command `subcrew logs RUN`. */
export const logs: CliCommand = {
  description: "Prints what happened in a run, from its journal.",
  words: "[run]",
  usage: "RUN",
  options: [
    new Option("-f, --follow", "follow the run until it ends"),
    new Option("-v, --verbose", "also print prompts, thinking, answers and results of tools"),
    jsonOption(),
    colorOption(),
  ],
  examples: [
    ["subcrew logs -f nightly", "follow the run until it ends"],
    ["subcrew logs run_4k2x/build -v", "one task, with prompts, answers and tool results"],
    ["subcrew logs run_4k2x --json", "every event as it was recorded"],
  ],
  act: async ([word], flags) => {
    const [{ findRun, warnOfDamage }, { stdoutLook }, { lineFor }, { writeLine }, { emptyState, reduce }] =
      await Promise.all([
        import("./find-run.ts"),
        import("../base/terminal.ts"),
        import("../../sinks/plain.ts"),
        import("../../sinks/jsonl.ts"),
        import("../../core/run/state.ts"),
      ]);
    const { crew, run, path } = await findRun(word);
    const look = stdoutLook(flags, crew.settings.config);
    const over = new AbortController();
    const stop = (): void => over.abort();
    process.once("SIGINT", stop);
    process.stdout.once("error", stop);
    const last = flags.follow ? Number.POSITIVE_INFINITY : run.state.seq;
    if (last === 0) return 0;
    const state = emptyState(run.id);
    const named = new Set<string>();
    for await (const event of crew.kept.events(run.id, over.signal)) {
      if (event.seq > last) break;
      reduce(state, event);
      if (path === undefined || event.path === path || event.path.startsWith(`${path}/`)) {
        if (flags.json) await writeLine(process.stdout, event);
        else {
          const line =
            event.type === "run.ended" ? `end     ${event.outcome.status}` : lineFor(event, state, look, named);
          if (line !== undefined) process.stdout.write(`${new Date(event.at).toISOString()}  ${line}\n`);
          if (flags.verbose) process.stdout.write(detailsOf(event));
        }
      }
      if (event.seq === last) break;
    }
    warnOfDamage(run);
    return 0;
  },
};

/** The texts of an event, indented; very long texts are cut. */
function detailsOf(event: KeptEvent): string {
  const texts = textsOf(event).filter(([, text]) => text.trim() !== "");
  return texts
    .map(([title, text]) => {
      const { text: shown, cut } = cutTail(text.trim(), { bytes: MOST_BYTES, lines: MOST_LINES });
      const more = cut ? "[the beginning was cut; see `subcrew show --full`]\n" : "";
      return `${`${terminalLine(title)}:\n${sanitize(`${more}${shown}`).replace(/^/gm, "  ")}`.replace(/^/gm, "    ")}\n`;
    })
    .join("");
}

const MOST_BYTES = 8_000;
const MOST_LINES = 100;

function textsOf(event: KeptEvent): readonly (readonly [title: string, text: string])[] {
  switch (event.type) {
    case "node.started":
      return [["prompt", event.prompt ?? ""]];
    case "turn.ended":
      return [
        ["thinking", event.thinking ?? ""],
        ["answer", event.text],
        ...event.calls.map(({ name, input }) => [`call of ${name}`, JSON.stringify(input)] as const),
      ];
    case "tool.denied":
      return [[`result of ${event.tool}`, deniedText(event)]];
    case "tool.ended":
    case "tool.rejected":
      return [[`result of ${event.tool}`, event.text]];
    default:
      return [];
  }
}
