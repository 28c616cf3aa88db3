import type { Plan } from "../../core/plan/plan.ts";
import type { ResumeOptions } from "../../crew/prepare/run-options.ts";
import { readRequest } from "../../runtime/background/run-request.ts";
import { outputOfRun } from "../../sinks/output.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";
import { crewFor, openOwnStore } from "./start.ts";
import { onSignals } from "../terminal/signals.ts";
import { exitCodeFor } from "../watch/watch-run.ts";

/**
 * `subcrew background-run RUN`: the process that `--bg` starts. It has no terminal; commands to it are files in the
 * run's folder.
 */
export const backgroundRun: CliCommand = {
  description: "Executes a run in the background. Started by --bg, not by people.",
  words: "<run>",
  options: [jsonOption()],
  examples: [],
  act: async ([id = ""]) => {
    const store = openOwnStore();
    const asked = await readRequest(store, id);
    const crew = await crewFor(asked.crew);
    const options = { ...(asked.options as ResumeOptions), ownProcess: true };
    const run = asked.plan === undefined ? crew.resume(id, options) : crew.run(asked.plan as Plan, { ...options, id });
    const signals = onSignals({ pause: (reason) => run.pause(reason) }, ["SIGINT", "SIGTERM"]);
    process.on("SIGHUP", () => {}); // closing the terminal does not end a background run
    await run;
    await store.keep(id, "", outputOfRun(run.state)).catch(() => {});
    // No process waits for the result, so task outputs are written to files.
    const ended = [...run.state.nodes.values()].filter(({ outcome }) => outcome?.artifact !== undefined);
    for (const { path } of ended) await store.file(id, path).catch(() => undefined);
    return exitCodeFor(run.state, signals);
  },
};
