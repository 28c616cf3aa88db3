// @ts-check
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { createCrew, defineAgent } from "../../dist/index.js";
import { run as bareCall } from "../loop/contenders/http-floor.mjs";

/**
 * An agent without tools whose model answers at once: the simulated provider also finds `TURNS` in the instructions.
 */
const worker = () => defineAgent({ name: "worker", description: "works", instructions: "Work. TURNS 0", tools: [] });

/**
 * A crew as users create it: with journal, search for agents, permissions and all other defaults.
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

/** Measures one model call over `node:http` and nothing else. @param {string} url @param {string} root */
export const bare = (url, root) => ask(bareCall, url, root);

/**
 * Runs one agent of a contender (a compared program) with one model call. @param {import("../loop/job.mjs").Contender}
 * contender @param {string} url @param {string} home
 */
export async function ask(contender, url, home) {
  await contender({ baseURL: url, prompt: "TURNS 0", agents: 1, turns: 0, look: () => "", home });
}

/** @param {import("../../dist/index.js").Run} run */
export async function good(run) {
  const { status, output } = await run.then((result) => result);
  if (status !== "ok") throw new Error(`the run ended with status ${status}: ${output}`);
}
