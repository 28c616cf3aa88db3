import { Option } from "commander";
import type { CliCommand } from "../base/command.ts";
import { jsonOption, outputOptions } from "../base/flags.ts";

/** `subcrew logs RUN` */
export const logs: CliCommand = {
  description: "Prints what happened in a run, from its journal.",
  words: "[run]",
  usage: "RUN",
  options: [
    new Option("-f, --follow", "go on while the run does"),
    jsonOption(),
    ...outputOptions().filter(({ long }) => long === "--no-color"),
  ],
  examples: [
    ["subcrew logs -f nightly", "until it ends"],
    ["subcrew logs run_4k2x --json", "every event as it was recorded"],
  ],
  act: async ([word], flags) => {
    const [{ findRun, warnOfDamage }, { terminal }, { lineFor }, { writeLine }, { emptyState, reduce }] =
      await Promise.all([
        import("./find-run.ts"),
        import("../base/terminal.ts"),
        import("../../sinks/plain.ts"),
        import("../../sinks/jsonl.ts"),
        import("../../core/run/state.ts"),
      ]);
    const { crew, run, path } = await findRun(word);
    const { look } = terminal(flags);
    const over = new AbortController();
    const stop = (): void => over.abort();
    process.once("SIGINT", stop);
    process.stdout.once("error", stop);
    const last = flags.follow ? Number.POSITIVE_INFINITY : run.state.seq;
    if (last === 0) return 0;
    const state = emptyState(run.id);
    for await (const event of crew.kept.events(run.id, over.signal)) {
      if (event.seq > last) break;
      reduce(state, event);
      if (path === undefined || event.path === path || event.path.startsWith(`${path}/`)) {
        if (flags.json) await writeLine(process.stdout, event);
        else {
          const line = event.type === "run.ended" ? `end     ${event.outcome.status}` : lineFor(event, state, look);
          if (line !== undefined) process.stdout.write(`${new Date(event.at).toISOString()}  ${line}\n`);
        }
      }
      if (event.seq === last) break;
    }
    warnOfDamage(run);
    return 0;
  },
};
