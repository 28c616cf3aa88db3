import { randomBytes } from "node:crypto";
import { type FSWatcher, mkdirSync, watch } from "node:fs";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { command as schema, type Receipt, refusedWith, type RunCommand } from "../../core/run/run-command.ts";
import type { HandleCommand, PostOptions } from "../../core/run/run-store.ts";
import { messageOf } from "../../core/schema/error.ts";
import { DEEPEST_RECORD, parseJson } from "../../core/text/json.ts";
import { pause } from "../async/cancel.ts";
import { onAbort } from "../async/on-abort.ts";
import { machineDisk } from "../disk/disk.ts";
import { readRegularFile } from "../disk/regular-file.ts";
import { removeDrafts, writeAtomic } from "../disk/write-atomic.ts";

/** Names of files: the run, the time and a random number; the ending of a receipt replaces that of its command. */
const FILE = /^(.+)\.\d{13}-[0-9a-f]{16}\.(json|receipt)$/;
/** Polling interval where file watching does not work, and for commands that could not be handled yet. */
const POLL_MS = 500;
/** How long after its start a run begins to look for commands; commands that arrive earlier wait until then. */
const BEGIN_AFTER_MS = 50;
/** How many times a receipt is looked for before the run is asked whether it has ended. */
const LOOKS_PER_CHECK = 10;
/** How long a receipt is kept for its sender. */
const RECEIPT_MS = 24 * 3_600_000;

/**
 * The commands to all runs of a home folder, as files in one folder. A file survives its sender and the process that
 * works on its run, so a command that is not read now is read by the next owner of the run. Each process watches the
 * folder once for all its runs.
 */
export class CommandFolder {
  readonly #folder: string;
  readonly #mayServe: (run: string) => Promise<boolean>;
  /** Wakes the runs that this process serves. */
  readonly #bells = new Map<string, () => void>();
  #watcher: FSWatcher | undefined;
  #polling: NodeJS.Timeout | undefined;

  /** `mayServe` is false for a run that another process has taken over: its commands are for that process. */
  constructor(folder: string, mayServe: (run: string) => Promise<boolean>) {
    this.#folder = folder;
    this.#mayServe = mayServe;
  }

  /** Sends a command, and resolves with its receipt; see `RunCommands`. */
  async post(run: string, command: RunCommand, { waitMs, signal, ended }: PostOptions): Promise<Receipt | undefined> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const time = String(Date.now()).padStart(13, "0");
    const file = join(this.#folder, `${run}.${time}-${randomBytes(8).toString("hex")}.json`);
    await writeAtomic(file, JSON.stringify(command));
    const until = performance.now() + waitMs;
    for (let looks = 0; ; looks += 1) {
      // This is checked before the receipt is looked for, because an ending run writes its receipts last.
      const over = looks % LOOKS_PER_CHECK === 0 ? await ended() : undefined;
      const text = await readRegularFile(receiptOf(file))
        .then(String)
        .catch(() => undefined);
      if (text !== undefined) {
        await rm(receiptOf(file), { force: true });
        return parseJson(text, DEEPEST_RECORD) as Receipt;
      }
      if (over) {
        await rm(file, { force: true });
        return over;
      }
      if (performance.now() >= until || !(await pause(25, signal))) return undefined;
    }
  }

