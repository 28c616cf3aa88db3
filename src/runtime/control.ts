import { randomBytes } from "node:crypto";
import { watch } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { command as schema, type Command, type Receipt } from "../core/command.ts";
import { messageOf } from "../core/error.ts";
import { pause } from "./cancel.ts";
import { writeAtomic } from "./write-atomic.ts";

const FOLDER = "control";
const COMMAND = /^(\d{13}-[0-9a-f]{16})\.json$/;
/** How often a folder is looked at where watching it tells nothing. */
const LOOK_EVERY_MS = 500;

/**
 * Hands a command to whoever owns the run, by a file in its folder: it outlives both processes, so one that nobody
 * reads now is read by the next owner. Resolves with the receipt, or `undefined` when none came in time.
 */
export async function post(run: string, command: Command, { waitMs, signal }: { waitMs: number; signal: AbortSignal }): Promise<Receipt | undefined> {
  const folder = join(run, FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = `${String(Date.now()).padStart(13, "0")}-${randomBytes(8).toString("hex")}`;
  await writeAtomic(join(folder, `${name}.json`), JSON.stringify(command));
  const receipt = join(folder, `${name}.receipt`);
  for (const until = Date.now() + waitMs; ; ) {
    const text = await readFile(receipt, "utf8").catch(() => undefined);
    if (text !== undefined) {
      await rm(receipt, { force: true });
      return JSON.parse(text) as Receipt;
    }
    if (Date.now() >= until || !(await pause(50, signal))) return undefined;
  }
}

/** Carries out the commands that wait for a run, oldest first, and those that come, until the signal aborts. */
export async function serve(run: string, carryOut: (command: Command) => Promise<Receipt>, signal: AbortSignal): Promise<void> {
  const folder = join(run, FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  let wake = (): void => {};
  const watcher = watch(folder, () => wake());
  watcher.on("error", () => {});
  signal.addEventListener("abort", () => watcher.close(), { once: true });
  while (!signal.aborted) {
    for (const file of (await readdir(folder)).filter((name) => COMMAND.test(name)).toSorted()) await handle(join(folder, file), carryOut);
    const looked = new AbortController();
    wake = (): void => looked.abort();
    await pause(LOOK_EVERY_MS, AbortSignal.any([looked.signal, signal]));
  }
}

async function handle(file: string, carryOut: (command: Command) => Promise<Receipt>): Promise<void> {
  const parsed = schema.safeParse(await readJson(file));
  const receipt = parsed.success ? await carryOut(parsed.data).catch(failure) : { done: false, text: "The command could not be read." };
  await writeAtomic(file.replace(/\.json$/, ".receipt"), JSON.stringify(receipt));
  await rm(file, { force: true });
}

const failure = (thrown: unknown): Receipt => ({ done: false, text: messageOf(thrown) });

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as unknown;
  } catch {
    return undefined;
  }
}
