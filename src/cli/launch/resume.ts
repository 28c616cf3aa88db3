import { existsSync } from "node:fs";
import { Option } from "commander";
import { exitCodeOf } from "../../core/outcome/outcome.ts";
import { isActive, isEnded } from "../../core/run/run-status.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import type { NodeView, State } from "../../core/run/state.ts";
import { CrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import type { Crew } from "../../crew/crew-type.ts";
import { asPath } from "../../modes/names.ts";
import { pause } from "../../runtime/async/cancel.ts";
import type { CliCommand } from "../base/command.ts";
import { budgetOptions, type Flags, outputOptions, runningOptions } from "../base/flags.ts";
import { permissionFlagsOf } from "../base/permission-flags.ts";
import { printReceipt } from "../terminal/print-receipt.ts";

/** Flags that `resume` does not have, because they were fixed when the run started. */
const settled: ReadonlySet<string> = new Set(["--strict"]);

/** The command `subcrew resume RUN`. */
export const resumeCommand: CliCommand = {
  description:
    "Resumes a paused, interrupted or parked run, or one task of it with the tasks that depend on it. Finished work is not repeated. For an ended run, prints the result; with a message, continues an ended task in a new run.",
  words: "[run] [message...]",
  usage: 'RUN[/TASK] ["MESSAGE"]',
  options: [
    ...[
      new Option("--retry-failed", "also retry failed tasks; with a task given, only that task and its dependants"),
      new Option("--allow-failed", "with a message: also continue a task that failed"),
      new Option(
        "--force",
        "take over a run that another machine has claimed; make sure that machine no longer works on it",
      ),
      new Option("--refresh-agent", "use the current agent definitions, with no more permissions than before"),
    ].map((option) => option.helpGroup("The run:")),
    ...runningOptions().filter(({ long }) => !settled.has(long ?? "")),
    ...budgetOptions(),
    ...outputOptions(),
  ],
  examples: [
    ["subcrew resume run_4k2x", "the beginning of an id is enough"],
    ["subcrew resume run_4k2x --max-usd 5", "raise the limit of a run, also of a run that is parked at the limit"],
    ["subcrew resume nightly --retry-failed", "by its name, retrying failed tasks"],
    ["subcrew resume nightly/docs --retry-failed", "retry one failed task; the others stay as they are"],
    ['subcrew resume run_4k2x/build "Now also for Windows."', "continue the conversation of a task that has ended"],
  ],
  act: async ([word, ...words], flags) => {
    if (word === undefined)
      throw new CrewError(
        "BAD_INPUT",
        "No run given.",
        "Give the id of the run, the beginning of the id, the name of the run, or `last` for the newest run; `subcrew runs` lists them.",
      );
    const [
      { watchRun },
      { crewFor, intoBackground, openOwnStore },
      { runOptionsOf },
      { terminal },
      { readPrompt },
      { hasTask, readRecordedRun, unknownTask },
      { runNamed },
    ] = await Promise.all([
      import("../watch/watch-run.ts"),
      import("./start.ts"),
      import("./settings.ts"),
      import("../base/terminal.ts"),
      import("./mode.ts"),
      import("../../runtime/resume/recorded-run.ts"),
      import("../../runtime/store/run-id.ts"),
    ]);
    const [name = "", path] = [
      word.split("/")[0],
      word.includes("/") ? asPath(word.slice(word.indexOf("/") + 1)) : undefined,
    ];
    const message = (await readPrompt(words)).trim();
    const store = openOwnStore();
    const found = await runNamed(store, name);
    if (message === "" && path === undefined)
      await takeOver(store, found, { quiet: flags.quiet === true || flags.json === true });
    const recorded = await readRecordedRun(store, found);
    const { id, state } = recorded;
    if (message === "" && path !== undefined && !hasTask(state, path)) throw unknownTask(state, path);
    const { cwd, status, permissions, settings } = state;
    const over =
      isEnded(status === "starting" || status === "skipped" ? "interrupted" : status) &&
      !(status === "failed" && flags.retryFailed);
    const isGone = flags.cwd === undefined && cwd !== "" && !existsSync(cwd);
    // The recorded result of a run that has ended is shown without its folder.
    if (isGone && !(over && message === ""))
      throw new CrewError(
        "BAD_FILE",
        `The folder of the run no longer exists: ${cwd}.`,
        "Restore the folder, or give its new location with --cwd.",
      );
    // Recorded permissions of the command line apply again; those of the settings only as the settings are now.
    const all: Flags = {
      ...permissionFlagsOf(permissions, settings?.permissions),
      ...(cwd !== "" && !isGone && { cwd }),
      ...flags,
    };
    const crew = await crewFor(all);
    const place = terminal(flags, crew.settings.config);
    const { name: _name, ...wished } = runOptionsOf(flags, place);
    const options = { ...wished, ...(flags.refreshAgent && { refreshAgent: true }) };
    if (message === "") {
      const owner = await store.owner(id);
      if (owner?.host !== undefined && !flags.force) throw claimedElsewhere(id, owner.host);
      if (owner !== undefined && owner.host === undefined) return goOn(crew, { id, path, state }, flags);
      const more = {
        ...options,
        ownProcess: true,
        force: flags.force ?? false,
        retryFailed: flags.retryFailed ?? false,
        ...defined({ task: path }),
      };
      if (flags.bg && !over) return (await import("./background.ts")).resumeInBackground(crew, id, more, all);
      const run = crew.resume(recorded, more);
      const background = intoBackground(crew, all, place);
      const code = await watchRun(run, flags, place, { crew, background });
      const outcome = path === undefined ? undefined : run.state.nodes.get(path)?.outcome;
      // Only the named task is resumed; the rest of the run stays paused.
      return run.state.status === "paused" && outcome ? exitCodeOf(outcome) : code;
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
    return watchRun(crew.run(plan, { ...more, ownProcess: true, continued }), flags, place, {
      crew,
      background: intoBackground(crew, all, place),
    });
  },
};

const claimedElsewhere = (id: string, host: string): CrewError =>
  new CrewError(
    "RUN_BUSY",
    `The run "${id}" runs on the machine "${host}", according to the last record.`,
    `Stop the run on that machine. If that machine no longer runs it: \`subcrew resume ${id} --force\`.`,
  );

/** Retries failed tasks of a run that is still running. */
async function goOn(
  crew: Crew,
  { id, path, state }: Readonly<{ id: string; path: string | undefined; state: State }>,
  { retryFailed, json }: Flags,
): Promise<number> {
  const isRetried = path !== undefined || [...state.nodes.values()].some(({ status }) => status === "failed");
  if (!retryFailed || !isRetried)
    throw new CrewError(
      "RUN_BUSY",
      `Another process is working on the run "${id}".`,
      `Watch the run: \`subcrew attach ${id}\`, or pause the run first: \`subcrew stop ${id}\`.`,
    );
  return printReceipt(id, await crew.open(id).retry(path), { ...defined({ json }) });
}

/** The time limit for the process of a run with parked tasks to release the run. */
const LEAVE_MS = 15_000;

const isParkedTask = ({ parked, status }: NodeView): boolean => parked !== undefined && status === "running";

/**
 * Takes a run with parked tasks (tasks that wait for a provider) over from its process, to resume it with the keys and
 * limits of this command. The other process pauses the run and releases it. Its running tasks continue from their
 * recorded turns.
 */
async function takeOver(store: RunStore, id: string, { quiet }: { quiet: boolean }): Promise<void> {
  const owner = await store.owner(id);
  if (owner === undefined || owner.host !== undefined) return;
  const { keptRuns } = await import("../../runtime/background/stored-runs.ts");
  const kept = keptRuns(store);
  const { life, state } = await kept.look(id);
  if (life !== "parked" && !(isActive(life) && [...state.nodes.values()].some(isParkedTask))) return;
  const signal = AbortSignal.timeout(LEAVE_MS);
  if (!quiet)
    process.stderr.write(`Tasks of ${id} wait in another process. That process now hands the run over to this one.\n`);
  await kept.tell(id, { do: "pause", reason: "resumed by another process" }, { waitMs: 1_000, signal });
  await kept.ended(id, signal);
  while ((await store.owner(id)) !== undefined && (await pause(20, signal)));
}
