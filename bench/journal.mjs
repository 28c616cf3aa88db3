// @ts-check
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { createRequire } from "node:module";
import { cpus } from "node:os";
import { join } from "node:path";
import { openJournal } from "../dist/runtime/store/journal.js";
import { encodeLines } from "../dist/runtime/store/journal-line.js";
import { formatted } from "./executor/report.mjs";
import { leastDisturbed, median } from "./executor/sample.mjs";

/**
 * The largest allowed ratio of the time of subcrew's journal to that of raw appends to a file with the same durability,
 * which also format each event as a JSON line.
 */
const LIMIT = 1.3;
/** The number of warm-up rounds, after which the code is compiled. */
const WARM_UP = 4;
const ROUNDS = 7;
/** The number of rounds for parts that take a tenth of a second, in which one slow disk sync has a large effect. */
const BRIEF_ROUNDS = 15;
const EVENTS = Number(process.argv[2] ?? 20_000);
const BYTES = 500;
const BATCH = 100;
const WRITERS = 64;

const require = createRequire(import.meta.url);
/** @type {new (file: string) => any} */
const Database = require("libsql");

/** @param {number} seq @returns {any} */
const event = (seq) => ({
  seq,
  run: "run_bench0000000",
  path: "a",
  at: 1_700_000_000_000,
  type: "note",
  text: "x".repeat(BYTES - 122),
});
const lines = Array.from({ length: EVENTS }, (_, at) => encodeLines([event(at + 1)], 1).toString());
const events = Array.from({ length: EVENTS }, (_, at) => event(at + 1));
/** Two ways to get the line to append: prepared before, or formatted from its event now. */
const ready = (/** @type {number} */ at) => lines[at] ?? "";
const made = (/** @type {number} */ at) => `${JSON.stringify(events[at])}\n`;

/** A folder of the project, so that the project's disk is measured. */
const root = mkdtempSync(join(import.meta.dirname, ".journal-"));

/**
 * Appends everything in a folder; returns the milliseconds that it took, without opening and closing.
 *
 * @typedef {(folder: string) => Promise<number>} Way
 */
/** @typedef {{ judged: boolean, ways: Record<string, Way> }} Durability */

