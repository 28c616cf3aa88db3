// @ts-check
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { costPerNode, planCostPerNode } from "./executor/cost.mjs";
import { makespan } from "./executor/makespan.mjs";
import { memoryPerWaitingNode } from "./executor/memory.mjs";
import { versions } from "./executor/peers.mjs";
import { formatted } from "./executor/report.mjs";

const parts = { makespan, costPerNode, planCostPerNode, memoryPerWaitingNode };
const machine = { node: process.version, cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length };

process.stdout.write(`subcrew executor · node ${machine.node} · ${machine.cores} x ${machine.cpu}\n\n`);

/** @type {Record<string, unknown>} */
const results = { ...machine, peers: versions };
/** @type {string[]} */
const failed = [];
for (const [name, part] of Object.entries(parts)) {
  const report = await part();
  process.stdout.write(`${formatted(report)}\n`);
  results[name] = { ...report.raw, failed: report.failed };
  failed.push(...report.failed);
}

const folder = join(import.meta.dirname, "results");
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "executor.json"), `${JSON.stringify(results, null, 1)}\n`);

process.stdout.write(failed.length === 0 ? "PASS: all limits are met\n" : `FAIL: ${failed.join("; ")}\n`);
if (failed.length > 0) process.exitCode = 1;
