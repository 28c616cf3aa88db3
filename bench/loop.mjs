// @ts-check
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { formatted } from "./executor/report.mjs";
import { homes, openServer } from "./loop/company.mjs";
import { parts } from "./loop/parts.mjs";

// npm run bench -- loop [--only turns,start] [--rounds 5]
const flag = (/** @type {string} */ name) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
const rounds = Number(flag("rounds") ?? 7);
const only = flag("only")?.split(",") ?? Object.keys(parts);
const unknown = only.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0 || !(rounds > 0)) {
  process.stderr.write(`usage: npm run bench -- loop [--only ${Object.keys(parts).join(",")}] [--rounds 7]\n`);
  process.exit(2);
}

const machine = { node: process.version, cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length };
const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "package.json"), "utf8"));
const { ai, openai, "@openai/agents": agents, "@langchain/langgraph": langgraph } = manifest.dependencies;
const pi = manifest.dependencies["@earendil-works/pi-agent-core"];
process.stdout.write(`subcrew loop · node ${machine.node} · ${machine.cores} x ${machine.cpu}\n\n`);

/** @type {Record<string, unknown>} */
const results = { ...machine, rounds, peers: { ai, langgraph, agents, openai, pi } };
/** @type {string[]} */
const failed = [];
const server = await openServer();
try {
  for (const [name, part] of Object.entries(parts)) {
    if (!only.includes(name)) continue;
    const report = await part({ url: server.url, rounds });
    process.stdout.write(`${formatted(report)}${report.failed.length === 0 ? "PASS" : "FAIL"}: ${name}\n\n`);
    results[name] = { ...report.raw, failed: report.failed };
    failed.push(...report.failed);
  }
} finally {
  server.close();
  rmSync(homes, { recursive: true, force: true });
}

const folder = join(import.meta.dirname, "results");
mkdirSync(folder, { recursive: true });
// A run of only some parts does not overwrite the results, because they must come from one measurement.
if (flag("only") === undefined) writeFileSync(join(folder, "loop.json"), `${JSON.stringify(results, null, 1)}\n`);
process.stdout.write(failed.length === 0 ? "PASS: all limits are met\n" : `FAIL: ${failed.join("; ")}\n`);
process.exit(failed.length === 0 ? 0 : 1);
