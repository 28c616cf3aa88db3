// @ts-check
// Runs one built tree in its own process: executes the jobs that it receives with one crew, and reports the time of each.
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { schema, system, tool } from "../loop/job.mjs";
import { peak, resetPeak } from "../loop/peak.mjs";

const [, , tree = "", folder = "", url = ""] = process.argv;
mkdirSync(folder, { recursive: true });
const home = mkdtempSync(join(folder, "home-"));
/** @type {typeof import("../../src/index.ts")} */
const { createCrew, defineAgent, defineTool } = await import(pathToFileURL(join(tree, "dist", "lib", "index.js")).href);

let text = "";
const makeCrew = () =>
  createCrew({
    home: join(home, "state"),
    cwd: home,
    env: { HOME: home },
    agents: [defineAgent({ name: "looker", description: "looks at files", instructions: system, tools: ["look"] })],
    tools: [defineTool({ ...tool, input: schema, effect: "read", run: () => text })],
    providers: { house: { baseURL: url, apiKey: "key-of-the-house" } },
    model: "house/m",
  });
const crew = makeCrew();

/** Reads every event of a run and waits for its result. @param {import("../compare.mjs").Job} job */
async function one({ prompt, turns, expected, fresh = false }) {
  const run = (fresh ? makeCrew() : crew).run(
    { mode: "single", agent: "looker", task: prompt, resourceLimits: { maxTurns: turns + 2, maxDurationMs: 600_000 } },
    { maxTimeMs: 600_000, budget: { maxTokens: 1e9, maxToolCalls: 1e6, maxTurns: 1e6 } },
  );
  let events = 0;
  for await (const event of run) events += event.run === run.id ? 1 : 0;
  const { status, output } = await run;
  if (status !== "ok" || events === 0 || !output.startsWith(expected))
    throw new Error(`the run ended with status ${status}: ${output}`);
}

process.on("message", (/** @type {any} */ job) => void answer(job));
process.once("disconnect", () => process.exit());
process.send?.("ready");

/** @param {import("../compare.mjs").Job} job */
async function answer(job) {
  text = "x".repeat(job.result);
  globalThis.gc?.();
  resetPeak();
  const before = process.memoryUsage.rss();
  const [began, used] = [performance.now(), process.cpuUsage()];
  try {
    if (job.atOnce) await Promise.all(Array.from({ length: job.runs }, () => one(job)));
    else for (let n = 0; n < job.runs; n += 1) await one(job);
    const ms = performance.now() - began;
    const { user, system } = process.cpuUsage(used);
    process.send?.({ ms, cpu: (user + system) / 1_000, bytes: peak() - before });
  } catch (error) {
    process.send?.({ error: String(error) });
  }
}
