// @ts-check
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus } from "node:os";
import { join } from "node:path";
import { writeCorpus } from "./discovery/corpus.mjs";
import { fresh } from "./discovery/fresh.mjs";
import { hostile } from "./discovery/hostile.mjs";
import { warm } from "./discovery/warm.mjs";
import { formatted } from "./executor/report.mjs";

const FILES = 2_000;
const SEED = 1;

const require = createRequire(import.meta.url);
const peers = Object.fromEntries(
  ["js-yaml", "gray-matter"].map((name) => [name, require(`${name}/package.json`).version]),
);
const machine = { node: process.version, cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length };
const { remove, ...corpus } = writeCorpus(FILES, SEED);
const { files, bytes, directories } = corpus;

process.stdout.write(
  `subcrew discovery · node ${machine.node} · ${machine.cores} x ${machine.cpu}\n` +
    `${files.toLocaleString("en")} files, ${(bytes / 2 ** 20).toFixed(1)} MiB, in ${directories.length} directories\n\n`,
);

/** @type {Record<string, unknown>} */
const results = { ...machine, peers, seed: SEED, files, bytes };
/** @type {string[]} */
const failed = [];
try {
  for (const part of [fresh, warm, hostile]) {
    for (const report of await part(corpus)) {
      process.stdout.write(`${formatted(report)}\n`);
      results[report.title] = { ...report.raw, failed: report.failed };
      failed.push(...report.failed);
    }
  }
} finally {
  remove();
}

const folder = join(import.meta.dirname, "results");
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "discovery.json"), `${JSON.stringify(results, null, 1)}\n`);

process.stdout.write(failed.length === 0 ? "PASS: all limits are met\n" : `FAIL: ${failed.join("; ")}\n`);
if (failed.length > 0) process.exitCode = 1;
