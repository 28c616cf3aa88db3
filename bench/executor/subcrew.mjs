// @ts-check
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * @typedef {import("../../src/core/plan/plan.ts").Plan} Plan
 * @typedef {import("../../src/core/task/engine.ts").Perform} Perform
 * @typedef {import("../../src/core/run/event.ts").KeptEvent} KeptEvent
 * @typedef {import("../../src/core/task/engine.ts").Engine["journal"]} OpenJournal
 * @typedef {{ perform: Perform, concurrency?: number, journal?: OpenJournal, resume?: boolean }} Options
 */

/** @type {(file: string) => Promise<any>} */
const built = (file) => import(new URL(`../../dist/${file}`, import.meta.url).href);

// The measured code is dist; the types are those of its sources.
const { Run } = /** @type {typeof import("../../src/runtime/run/run.ts")} */ (await built("runtime/run/run.js"));
const { drive } = /** @type {typeof import("../../src/runtime/features/drive.ts")} */ (
  await built("runtime/features/drive.js")
);
const { runFeatures } = /** @type {typeof import("../../src/runtime/features/features.ts")} */ (
  await built("runtime/features/features.js")
);
const { openJournal } = /** @type {typeof import("../../src/runtime/store/journal.ts")} */ (
  await built("runtime/store/journal.js")
);
const { createMemoryStore } = /** @type {typeof import("../../src/runtime/store/memory-store.ts")} */ (
  await built("runtime/store/memory-store.js")
);
const { readJournal } = /** @type {typeof import("../../src/runtime/store/read-journal.ts")} */ (
  await built("runtime/store/read-journal.js")
);
const { localEngine } = /** @type {typeof import("../../src/engines/local.ts")} */ (await built("engines/local.js"));
const { createRedactor } = /** @type {typeof import("../../src/core/secrets/redact.ts")} */ (
  await built("core/secrets/redact.js")
);
const { compile } = /** @type {typeof import("../../src/modes/compile.ts")} */ (await built("modes/compile.js"));

export { compile };

/** A time limit that is set and never reached, so that its cost is included. */
const MAX_TIME_MS = 3_600_000;

/** One redactor for all runs, as in a crew: it removes secrets from every event. */
const redactor = createRedactor([]);

let runs = 0;

/**
 * Starts a run as the crew does: with the real executor, local engine, events, state and limits. Only the execution of
 * a task is replaced.
 *
 * @param {Plan} plan
 * @param {Options} options
 */
export function start(plan, { perform, concurrency = 8, journal = inMemory, resume = false }) {
  const engine = localEngine({ perform, journal });
  runs += 1;
  return new Run(`run_${String(runs).padStart(12, "0")}`, (it) =>
    drive(
      runFeatures,
      {
        plan,
        engine,
        clock: Date.now,
        random: Math.random,
        redactor,
        version: "bench",
        cwd: "/",
        context: "",
        compile,
        parameters: { concurrency, maxTimeMs: MAX_TIME_MS },
        ...(resume && { resume: { retryFailed: false } }),
      },
      it,
    ),
  );
}

/**
 * Runs a plan to its end with a listener for every event. Throws unless it succeeded.
 *
 * @param {Plan} plan
 * @param {Options} options
 * @returns {Promise<void>}
 */
export async function execute(plan, options) {
  const run = start(plan, options);
  let last = "nothing";
  for await (const { type } of run) last = type;
  const { status } = await run;
  if (status !== "ok" || last !== "run.ended")
    throw new Error(`the run ended with status ${status}; the last event was ${last}`);
}

/** @type {OpenJournal} */
const inMemory = (run, listener) => createMemoryStore().open(run, listener);

/**
 * Journals as files in a temporary folder, synced like those of a real run.
 *
 * @returns {{ folder: string, open: OpenJournal, remove: () => void }}
 */
export function onDisk() {
  const folder = mkdtempSync(join(tmpdir(), "subcrew-bench-"));
  return {
    folder,
    open: (run, listener) => openJournal(join(folder, run), listener),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * The journal file of a run of this plan.
 *
 * @param {Plan} plan
 * @param {Perform} perform
 * @returns {Promise<{ read: () => Promise<unknown>, remove: () => void }>}
 */
export async function recorded(plan, perform) {
  const { folder, open, remove } = onDisk();
  const run = start(plan, { perform, journal: open });
  await run;
  return { read: () => readJournal(join(folder, run.id)), remove };
}

/**
 * The events of a run of this plan that was stopped just before its last (or its first) task ended.
 *
 * @param {Plan} plan
 * @param {Perform} perform
 * @param {"last" | "first"} before
 * @returns {Promise<readonly KeptEvent[]>}
 */
export async function interrupted(plan, perform, before) {
  /** @type {KeptEvent[]} */
  const events = [];
  await start(plan, {
    perform,
    concurrency: before === "first" ? Number.POSITIVE_INFINITY : 8,
    journal: (run, listener) =>
      inMemory(run, {
        ...listener,
        kept: (batch) => {
          events.push(...batch);
          listener.kept(batch);
        },
      }),
  });
  const isEnd = (/** @type {KeptEvent} */ event) => event.type === "node.ended" && event.path !== plan.output;
  return events.slice(0, before === "first" ? events.findIndex(isEnd) : events.findLastIndex(isEnd));
}

/**
 * A journal that already holds events of an earlier process.
 *
 * @param {readonly KeptEvent[]} past
 * @returns {OpenJournal}
 */
export const holding = (past) => async (run, listener) => ({
  ...(await inMemory(run, listener)),
  read: async () => past,
});
