// @ts-check
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createShellCommands } from "../dist/runtime/commands/commands.js";
import { InFlight } from "../dist/runtime/commands/in-flight.js";
import { probeSandbox } from "../dist/runtime/commands/probe-sandbox.js";

/**
 * Measures the cost of a command in the sandbox, in a folder with few files and in one with 100,000, as a multiple of
 * the same command in bubblewrap alone, because a busy machine slows both.
 */
const ROUNDS = Number(process.argv[2] ?? 40);
const sandbox = await probeSandbox();
if (sandbox.bwrap === undefined) {
  process.stderr.write(`${sandbox.text}\n`);
  process.exit(1);
}
const root = mkdtempSync(join(tmpdir(), "subcrew-bench-"));
process.once("exit", () => rmSync(root, { recursive: true, force: true }));

/** @param {string} name @param {number} folders */
function tree(name, folders) {
  const ws = join(root, name);
  mkdirSync(join(ws, ".git", "hooks"), { recursive: true });
  writeFileSync(join(ws, ".npmrc"), "");
  for (let at = 0; at < folders; at++) {
    const folder = join(ws, `d${at % 100}`, `s${at}`);
    mkdirSync(folder, { recursive: true });
    for (let file = 0; file < 10; file++) writeFileSync(join(folder, `f${file}.ts`), "");
  }
  return ws;
}

/** @param {string} ws @param {boolean} kept */
function commandsIn(ws, kept) {
  const state = join(root, "state");
  return createShellCommands({
    name: "bench",
    cwd: ws,
    writable: [ws],
    wish: "auto",
    sandbox,
    network: () => false,
    inFlight: new InFlight({ ...(kept && { state }) }),
    rootAt: (folder) => ({ root: folder, place: "", named: "", homes: [] }),
    allow: () => [],
    homes: [],
    hidden: async () => [],
    env: () => ({ PATH: "/usr/bin:/bin" }),
  });
}

/** @param {string} ws */
function alone(ws) {
  const options = ["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];
  spawnSync(String(sandbox.bwrap), [...options, "--bind", ws, ws, "/bin/bash", "-c", "true"]);
}

/** @param {number[]} values */
const median = (values) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

const signal = new AbortController().signal;
/** @type {Record<string, unknown>} */
const results = { node: process.version, cpu: cpus()[0]?.model ?? "", cores: cpus().length, rounds: ROUNDS };
for (const [name, folders] of /** @type {const} */ ([
  ["small tree", 10],
  ["100,000 files", 10_000],
])) {
  const ws = tree(name.replaceAll(/\W/g, "-"), folders);
  await new Promise((resolve) => setTimeout(resolve, 3_000)); // recently changed folders are read again each time
  const ways = { "with a record": commandsIn(ws, true), "without a record": commandsIn(ws, false) };
  /** @type {Record<string, number[]>} */
  const times = { "bubblewrap alone": [], ...Object.fromEntries(Object.keys(ways).map((way) => [way, []])) };
  /** @type {Record<string, number>} */
  const first = {};
  for (let round = -1; round < ROUNDS; round++) {
    // Alternates between all ways of running the command, so that a disturbance affects all of them.
    for (const [way, host] of Object.entries(ways)) {
      const began = performance.now();
      await host.commands.run("true", { timeoutMs: 60_000, signal, report: () => {} });
      if (round < 0) first[way] = performance.now() - began;
      else times[way]?.push(performance.now() - began);
    }
    const began = performance.now();
    alone(ws);
    if (round >= 0) times["bubblewrap alone"]?.push(performance.now() - began);
  }
  const base = median(times["bubblewrap alone"] ?? []);
  /** @type {[string, object][]} */
  const rows = Object.entries(times).map(([way, values]) => {
    const ms = median(values);
    return [
      way,
      { ms: round2(ms), perSecond: round2(1_000 / ms), ratio: round2(ms / base), first: round2(first[way] ?? ms) },
    ];
  });
  results[name] = Object.fromEntries(rows);
  process.stdout.write(`${name}\n`);
  for (const [way, row] of rows) process.stdout.write(`  ${way.padEnd(18)} ${JSON.stringify(row)}\n`);
}
writeFileSync(join(import.meta.dirname, "results", "sandbox.json"), `${JSON.stringify(results, null, 1)}\n`);

/** @param {number} value */
function round2(value) {
  return Math.round(value * 100) / 100;
}
