import { spawn } from "node:child_process";
import { join } from "node:path";
import { openAppend, readRegularText } from "../disk/regular-file.ts";
import { CrewError, isCode, messageOf } from "../../core/schema/error.ts";
import { isRecord } from "../../core/text/json.ts";
import { pause } from "../async/cancel.ts";
import { inheritedDescriptors, without } from "../commands/inherited-descriptors.ts";
import { fault } from "../disk/fault-points.ts";
import { isOwned } from "../disk/run-claim.ts";
import { firstEvent, lastEvent, reserveFile, type Store } from "../store/store.ts";
import { reserveSlot } from "./background-slots.ts";
import { type BackgroundRequest, writeRequest } from "./run-request.ts";

/** Log file of the background process. */
export const BACKGROUND_LOG = "background.log";

/** Timeout for the start of the run. */
const START_MS = 30_000;

/** The request, the process that carries it out, and how many such processes there may be. */
export type LaunchSpec = Readonly<{
  request: Omit<BackgroundRequest, "version" | "plan"> & { plan?: unknown };
  process: BackgroundProcess;
  most: number;
}>;

/** The file with the result of a run in the background; until it has ended, it says so. */
export const OUTPUT_FILE = "output.md";

/** Writes the request to the run's folder and starts a process that carries it out. */
export async function launchRun(
  store: Store,
  { request, process, most }: LaunchSpec,
): Promise<{ id: string; folder: string; outputFile: string }> {
  const folder = store.folder(request.id);
  const outputFile = join(folder, OUTPUT_FILE);
  const started = await reserveSlot(store, request.id, most);
  try {
    await writeRequest(folder, { version: 1, ...request, plan: request.plan });
    await reserveFile(outputFile, `${request.id} has no result yet. See \`subcrew status ${request.id}\`.`);
    await startProcess(folder, process, request.plan === undefined ? ((await lastEvent(folder))?.seq ?? 0) : 0);
  } finally {
    await started();
  }
  return { id: request.id, folder, outputFile };
}

/** A process to start: its command line, working directory and environment. */
export type BackgroundProcess = Readonly<{
  command: readonly [file: string, ...args: string[]];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}>;

/**
 * Starts a process that outlives this one and the terminal, in a session of its own, and waits until its run has
 * started: it is in the journal and has a living owner. An error that the process reports is thrown here.
 */
export async function startProcess(folder: string, { command, cwd, env }: BackgroundProcess, since = 0): Promise<void> {
  const log = await openAppend(join(folder, BACKGROUND_LOG));
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
    const ended = over; // read before the journal: what a process wrote before it ended is then seen
    // A short run may have ended already; new events in the journal prove that it started.
    const there = (await firstEvent(folder))?.type === "run.started" && ((await lastEvent(folder))?.seq ?? 0) > since;
    if (there && (ended !== undefined || (await isOwned(folder)))) return;
    if (ended !== undefined)
      throw (
        (await saidBy(folder)) ??
        new CrewError("WORKER_FAILED", `The run did not start: ${ended}.`, `See ${join(folder, BACKGROUND_LOG)}.`)
      );
  }
  throw new CrewError("WORKER_FAILED", "The run did not start in time.", `See ${join(folder, BACKGROUND_LOG)}.`);
}

/** The last error that the process reported before it ended. */
async function saidBy(folder: string): Promise<CrewError | undefined> {
  const lines = (await readRegularText(join(folder, BACKGROUND_LOG)).catch(() => "")).trimEnd().split("\n");
  for (const line of lines.toReversed()) {
    const said = parsed(line);
    if (isRecord(said) && said["type"] === "error" && isCode(said["code"]))
      return new CrewError(said["code"], String(said["message"]), String(said["hint"]));
  }
  return undefined;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}
