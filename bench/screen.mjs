// @ts-check
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Measures the screen of `subcrew watch` with 200 agents that change ten times a second, compared with the library ink.
 * Each contender (measured program) applies the same events in a process of its own; `quiet` applies them and draws
 * nothing. The exit code is 1 when a limit is exceeded.
 */
const SECONDS = Number(process.argv[2] ?? 10);
const ROUNDS = Number(process.argv[3] ?? 3);
const sizes = /** @type {const} */ ([
  { columns: 80, rows: 24, bytes: 1_200 },
  { columns: 200, rows: 50, bytes: 3_000 },
]);
const names = /** @type {const} */ (["quiet", "subcrew", "ink"]);

/** @typedef {{ cpu: number; p99: number; writes: number; bytes: number; clears: number; unbracketed: number; rss: number }} Measured */

/** @param {string} name @param {number} columns @param {number} rows @returns {Promise<Measured>} */
function measure(name, columns, rows) {
  const file = join(import.meta.dirname, "screen", "child.mjs");
  const child = spawn(process.execPath, [file, name, String(columns), String(rows), String(SECONDS)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_ENV: "production", FORCE_COLOR: "1" },
  });
  child.stdout.resume();
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  return new Promise((done, fail) =>
    child.once("close", (code) =>
      code === 0 ? done(JSON.parse(said.slice(0, said.lastIndexOf("}") + 1))) : fail(new Error(`${name}: ${said}`)),
    ),
  );
}

/** @param {readonly number[]} values */
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const rows = [];
let held = true;
for (const { columns, rows: height, bytes } of sizes) {
  /** @type {Map<string, Measured[]>} */
  const all = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1)
    for (const name of names) all.get(name)?.push(await measure(name, columns, height));
  /** @param {string} name @param {keyof Measured} key */
  const of = (name, key) => median((all.get(name) ?? []).map((each) => each[key]));
  for (const name of names)
    rows.push({
      size: `${columns}x${height}`,
      contender: name,
      "CPU of one core, %": of(name, "cpu").toFixed(2),
      "loop delay p99, ms": of(name, "p99").toFixed(1),
      "bytes per frame": of(name, "bytes"),
      "writes per s": (of(name, "writes") / SECONDS).toFixed(1),
      "full clears": of(name, "clears"),
      "RSS, MB": of(name, "rss"),
    });
  const limits = /** @type {const} */ ([
    ["CPU at most 3 %", of("subcrew", "cpu") <= 3],
    [`median frame at most ${bytes} bytes`, of("subcrew", "bytes") <= bytes],
    ["loop delay p99 at most 10 ms above quiet", of("subcrew", "p99") - of("quiet", "p99") <= 10],
    ["no full clear after the first frame", of("subcrew", "clears") === 0],
    [
      "one write per frame inside ?2026",
      of("subcrew", "unbracketed") === 0 && of("subcrew", "writes") <= SECONDS * 10 + 1,
    ],
  ]);
  for (const [what, ok] of limits) {
    held &&= ok;
    process.stdout.write(`${ok ? "ok  " : "FAIL"} ${columns}x${height}: ${what}\n`);
  }
}
console.table(rows);
writeFileSync(join(import.meta.dirname, "results", "screen.json"), `${JSON.stringify(rows, null, 2)}\n`);
process.exitCode = held ? 0 : 1;
