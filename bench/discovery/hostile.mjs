// @ts-check
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "../executor/sample.mjs";
import { subcrew } from "./contenders.mjs";
import { hostileFiles } from "./hostile-files.mjs";

const ROUNDS = 7;
const LIMIT_MS = 100;

/** The directories into which every file is written, one per file format. */
const places = [".claude/agents", ".subcrew/agents", ".omp/agent/agents", ".gemini/agents", ".config/opencode/agents"];

/**
 * The time for the worst files, each together with one valid file, in the slowest file format.
 *
 * @returns {Promise<import("../executor/report.mjs").Report[]>}
 */
export async function hostile() {
  const { discoverAgents } = await subcrew();
  /** @type {import("../executor/report.mjs").Report} */
  const report = {
    title: `Hostile files: each at most ${LIMIT_MS} ms, and the file beside it is found`,
    how: `median and worst of ${ROUNDS}, of the slowest of ${places.length} dialects`,
    columns: ["", "ms", "worst", ""],
    rows: [],
    failed: [],
    raw: { limit: LIMIT_MS },
  };
  for (const [name, write] of Object.entries(hostileFiles)) {
    const text = write();
    /** @type {{ ms: number[]; found: boolean }[]} */
    const taken = [];
    for (const place of places) {
      const home = mkdtempSync(join(tmpdir(), "subcrew-bench-"));
      mkdirSync(join(home, place), { recursive: true });
      writeFileSync(join(home, place, "hostile.md"), text);
      writeFileSync(join(home, place, "fine.md"), "---\nname: fine\ndescription: d\n---\nBody\n");
      taken.push(await rounds(() => discoverAgents("/nowhere", { home })));
      rmSync(home, { recursive: true });
    }
    const [slowest] = taken.toSorted((a, b) => median(b.ms) - median(a.ms));
    const ok = taken.every(({ found }) => found) && median(slowest?.ms ?? []) <= LIMIT_MS;
    if (!ok) report.failed.push(name);
    const [middle, worst] = [median(slowest?.ms ?? []), Math.max(...(slowest?.ms ?? []))];
    report.rows.push([name, middle.toFixed(1), worst.toFixed(1), ok ? "PASS" : "FAIL"]);
    report.raw[name] = Object.fromEntries(places.map((place, at) => [place, taken[at]?.ms]));
  }
  return [report];
}

/** @param {() => Promise<import("../../src/compat/omp/discover-agents.ts").AgentDiscoveryResult>} discover */
async function rounds(discover) {
  const ms = [];
  let found = true;
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now();
    const { agents } = await discover();
    ms.push(performance.now() - began);
    found &&= agents.some(({ name }) => name === "fine");
  }
  return { ms, found };
}