  /** The commands that wait for the next owner of a run, oldest first. */
  async waiting(run: string): Promise<readonly RunCommand[]> {
    const read = await Promise.all(
      (await this.#commandsTo(run)).map(async (file) => schema.safeParse(await readJson(file))),
    );
    return read.flatMap(({ data }) => (data ? [data] : []));
  }

  /** Handles waiting and new commands of a run, oldest first, until the signal aborts; see `RunCommands`. */
  async serve(run: string, carryOut: HandleCommand, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return this.#handleAll(run, carryOut, signal);
    if (!(await pause(BEGIN_AFTER_MS, signal))) return; // most runs have ended after this wait
    let wake = (): void => {};
    const release = onAbort(signal, () => wake());
    const leave = this.#attend(run, () => wake());
    try {
      while (!signal.aborted) {
        const rung = new Promise<void>((resolve) => (wake = resolve));
        await this.#handleAll(run, carryOut, signal);
        await rung;
      }
    } finally {
      release();
      leave();
    }
  }

  /** Deletes the commands to a run that is deleted, and their receipts. */
  async remove(run: string): Promise<void> {
    for (const file of await this.#files()) if (file.run === run) await rm(file.path, { force: true });
  }

  /** Deletes what no process reads any more: commands to deleted runs, old receipts, drafts of dead senders. */
  async sweep(exists: (run: string) => Promise<boolean>): Promise<void> {
    for (const { run, path, isCommand } of await this.#files()) {
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
      const isOld = !isCommand && Date.now() - mtimeMs > RECEIPT_MS;
      if (isOld || !(await exists(run))) await rm(path, { force: true });
    }
    await removeDrafts(this.#folder, "", machineDisk);
  }

  async #handleAll(run: string, carryOut: HandleCommand, signal: AbortSignal): Promise<void> {
    const isRest = signal.aborted;
    for (const file of await this.#commandsTo(run))
      if (isRest || !signal.aborted) await this.#handle(run, file, (command) => carryOut(command, signal));
  }

  async #handle(
    run: string,
    file: string,
    carryOut: (command: RunCommand) => ReturnType<HandleCommand>,
  ): Promise<void> {
    if (!(await this.#mayServe(run))) return;
    const parsed = schema.safeParse(await readJson(file));
    const receipt = parsed.success
      ? await carryOut(parsed.data).catch(failure)
      : refusedWith("BAD_COMMAND", "The command could not be read.");
    // The records of a process that was replaced meanwhile are void: the new owner carries the command out.
    if (!receipt || !(await this.#mayServe(run))) return;
    await writeAtomic(receiptOf(file), JSON.stringify(receipt)).catch(() => {});
    await rm(file, { force: true });
  }

  /** Wakes a run when a command to it arrives, until the returned function is called. */
  #attend(run: string, wake: () => void): () => void {
    this.#bells.set(run, wake);
    if (this.#bells.size === 1) {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      this.#watcher = watching(this.#folder, (name) => this.#ring(name));
      this.#polling = setInterval(() => void this.#poll(), POLL_MS);
    }
    return () => {
      this.#bells.delete(run);
      if (this.#bells.size > 0) return;
      this.#watcher?.close();
      clearInterval(this.#polling);
    };
  }

  async #poll(): Promise<void> {
    for (const { run, isCommand } of await this.#files()) if (isCommand) this.#bells.get(run)?.();
  }

  #ring(name: string): void {
    const file = fileNamed(name);
    if (file?.isCommand) this.#bells.get(file.run)?.();
  }

  async #commandsTo(run: string): Promise<string[]> {
    const files = (await this.#files()).filter((file) => file.run === run && file.isCommand);
    return files.map(({ path }) => path).toSorted();
  }

  async #files(): Promise<{ run: string; path: string; isCommand: boolean }[]> {
    const names = await readdir(this.#folder).catch(() => []); // the first sender or run creates the folder
    return names.flatMap((name) => {
      const file = fileNamed(name);
      return file ? [{ ...file, path: join(this.#folder, name) }] : [];
    });
  }
}

function fileNamed(name: string): { run: string; isCommand: boolean } | undefined {
  const [, run, ending] = FILE.exec(name) ?? [];
  return run === undefined ? undefined : { run, isCommand: ending === "json" };
}

const receiptOf = (file: string): string => file.replace(/json$/, "receipt");

/** Watches a folder; `undefined` where watching does not work, so that only polling finds new files. */
function watching(folder: string, changed: (name: string) => void): FSWatcher | undefined {
  try {
    return watch(folder, (_, name) => changed(name ?? "")).on("error", () => {});
  } catch {
    return undefined;
  }
}

const failure = (thrown: unknown): Receipt => refusedWith("BAD_COMMAND", messageOf(thrown));

async function readJson(file: string): Promise<unknown> {
  try {
    return parseJson(await readRegularFile(file).then(String), DEEPEST_RECORD);
  } catch {
    return undefined;
  }
}
