import { readRegularFile } from "../disk/regular-file.ts";
import { randomBytes } from "node:crypto";
import { existsSync, type FSWatcher, watch } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type RunCommand, type Receipt, command as schema } from "../../core/run/run-command.ts";
import type { HandleCommand, PostOptions } from "../../core/run/run-store.ts";
import { messageOf } from "../../core/schema/error.ts";
import { pause } from "../async/cancel.ts";
import { onAbort } from "../async/on-abort.ts";
import { writeAtomic } from "../disk/write-atomic.ts";
import { COMMANDS_FOLDER } from "./layout.ts";
import { DEEPEST_RECORD, parseJson } from "../../core/text/json.ts";

const COMMAND = /^(\d{13}-[0-9a-f]{16})\.json$/;
/** Polling interval where file watching does not work. */
const LOOK_EVERY_MS = 500;
/** How long after its start a run begins to look for commands; commands that arrive earlier wait until then. */
const BEGIN_AFTER_MS = 50;
/**
 * How often runs are checked for their first command, and how many runs are checked at a time: with 1,000 runs, each is
 * checked once a second.
 */
const FIRST_LOOK_EVERY_MS = 100;
const FIRST_LOOKS = 100;
/** How many times a receipt is looked for before the run is asked whether it has ended. */
const LOOKS_PER_CHECK = 10;

/**
 * Sends a command to the owner of a run through a file in its folder. The file survives both processes, so a command
 * that is not read now is read by the next owner. Resolves with the receipt, or `undefined` after the timeout. `ended`
 * returns the receipt of an ended run: the command will not be read, so it is deleted.
 */
export async function post(
  run: string,
  command: RunCommand,
  { waitMs, signal, ended }: PostOptions,
): Promise<Receipt | undefined> {
  const folder = join(run, COMMANDS_FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = `${String(Date.now()).padStart(13, "0")}-${randomBytes(8).toString("hex")}`;
  await writeAtomic(join(folder, `${name}.json`), JSON.stringify(command));
  const receipt = join(folder, `${name}.receipt`);
  const until = performance.now() + waitMs;
  for (let looks = 0; ; looks += 1) {
    // This is checked before the receipt is looked for, because an ending run writes its receipts last.
    const over = looks % LOOKS_PER_CHECK === 0 ? await ended() : undefined;
    const text = await readRegularFile(receipt)
      .then(String)
      .catch(() => undefined);
    if (text !== undefined) {
      await rm(receipt, { force: true });
      return parseJson(text, DEEPEST_RECORD) as Receipt;
    }
    if (over) {
      await rm(join(folder, `${name}.json`), { force: true });
      return over;
    }
    if (performance.now() >= until || !(await pause(25, signal))) return undefined;
  }
}

/** The commands that wait for the next owner of a run, oldest first. */
export async function waiting(run: string): Promise<readonly RunCommand[]> {
  const folder = join(run, COMMANDS_FOLDER);
  const names = (await readdir(folder).catch(() => [])).filter((name) => COMMAND.test(name)).toSorted();
  const read = await Promise.all(names.map(async (name) => schema.safeParse(await readJson(join(folder, name)))));
  return read.flatMap(({ data }) => (data ? [data] : []));
}

/** Handles waiting and new commands of a run, oldest first, until the signal aborts. */
export async function serveCommands(run: string, carryOut: HandleCommand, signal: AbortSignal): Promise<void> {
  const folder = join(run, COMMANDS_FOLDER);
  // Most runs have ended after this wait; they need no folder for commands.
  if (!(await pause(BEGIN_AFTER_MS, signal)) || !(await isMade(folder, signal))) return;
  let looked = new AbortController();
  const watcher = watching(folder, () => looked.abort());
  try {
    while (!signal.aborted) {
      looked = new AbortController();
      const names = await readdir(folder).catch(() => []); // if the folder was deleted, so were its commands
      for (const name of names.filter((each) => COMMAND.test(each)).toSorted())
        if (!signal.aborted) await handle(join(folder, name), carryOut, signal);
      await pause(LOOK_EVERY_MS, AbortSignal.any([looked.signal, signal]));
    }
  } finally {
    watcher?.close();
  }
}

/**
 * Resolves when the sender of a first command has created the folder: most runs get no command. False: the signal
 * aborted.
 */
function isMade(folder: string, signal: AbortSignal): Promise<boolean> {
  if (existsSync(folder)) return Promise.resolve(true);
  return new Promise((resolve) => {
    const end = (made: boolean): void => {
      forget(expected);
      release();
      resolve(made);
    };
    const expected: ExpectedFolder = { folder, made: () => end(true) };
    const release = onAbort(signal, () => end(false));
    expectFolder(expected);
  });
}

type ExpectedFolder = Readonly<{ folder: string; made(): void }>;

/**
 * The folders of all runs of this process that wait for their first command, the longest-waiting run first. This is
 * module state on purpose: with a timer for each run, a thousand runs spent a tenth of a processor on looking.
 */
const expectedFolders = new Set<ExpectedFolder>();
let looking: NodeJS.Timeout | undefined;

function expectFolder(expected: ExpectedFolder): void {
  expectedFolders.add(expected);
  looking ??= setInterval(lookForFolders, FIRST_LOOK_EVERY_MS);
}

function forget(expected: ExpectedFolder): void {
  expectedFolders.delete(expected);
  if (expectedFolders.size > 0) return;
  clearInterval(looking);
  looking = undefined;
}

function lookForFolders(): void {
  for (const expected of [...expectedFolders].slice(0, FIRST_LOOKS)) {
    if (existsSync(expected.folder)) expected.made();
    else if (expectedFolders.delete(expected)) expectedFolders.add(expected); // moves the folder to the end of the queue
  }
}

/** Writes receipts for commands that arrived after the end of the run. */
export async function serveRest(run: string, carryOut: HandleCommand): Promise<void> {
  const folder = join(run, COMMANDS_FOLDER);
  if (!existsSync(folder)) return; // most runs get no command
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => COMMAND.test(each)).toSorted())
    await handle(join(folder, name), carryOut, AbortSignal.abort());
}

/** Watches a folder; `undefined` where watching does not work, so that the caller polls. */
function watching(folder: string, changed: () => void): FSWatcher | undefined {
  try {
    return watch(folder, changed).on("error", () => {});
  } catch {
    return undefined;
  }
}

async function handle(file: string, carryOut: HandleCommand, signal: AbortSignal): Promise<void> {
  const parsed = schema.safeParse(await readJson(file));
  const receipt = parsed.success
    ? await carryOut(parsed.data, signal).catch(failure)
    : { done: false, text: "The command could not be read." };
  if (!receipt) return;
  await writeAtomic(file.replace(/\.json$/, ".receipt"), JSON.stringify(receipt)).catch(() => {});
  await rm(file, { force: true });
}

const failure = (thrown: unknown): Receipt => ({ done: false, text: messageOf(thrown) });

async function readJson(file: string): Promise<unknown> {
  try {
    return parseJson(await readRegularFile(file).then(String), DEEPEST_RECORD);
  } catch {
    return undefined;
  }
}
