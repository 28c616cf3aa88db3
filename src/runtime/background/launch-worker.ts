import { spawn } from "node:child_process";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { CrewError, isCode, messageOf } from "../../core/schema/error.ts";
import { isRecord } from "../../core/text/json.ts";
import { pause } from "../async/cancel.ts";
import { inheritedDescriptors, without } from "../commands/inherited-descriptors.ts";
import { fault } from "../disk/fault-points.ts";
import { isOwned } from "../disk/run-claim.ts";
import { firstEvent, lastEvent, type Store } from "../store/store.ts";
import { takePlace } from "./background-slots.ts";
import { type BackgroundRequest, writeRequest } from "./worker-request.ts";

/** What its worker says that is no event: how it broke, most of all. */
export const WORKER_LOG = "worker.log";

/** How long a worker has until its run is in the journal. */
const START_MS = 30_000;

/** What is asked of a worker, how it is started, and how many there may be. */
export type LaunchSpec = Readonly<{
  request: Omit<BackgroundRequest, "version" | "plan"> & { plan?: unknown };
  worker: Worker;
  most: number;
}>;

/** The file with the result of a run in the background, once it has ended. */
export const OUTPUT_FILE = "output.md";

/** Writes down what is to be done and starts a worker that does it. */
export async function inBackground(
  store: Store,
  { request, worker, most }: LaunchSpec,
): Promise<{ id: string; folder: string; outputFile: string }> {
  const folder = store.folder(request.id);
  const started = await takePlace(store, request.id, most);
  try {
    await writeRequest(folder, { version: 1, ...request, plan: request.plan });
    await launch(folder, worker, request.plan === undefined ? ((await lastEvent(folder))?.seq ?? 0) : 0);
  } finally {
    await started();
  }
  return { id: request.id, folder, outputFile: join(folder, OUTPUT_FILE) };
}

/** A worker to start: its command line, and where. */
export type Worker = Readonly<{
  command: readonly [file: string, ...args: string[]];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}>;

/**
 * Starts a worker that outlives us and the terminal, in a session of its own, and waits until its run is really
 * started: in the journal, with an owner that lives. What the worker finds wrong is thrown here.
 */
export async function launch(folder: string, { command, cwd, env }: Worker, since = 0): Promise<void> {
  const log = await open(join(folder, WORKER_LOG), "a", 0o600);
  const [file, ...args] = command;
  let over: string | undefined;
  try {
    fault("worker.start");
    const child = spawn(...without(inheritedDescriptors(), file, args), {
      cwd,
      env,
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
      windowsHide: true,
    });
    child.once("error", (error) => (over = messageOf(error)));
    child.once("exit", (code, signal) => (over = `its worker ended with ${signal ?? `exit code ${code}`}`));
    child.unref();
    fault("worker.started");
  } finally {
    await log.close();
  }
  const never = new AbortController().signal;
  for (const until = performance.now() + START_MS; performance.now() < until; await pause(20, never)) {
    const ended = over; // asked first: what a worker that is gone had written is seen by the look that follows
    // A short run may be over before anybody looked; what is new in the journal says that it was there.
    const there = (await firstEvent(folder))?.type === "run.started" && ((await lastEvent(folder))?.seq ?? 0) > since;
    if (there && (ended !== undefined || (await isOwned(folder)))) return;
    if (ended !== undefined)
      throw (
        (await saidBy(folder)) ??
        new CrewError("WORKER_FAILED", `The run did not start: ${ended}.`, `See ${join(folder, WORKER_LOG)}.`)
      );
  }
  throw new CrewError("WORKER_FAILED", "The run did not start in time.", `See ${join(folder, WORKER_LOG)}.`);
}

/** The last mistake that a worker named before it ended. */
async function saidBy(folder: string): Promise<CrewError | undefined> {
  const lines = (await readFile(join(folder, WORKER_LOG), "utf8").catch(() => "")).trimEnd().split("\n");
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
