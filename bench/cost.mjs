// @ts-check
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { crowd, turn } from "./cost/company.mjs";
import { dag } from "./cost/dag.mjs";
import { folderCost } from "./cost/disk.mjs";
import { node, run } from "./cost/fixed.mjs";
import { listing } from "./cost/listing.mjs";
import { log } from "./cost/log.mjs";
import { circumstances, fill, markdownTable } from "./cost/readme.mjs";
import { resume } from "./cost/resume.mjs";
import { formatted } from "./executor/report.mjs";
import { homes, openServer } from "./loop/company.mjs";

// npm run bench -- cost [--only run,node] [--rounds 5]
const flag = (/** @type {string} */ name) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
const rounds = Number(flag("rounds") ?? 5);

/** The parts, in the order of the table. @type {Record<string, import("./cost/measure.mjs").Part>} */
const parts = {
  run,
  node,
  turn,
  runs1000: crowd({ separate: true, times: 3.5, kilobytes: 250 }),
  agents1000: crowd({ separate: false, times: 2.2, kilobytes: 150 }),
  dag,
  resume,
  log,
  ps: listing,
};
const only = flag("only")?.split(",") ?? Object.keys(parts);
if (only.some((name) => !Object.hasOwn(parts, name)) || !(rounds > 0)) {
  process.stderr.write(`usage: npm run bench -- cost [--only ${Object.keys(parts).join(",")}] [--rounds 5]\n`);
  process.exit(2);
}

process.removeAllListeners("warning"); // LangGraph's abort signals have many listeners, about which Node would warn
const began = performance.now();
const machine = { node: process.version, cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length };
/** @type {Record<string, any>} */
const results = { ...machine, load: loadavg(), rounds };
/** @type {string[]} */
const failed = [];
/** @type {import("./cost/measure.mjs").Row[]} */
const table = [];
const root = mkdtempSync(join(import.meta.dirname, ".cost-"));
const disk = folderCost(root);
results["disk"] = disk;
process.stdout.write(`creating a folder with two files takes ${disk.toFixed(2)} ms on this disk\n\n`);
const server = await openServer();
try {
  for (const [name, part] of Object.entries(parts)) {
    if (!only.includes(name)) continue;
    const start = performance.now();
    const load = loadavg();
    const report = await part({ url: server.url, root, rounds });
    const seconds = (performance.now() - start) / 1_000;
    const verdict = report.failed.length === 0 ? "PASS" : "FAIL";
    process.stdout.write(
      `${formatted(report)}${verdict}: ${name} (${seconds.toFixed(0)} s, load ${load[0]?.toFixed(1)})\n\n`,
    );
    results[name] = { load, seconds, ...report.raw, failed: report.failed };
    failed.push(...report.failed);
    table.push(...report.table);
  }
} finally {
  server.close();
  rmSync(root, { recursive: true, force: true });
  rmSync(homes, { recursive: true, force: true });
}
const minutes = (performance.now() - began) / 60_000;
const rows = table.map(({ what, ours, peers, goal, met }) => [what, ours, peers, goal, met ? "met" : "**missed**"]);
const text = markdownTable(["workload", "subcrew", "peers", "goal", ""], rows);
process.stdout.write(`${text}\n\n`);
// A run of only some parts does not overwrite the results, because they must come from one measurement.
if (flag("only") === undefined) {
  const folder = join(import.meta.dirname, "results");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "cost.json"), `${JSON.stringify({ ...results, minutes, table }, null, 1)}\n`);
  fill("cost", `${circumstances({ ...machine, load: results["load"], disk, minutes })}\n\n${text}`);
}
process.stdout.write(failed.length === 0 ? "PASS: all limits are met\n" : `FAIL: ${failed.join("; ")}\n`);
process.exit(failed.length === 0 ? 0 : 1);
