import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { messageOf } from "../../core/schema/error.ts";
import { deferred } from "../../runtime/async/deferred.ts";
import { onAbort } from "../../runtime/async/on-abort.ts";
import { unlessAborted } from "../../runtime/async/unless-aborted.ts";
import { openWalked } from "../../runtime/files/open-contained.ts";
import { walk } from "../workspace/walk.ts";
import { type Hit, type Query, type Search } from "./query.ts";

/**
 * Searches without an external program. The pattern is matched in a separate thread, which is ended when matching one
 * batch of text takes longer than a second of processor time: some patterns would otherwise never finish.
 */
export const nodeSearch: Search = async function* (query, signal) {
  const worker = startWorker(query);
  try {
    await unlessAborted(once(worker, "online"), signal); // the time limit is for matching, not for starting the thread
    for await (const batch of batchesOf(query, signal)) yield* await matching(worker, batch, signal);
  } finally {
    await worker.terminate();
  }
};

const LOOK_EVERY_MS = 50;
const MOST_LOOKS = 20;
const PATTERN_CPU_MS = 900;
const BATCH_FILES = 128;
const PORTION_CHARS = 1_000_000;
const FILE_BYTES = 5_000_000;

type Text = Readonly<{ path: string; text: string }>;

/** The code of the thread. It is a string, because the bundle contains no file for it. */
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
const { pattern, perFile } = workerData;
parentPort.on("message", (texts) => {
  parentPort.postMessage(texts.map((text) => {
    const found = [];
    let number = 0;
    for (let start = 0; start < text.length && found.length < perFile; ) {
      let end = text.indexOf("\\n", start);
      if (end < 0) end = text.length;
      number++;
      if (pattern.test(text.slice(start, text[end - 1] === "\\r" ? end - 1 : end))) found.push(number);
      start = end + 1;
    }
    return found;
  }));
});
`;

function startWorker(query: Query): Worker {
  const workerData = { pattern: patternOf(query), perFile: query.perFile };
  const worker = new Worker(PROGRAM, { eval: true, workerData, env: {}, execArgv: [] });
  return worker.on("error", () => {}); // the error is handled by the search that waits for this worker
}

/** Compiles a pattern. As in ripgrep, a leading `(?i)` means the same as the flag. */
function patternOf({ pattern, ignoreCase }: Query): RegExp {
  const source = pattern.replace(/^\(\?i\)/, "");
  try {
    return new RegExp(source, ignoreCase || source !== pattern ? "i" : "");
  } catch (cause) {
    const reason = messageOf(cause).replace(/^Invalid regular expression: /, "");
    const advice = "put a backslash before each character that is meant literally";
    throw new Error(`the pattern cannot be read (${reason}): ${advice}`, { cause });
  }
}

/** Reads a few hundred files at a time, and yields them in order. */
async function* batchesOf(query: Query, signal: AbortSignal): AsyncGenerator<Text[]> {
  let reading: Promise<Text | undefined>[] = [];
  for await (const path of pathsOf(query, signal)) {
    reading.push(textOf(query, path));
    if (reading.length < BATCH_FILES) continue;
    yield* portions(await Promise.all(reading));
    reading = [];
  }
  yield* portions(await Promise.all(reading));
}

/** Groups texts into batches; the time limit of a pattern applies to each batch. */
function* portions(texts: readonly (Text | undefined)[]): Generator<Text[]> {
  let portion: Text[] = [];
  let chars = 0;
  for (const each of texts) {
    if (each === undefined) continue;
    portion.push(each);
    chars += each.text.length;
    if (chars < PORTION_CHARS) continue;
    yield portion;
    portion = [];
    chars = 0;
  }
  if (portion.length > 0) yield portion;
}

async function* pathsOf({ root, start, isFile }: Query, signal: AbortSignal): AsyncGenerator<string> {
  if (isFile) return yield start.path;
  for await (const { kind, path } of walk(root, start, signal)) if (kind === "file") yield path;
}

/** The text of a file; `undefined` when it is binary, too large, or cannot be read. */
async function textOf({ root }: Query, path: string): Promise<Text | undefined> {
  const opened = await openWalked(root, path).catch(() => undefined);
  if (opened === undefined) return undefined;
  try {
    const stats = await opened.handle.stat();
    if (!stats.isFile() || stats.size > FILE_BYTES) return undefined;
    const bytes = await opened.handle.readFile();
    return bytes.subarray(0, 8_192).includes(0) ? undefined : { path, text: bytes.toString("utf8") };
  } catch {
    return undefined;
  } finally {
    await opened.handle.close();
  }
}

async function matching(worker: Worker, batch: readonly Text[], signal: AbortSignal): Promise<Hit[]> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = deferred<number[][]>();
  const stop = (): void => reject(signal.reason);
  const tooSlow = (): void =>
    reject(new Error("the pattern takes too long on this text: make it simpler, or search for a plain word"));
  // Counts timer ticks and processor time instead of elapsed time, because a suspended or starved process makes no
  // progress.
  let looks = 0;
  const before = process.cpuUsage();
  const usedMs = (): number => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  const timer = setInterval(() => ++looks >= MOST_LOOKS && usedMs() >= PATTERN_CPU_MS && tooSlow(), LOOK_EVERY_MS);
  worker.once("message", resolve).once("error", reject);
  const release = onAbort(signal, stop);
  worker.postMessage(
    batch.map(({ text }) => text),
    [],
  );
  try {
    const found = await promise;
    return batch.flatMap(({ path }, n) => (found[n] ?? []).map((line) => ({ path, line })));
  } finally {
    clearInterval(timer);
    release();
    worker.off("message", resolve).off("error", reject);
  }
}
