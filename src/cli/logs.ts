import { Option } from "commander";
import type { CommandDefinition } from "./command.ts";
import { jsonOption, outputOptions } from "./flags.ts";

/** `subcrew logs RUN` */
export const logs: CommandDefinition = {
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
    const [{ whichRun }, { terminal }, { lineFor }, { writeLine }, { isKept }] = await Promise.all([
      import("./which-run.ts"),
      import("./terminal.ts"),
      import("../sinks/plain.ts"),
      import("../sinks/jsonl.ts"),
      import("../core/event.ts"),
    ]);
    const { crew, run, path } = await whichRun(word);
    const { look } = terminal(flags);
    const view = crew.kept.follow(run.id);
    const stop = (): void => view.cancel("nobody looks any more");
    process.once("SIGINT", stop);
    process.stdout.once("error", stop);
    const last = flags.follow ? Number.POSITIVE_INFINITY : run.state.seq;
    if (last === 0) return 0;
    for await (const event of view) {
      if (!isKept(event) || event.seq > last) break;
      if (path === undefined || event.path === path || event.path.startsWith(`${path}/`)) {
        if (flags.json) await writeLine(process.stdout, event);
        else {
          const line =
            event.type === "run.ended" ? `end     ${event.outcome.status}` : lineFor(event, view.state, look);
          if (line !== undefined) process.stdout.write(`${new Date(event.at).toISOString()}  ${line}\n`);
        }
      }
      if (event.seq === last) break;
    }
    stop();
    return 0;
  },
};
