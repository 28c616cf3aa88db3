// @ts-check
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { createCrew, defineAgent } from "../../dist/index.js";
import { run as bareCall } from "../loop/contenders/http-floor.mjs";

/**
 * An agent without tools whose model answers at once: the scripted provider looks for `TURNS`, also in the
 * instructions.
 */
const worker = () => defineAgent({ name: "worker", description: "works", instructions: "Work. TURNS 0", tools: [] });

/**
 * A crew as users create it: journal, discovery, permissions and all other defaults.
 *
 * @param {string} url @param {string} root
 */
export function crewAt(url, root) {
  const home = mkdtempSync(join(root, "home-"));
  return createCrew({
    home: join(home, "state"),
    cwd: home,
    env: { HOME: home },
    providers: { house: { baseURL: url, apiKey: "key-of-the-house" } },
    model: "house/m",
    agents: [worker()],
  });
}

/** One call over `node:http` and nothing else. @param {string} url @param {string} root */
export const bare = (url, root) => ask(bareCall, url, root);

/** One agent of a contender with one call. @param {import("../loop/job.mjs").Contender} contender @param {string} url @param {string} home */
export async function ask(contender, url, home) {
  await contender({ baseURL: url, prompt: "TURNS 0", agents: 1, turns: 0, look: () => "", home });
}

/** @param {import("../../dist/index.js").Run} run */
export async function good(run) {
  const { status, output } = await run.then((result) => result);
  if (status !== "ok") throw new Error(`the run ended ${status}: ${output}`);
}
