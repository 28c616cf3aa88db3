import { spawn } from "node:child_process";
import { openAppend, readRegularText } from "../disk/regular-file.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import { CrewError, isCode, messageOf } from "../../core/schema/error.ts";
import { DEEPEST_RECORD, isRecord, parseJson } from "../../core/text/json.ts";
import { pause } from "../async/cancel.ts";
import { inheritedDescriptors, without } from "../commands/inherited-descriptors.ts";
import { fault } from "../disk/fault-points.ts";
import { reserveSlot } from "./background-slots.ts";
import { type BackgroundRequest, writeRequest } from "./run-request.ts";

/** Timeout for the start of the run. */
const START_MS = 30_000;

/** The request, the process that executes it, and the maximum number of background runs at once. */
export type LaunchSpec = Readonly<{
  request: Omit<BackgroundRequest, "version" | "plan"> & { plan?: unknown };
  process: BackgroundProcess;
  most: number;
}>;

/** Stores the request for a run and starts a process that executes it. */
export async function launchRun(
  store: RunStore,
  { request, process, most }: LaunchSpec,
): Promise<{ id: string; folder: string; outputFile: string }> {
  const { id } = request;
  const log = store.local(id, "log");
  if (log === undefined)
    throw new CrewError(
      "BAD_INPUT",
      "A run without a home folder cannot continue in the background.",
      "Create the crew with a `home` folder.",
    );
  const started = await reserveSlot(store, id, most);
  try {
    await writeRequest(store, { version: 1, ...request, plan: request.plan });
    const outputFile = (await store.file(id, "")) ?? "";
    const since = request.plan === undefined ? ((await store.last(id))?.seq ?? 0) : 0;
    await startProcess(process, { store, id, log, since });
    return { id, folder: store.place(id), outputFile };
  } finally {
    await started();
  }
}

/** A process to start: its command line, working directory and environment. */
export type BackgroundProcess = Readonly<{
  command: readonly [file: string, ...args: string[]];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}>;

/**
 * The run of a process that is being started: the file for its output, and the number of the run's last record before
 * the start.
 */
export type StartingRun = Readonly<{
  store: Pick<RunStore, "first" | "last" | "owner">;
  id: string;
  log: string;
  since?: number;
}>;

/**
 * Starts a process that outlives this process and the terminal, in a session of its own, and waits until its run has
 * started: the journal contains the run, and a living process owns it. If the process reports an error, this function
 * throws the error.
 */
export async function startProcess(
  { command, cwd, env }: BackgroundProcess,
  { store, id, log: logFile, since = 0 }: StartingRun,
): Promise<void> {
  const log = await openAppend(logFile);
  const [file, ...args] = command;
  let over: string | undefined;
  try {
    fault("background.start");
    const child = spawn(...without(inheritedDescriptors(), file, args), {
      cwd,
      env,
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
      windowsHide: true,
    });
    child.once("error", (error) => (over = messageOf(error)));
    child.once("exit", (code, signal) => (over = `its process ended with ${signal ?? `exit code ${code}`}`));
    child.unref();
    fault("background.started");
  } finally {
    await log.close();
  }
  const never = new AbortController().signal;
  for (const until = performance.now() + START_MS; performance.now() < until; await pause(20, never)) {
    const ended = over; // this is read before the journal, so that everything the process wrote before it ended is seen
    // A short run may have ended already; new events in the journal prove that it started.
    const there = (await store.first(id))?.type === "run.started" && ((await store.last(id))?.seq ?? 0) > since;
    if (there && (ended !== undefined || (await store.owner(id)) !== undefined)) return;
    if (ended !== undefined)
      throw (
        (await saidBy(logFile)) ??
        new CrewError("WORKER_FAILED", `The background process did not start the run: ${ended}.`, `See ${logFile}.`)
      );
  }
  throw new CrewError("WORKER_FAILED", "The background process did not start the run in time.", `See ${logFile}.`);
}

/** The last error that the process reported before it ended. */
async function saidBy(logFile: string): Promise<CrewError | undefined> {
  const lines = (await readRegularText(logFile).catch(() => "")).trimEnd().split("\n");
  for (const line of lines.toReversed()) {
    const said = parsed(line);
    if (isRecord(said) && said["type"] === "error" && isCode(said["code"]))
      return new CrewError(said["code"], String(said["message"]), String(said["hint"]));
  }
  return undefined;
}

function parsed(line: string): unknown {
  try {
    return parseJson(line, DEEPEST_RECORD);
  } catch {
    return undefined;
  }
}
