import { existsSync } from "node:fs";
import { Option } from "commander";
import { isEnded } from "../../core/run/run-status.ts";
import { CrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import type { CliCommand } from "../base/command.ts";
import { budgetOptions, type Flags, outputOptions, runningOptions } from "../base/flags.ts";
import { permissionFlagsOf } from "../base/permission-flags.ts";

/** What was settled when the run began stays as it was. */
const settled: ReadonlySet<string> = new Set(["--strict"]);

/** `subcrew resume RUN` */
export const resumeCommand: CliCommand = {
  description:
    "Resumes a run that was stopped; nothing that is done is done again. Of a run that has ended, shows the result; with a message, a task that has ended goes on with it in a new run.",
  words: "[run] [message...]",
  usage: 'RUN[/TASK] ["MESSAGE"]',
  options: [
    ...[
      new Option("--retry-failed", "try again what failed, too"),
      new Option("--allow-failed", "with a message: also go on with a task that failed"),
      new Option("--refresh-agent", "take agents as they are now; they may use no more than before"),
    ].map((option) => option.helpGroup("The run:")),
    ...runningOptions().filter(({ long }) => !settled.has(long ?? "")),
    ...budgetOptions(),
    ...outputOptions(),
  ],
  examples: [
    ["subcrew resume run_4k2x", "the beginning of an id is enough"],
    ["subcrew resume nightly --retry-failed", "by its name, and with another try for what failed"],
    ['subcrew resume run_4k2x/build "Now also for Windows."', "go on with a task that has ended, in its own words"],
  ],
  act: async ([word, ...words], flags) => {
    if (word === undefined)
      throw new CrewError(
        "BAD_INPUT",
        "No run given.",
        "Give its id, the beginning of it, or its name; `subcrew runs` lists them.",
      );
    const [{ watchRun }, { crewFor, openOwnStore, runOptionsOf }, { terminal }, { readPrompt }, { readRecordedRun }] =
      await Promise.all([
        import("../terminal/watch-run.ts"),
        import("./start.ts"),
        import("../base/terminal.ts"),
        import("./mode.ts"),
        import("../../runtime/resume/recorded-run.ts"),
      ]);
    const place = terminal(flags);
    const [name = "", path] = [word.split("/")[0], word.includes("/") ? word.slice(word.indexOf("/") + 1) : undefined];
    const message = (await readPrompt(words)).trim();
    const store = openOwnStore();
    const recorded = await readRecordedRun(store, await store.find(name));
    const { id, state } = recorded;
    const { cwd, status, permissions } = state;
    if (flags.cwd === undefined && cwd !== "" && !existsSync(cwd))
      throw new CrewError(
        "BAD_FILE",
        `The folder of the run no longer exists: ${cwd}.`,
        "Restore it, or give its new place with --cwd.",
      );
    // What it was allowed when it began it still is, and no more.
    const all: Flags = { ...permissionFlagsOf(permissions), ...(cwd !== "" && { cwd }), ...flags };
    const crew = await crewFor(all);
    const { name: _name, ...wished } = runOptionsOf(flags, place);
    const options = { ...wished, ...(flags.refreshAgent && { refreshAgent: true }) };
    if (message === "") {
      const more = { ...options, retryFailed: flags.retryFailed ?? false };
      const over =
        isEnded(status === "starting" || status === "skipped" ? "interrupted" : status) &&
        !(status === "failed" && flags.retryFailed);
      if (flags.bg && !over) return (await import("./background.ts")).resumeInBackground(crew, id, more, all);
      return watchRun(crew.resume(recorded, more), flags, place);
    }
    const asked = {
      run: recorded,
      prompt: message,
      allowFailed: flags.allowFailed ?? false,
      ...defined({ path }),
    };
    const { plan, continues, continued } = await crew.continuing(asked);
    const more = { ...options, continues, ...defined({ name: flags.name }) };
    if (flags.bg) return (await import("./background.ts")).runInBackground(crew, plan, more, all);
    return watchRun(crew.run(plan, { ...more, continued }), flags, place);
  },
};
