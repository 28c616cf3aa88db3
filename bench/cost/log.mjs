// @ts-check
import { mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { openJournal } from "../../dist/runtime/store/journal.js";
import { above, inTurns, middle, shown, taken } from "./measure.mjs";

const EVENTS = 2_000;
const LIMIT = 1.5;
/** @type {new (file: string) => any} */
const Database = createRequire(import.meta.url)("libsql");

/** @type {any[]} */
const events = Array.from({ length: EVENTS }, (_, at) => ({
  seq: at + 1,
  run: "run_bench0000000",
  path: "a",
  at: 1_700_000_000_000,
  type: "note",
  text: "x".repeat(378),
}));
const line = (/** @type {object} */ event) => `${JSON.stringify(event)}\n`;

/**
 * Measures one writer of a journal that waits for a sync after each event, without opening and closing.
 *
 * @type {import("./measure.mjs").Part}
 */
export async function log({ root, rounds }) {
  const folderOf = () => mkdtempSync(join(root, "log-"));
  const raw = await inTurns(
    {
      subcrew: async () => {
        const folder = folderOf();
        const listener = {
          kept: () => {},
          lost: (/** @type {unknown} */ error) => void (process.exitCode = Number(!error)),
        };
        const journal = await openJournal(folder, listener);
        const sample = await taken(async () => {
          for (const event of events) {
            journal.append(event);
            await journal.durable();
          }
        });
        await journal.close();
        rmSync(folder, { recursive: true });
        return sample;
      },
      raw: async () => {
        const folder = folderOf();
        const file = await open(join(folder, "raw"), "a", 0o600);
        const sample = await taken(async () => {
          for (const event of events) {
            await file.write(line(event));
            await file.datasync();
          }
        });
        await file.close();
        rmSync(folder, { recursive: true });
        return sample;
      },
      libsql: async () => {
        const folder = folderOf();
        const database = new Database(join(folder, "db"));
        database.exec(
          "pragma journal_mode = wal; pragma synchronous = full; create table events (seq integer primary key, line text)",
        );
        const statement = database.prepare("insert into events (line) values (?)");
        const sample = await taken(async () => {
          for (const event of events) statement.run(line(event));
        });
        database.close();
        rmSync(folder, { recursive: true });
        return sample;
      },
    },
    { rounds, warmUp: 1 },
  );
  const of = (/** @type {string} */ name) => middle(raw[name] ?? [], EVENTS);
  const ratio = (/** @type {string} */ name) => of(name).wall / of("raw").wall;
  const failed = above("log, x raw", ratio("subcrew"), LIMIT);
  return {
    title: "The log, one writer, a sync per event: milliseconds per event",
    how: `medians of ${rounds} rounds of ${EVENTS} events of 500 bytes; raw stringifies, appends and syncs`,
    columns: ["", "wall", "cpu", "x raw", ""],
    rows: Object.keys(raw).map((name) => [
      name,
      of(name).wall.toFixed(3),
      of(name).cpu.toFixed(3),
      ratio(name).toFixed(2),
      name !== "subcrew" ? "" : failed.length > 0 ? "FAIL" : "PASS",
    ]),
    failed,
    raw: { each: EVENTS, ...raw },
    table: [
      {
        what: "log, one writer, sync per event",
        ours: `${ratio("subcrew").toFixed(2)}x raw`,
        peers: `libsql ${ratio("libsql").toFixed(2)}x (raw ${shown(of("raw").wall)} ms)`,
        goal: "<= 1.5x",
        met: failed.length === 0,
      },
    ],
  };
}
