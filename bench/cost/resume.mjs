// @ts-check
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { median } from "../executor/sample.mjs";
import { above, inTurns } from "./measure.mjs";
import { RUN, writeJournal } from "./journal-file.mjs";

/** @typedef {{ seconds: number, cpu: number, megabytes: number, blockedMs: number }} Read */

/**
 * Runs each measurement in its own process, because a process keeps the memory that it once allocated.
 *
 * @param {string[]} asked @returns {Promise<Read>}
 */
async function child(...asked) {
  return JSON.parse(
    execFileSync(process.execPath, ["--expose-gc", join(import.meta.dirname, "resume-child.mjs"), ...asked], {
      encoding: "utf8",
    }),
  );
}

/**
 * Compares subcrew's reader of journals with a plain one, for a journal of this size.
 *
 * @param {{ root: string, rounds: number, bytes: number }} how
 */
export async function reading({ root, rounds, bytes }) {
  const home = mkdtempSync(join(root, "journal-"));
  const { file } = writeJournal(home, bytes);
  try {
    return await inTurns(
      { subcrew: () => child("ours", home, RUN), plain: () => child("plain", file) },
      { rounds, warmUp: 1 },
    );
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Measures reading a journal of 182 MB to resume its run. @type {import("./measure.mjs").Part} */
export async function resume({ root, rounds }) {
  const raw = await reading({ root, rounds, bytes: 182e6 });
  const of = (/** @type {string} */ name, /** @type {keyof Read} */ what) =>
    median((raw[name] ?? []).map((read) => read[what]));
  const ours = { s: of("subcrew", "seconds"), mb: of("subcrew", "megabytes"), ms: of("subcrew", "blockedMs") };
  const failed = [
    ...above("seconds to read 182 MB", ours.s, 1.3),
    ...above("megabytes", ours.mb, 250),
    ...above("milliseconds blocked", ours.ms, 50),
  ];
  return {
    title: "Reading a journal of 182 MB to resume its run",
    how: `medians of ${rounds}, each in a process of its own; the plain read parses every line`,
    columns: ["", "seconds", "cpu", "MB", "blocked ms", ""],
    rows: Object.keys(raw).map((name) => [
      name,
      of(name, "seconds").toFixed(2),
      of(name, "cpu").toFixed(2),
      of(name, "megabytes").toFixed(0),
      of(name, "blockedMs").toFixed(0),
      name !== "subcrew" ? "" : failed.length > 0 ? "FAIL" : "PASS",
    ]),
    failed,
    raw,
    table: [
      {
        what: "resume of a 182 MB journal",
        ours: `${ours.s.toFixed(2)} s, ${ours.mb.toFixed(0)} MB, loop blocked ${ours.ms.toFixed(0)} ms`,
        peers: `plain read and parse ${of("plain", "seconds").toFixed(2)} s, ${of("plain", "megabytes").toFixed(0)} MB`,
        goal: "<= 1.3 s, <= 250 MB, never blocked over 50 ms",
        met: failed.length === 0,
      },
    ],
  };
}