/** @param {() => Promise<void>} work */
async function took(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** @typedef {(at: number) => string} LineAt */
/** @typedef {(file: import("node:fs/promises").FileHandle, lineAt: LineAt) => Promise<void>} RawWork */

/**
 * Two baselines that write to a file without the journal: with lines that were made before, and with lines that are made
 * while the time is measured.
 *
 * @param {RawWork} work
 * @returns {Record<string, Way>}
 */
const raws = (work) => ({ "raw, lines ready": raw((file) => work(file, ready)), raw: raw((file) => work(file, made)) });

/** @param {(file: import("node:fs/promises").FileHandle) => Promise<void>} work @returns {Way} */
const raw = (work) => async (folder) => {
  const file = await open(join(folder, "raw"), "a", 0o600);
  const ms = await took(() => work(file));
  await file.close();
  return ms;
};

/** @param {(journal: import("../dist/core/task/engine.js").Journal) => Promise<void>} work @returns {Way} */
const ours = (work) => async (folder) => {
  const journal = await openJournal(folder, {
    kept: () => {},
    lost: (error) => {
      throw error;
    },
  });
  const ms = await took(() => work(journal));
  await journal.close();
  return ms;
};

/** @param {(insert: (line: string) => void, database: any) => void} work @returns {Way} */
const libsql = (work) => async (folder) => {
  const database = new Database(join(folder, "db"));
  database.exec(
    "pragma journal_mode = wal; pragma synchronous = full; create table events (seq integer primary key, line text)",
  );
  const statement = database.prepare("insert into events (line) values (?)");
  const ms = await took(async () => work((line) => statement.run(line), database));
  database.close();
  return ms;
};

/** @type {Record<string, Durability>} */
const durabilities = {
  "no sync": {
    judged: false,
    ways: {
      ...raws(async (file, lineAt) => {
        for (let at = 0; at < EVENTS; at += 1) await file.write(lineAt(at));
      }),
    },
  },
  [`a sync per batch of ${BATCH}`]: {
    judged: true,
    ways: {
      ...raws(async (file, lineAt) => {
        for (let at = 0; at < EVENTS; at += BATCH) {
          let text = "";
          for (let one = at; one < Math.min(at + BATCH, EVENTS); one += 1) text += lineAt(one);
          await file.write(text);
          await file.datasync();
        }
      }),
      subcrew: ours(async (journal) => {
        for (let at = 0; at < EVENTS; at += BATCH) {
          for (const one of events.slice(at, at + BATCH)) journal.append(one);
          await journal.durable();
        }
      }),
      libsql: libsql((insert, database) => {
        for (let at = 0; at < EVENTS; at += BATCH) {
          database.exec("begin");
          for (const line of lines.slice(at, at + BATCH)) insert(line);
          database.exec("commit");
        }
      }),
    },
  },
  "a sync per event": {
    judged: true,
    ways: {
      ...raws(async (file, lineAt) => {
        for (let at = 0; at < EVENTS; at += 1) {
          await file.write(lineAt(at));
          await file.datasync();
        }
      }),
      subcrew: ours(async (journal) => {
        for (const one of events) {
          journal.append(one);
          await journal.durable();
        }
      }),
      libsql: libsql((insert) => lines.forEach(insert)),
    },
  },
  [`a sync per event, ${WRITERS} writers`]: {
    judged: true,
    ways: {
      ...raws(async (file, lineAt) => {
        let next = 0;
        await Promise.all(
          Array.from({ length: WRITERS }, async () => {
            for (let at = next++; at < EVENTS; at = next++) {
              await file.write(lineAt(at));
              await file.datasync();
            }
          }),
        );
      }),
      // Raw appends that work like the journal: events that arrive during a sync are written together and share the
      // next sync.
      "raw, grouped": raw(async (file) => {
        let next = 0;
        let text = "";
        /** @type {Promise<void> | undefined} */
        let running;
        const flush = async () => {
          const batch = text;
          text = "";
          await file.write(batch);
          await file.datasync();
        };
        const durable = async () => {
          while (text !== "") {
            running ??= flush().finally(() => (running = undefined));
            await running;
          }
          await running;
        };
        await Promise.all(
          Array.from({ length: WRITERS }, async () => {
            for (let at = next++; at < EVENTS; at = next++) {
              text += made(at);
              await durable();
            }
          }),
        );
      }),
      subcrew: ours(async (journal) => {
        let next = 0;
        await Promise.all(
          Array.from({ length: WRITERS }, async () => {
            for (let one = events[next++]; one !== undefined; one = events[next++]) {
              journal.append(one);
              await journal.durable();
            }
          }),
        );
      }),
      libsql: libsql((insert) => lines.forEach(insert)),
    },
  },
};

const BRIEF_MS = 1_000;

/** @param {Way} way */
async function timed(way) {
  const folder = mkdtempSync(join(root, "round-"));
  const ms = await way(folder);
  rmSync(folder, { recursive: true });
  return ms;
}

/**
 * Rotates the list, so that each round begins with another contender (a program that is measured) and a slow minute
 * affects all of them.
 *
 * @template T
 * @param {readonly T[]} list
 * @param {number} by
 * @returns {T[]}
 */
const rotated = (list, by) => [...list.slice(by % list.length), ...list.slice(0, by % list.length)];

/** @type {Record<string, unknown>} */
const results = {
  node: process.version,
  cpu: cpus()[0]?.model ?? "unknown",
  cores: cpus().length,
  events: EVENTS,
  bytes: lines[0]?.length,
  limit: LIMIT,
};
/** @type {string[][]} */
const rows = [];
/** @type {string[]} */
const failed = [];
try {
  for (const [name, { judged, ways }] of Object.entries(durabilities)) {
    /** @type {Record<string, number[]>} */
    const taken = Object.fromEntries(Object.keys(ways).map((way) => [way, []]));
    /** @type {Map<string, number>} */
    const first = new Map();
    const isBrief = (/** @type {string} */ way) => (first.get(way) ?? 0) < BRIEF_MS;
    for (const [way, work] of Object.entries(ways)) first.set(way, await timed(work));
    const allBrief = Object.keys(ways).every(isBrief);
    for (let round = allBrief ? 1 - WARM_UP : 0; round < (allBrief ? BRIEF_ROUNDS : ROUNDS); round += 1)
      for (const [way, work] of rotated(Object.entries(ways), round + WARM_UP)) {
        // Only short measurements are repeated; in measurements of more than a second, short waits do not matter.
        const ms = isBrief(way) ? await leastDisturbed(() => timed(work)) : await timed(work);
        if (round >= 0) taken[way]?.push(ms);
      }
    results[name] = taken;
    const floor = median(taken["raw"] ?? []);
    for (const [way, ms] of Object.entries(taken)) {
      const ratio = median(ms) / floor;
      const verdict = way !== "subcrew" || !judged ? "" : ratio <= LIMIT ? "PASS" : "FAIL";
      if (verdict === "FAIL") failed.push(`${name}: ${ratio.toFixed(2)} x raw`);
      rows.push([
        name,
        way,
        `${median(ms).toFixed(0)} ms`,
        `${((median(ms) * 1000) / EVENTS).toFixed(1)} µs`,
        `${ratio.toFixed(2)} x`,
        verdict,
      ]);
    }
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}

const report = {
  title: `subcrew journal · ${EVENTS} events of ${lines[0]?.length} bytes · node ${process.version} · ${cpus().length} x ${cpus()[0]?.model ?? "unknown"}`,
  how: `median of ${ROUNDS} rounds (${BRIEF_ROUNDS} for short measurements), each in a file of its own; the limit is ${LIMIT} x raw appends of the same durability`,
  columns: ["durability", "way", "in all", "per event", "of raw", ""],
  rows,
  failed,
  raw: results,
};
process.stdout.write(`${formatted(report)}\n`);
mkdirSync(join(import.meta.dirname, "results"), { recursive: true });
writeFileSync(
  join(import.meta.dirname, "results", "journal.json"),
  `${JSON.stringify({ ...results, failed }, null, 1)}\n`,
);
process.stdout.write(failed.length === 0 ? "PASS: all limits are met\n" : `FAIL: ${failed.join("; ")}\n`);
if (failed.length > 0) process.exitCode = 1;
