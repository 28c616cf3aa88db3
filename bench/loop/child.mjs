// @ts-check
// Runs one contender in its own process: executes the jobs that it receives, and reports the time of each.
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { peak, resetPeak } from "./peak.mjs";

const [, , name = "", folder = "", once = ""] = process.argv;
mkdirSync(folder, { recursive: true });
const home = mkdtempSync(join(folder, "home-"));
/** @type {{ run: import("./job.mjs").Contender }} */
const { run } = await import(`./contenders/${name}.mjs`);

if (once !== "") {
  await run({ baseURL: once, prompt: "TURNS 0", agents: 1, turns: 0, look: () => "", home });
  process.exit();
}

process.on("message", (/** @type {any} */ asked) => void answer(asked));
process.once("disconnect", () => process.exit());
process.send?.("ready");

/** @param {{ baseURL: string, prompt: string, agents: number, separate?: boolean, turns: number, result: number, expected: string }} asked */
async function answer({ result, expected, ...job }) {
  const text = "x".repeat(result);
  /** @type {number[]} */
  const at = [];
  const look = () => {
    if (job.agents === 1) at.push(performance.now());
    return text;
  };
  globalThis.gc?.();
  resetPeak();
  const before = process.memoryUsage.rss();
  const [began, used] = [performance.now(), process.cpuUsage()];
  try {
    const said = await run({ ...job, look, home });
    const ms = performance.now() - began;
    const { user, system } = process.cpuUsage(used);
    const wrong = said.length !== job.agents || said.some((one) => !one.startsWith(expected));
    if (wrong) throw new Error(`the agents answered ${JSON.stringify(said[0])?.slice(0, 100)} (${said.length} times)`);
    process.send?.({ ms, cpu: (user + system) / 1_000, bytes: peak() - before, at });
  } catch (error) {
    process.send?.({ error: String(error) });
  }
}
