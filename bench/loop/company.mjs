// @ts-check
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/**
 * The measurements of a job: milliseconds, milliseconds of processor time, peak memory in bytes, and the times of the
 * tool calls.
 *
 * @typedef {{ ms: number, cpu: number, bytes: number, at: number[] }} Taken
 * @typedef {{ baseURL: string, prompt: string, agents: number, separate?: boolean, turns: number, result: number, expected: string }} Asked
 */

const here = import.meta.dirname;
/** A temporary folder of the project, so that the journal is on the project's disk. */
export const homes = join(here, "..", ".homes");

/** Starts the simulated provider in its own process. */
export async function openServer() {
  const child = spawn(process.execPath, [join(here, "server.mjs")], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  const [line] = await once(/** @type {import("node:stream").Readable} */ (child.stdout), "data");
  return { url: String(line).trim(), close: () => void child.kill() };
}

/**
 * Starts one contender (compared program) in its own process.
 *
 * @param {string} name
 */
export async function openContender(name) {
  const child = fork(join(here, "child.mjs"), [name, homes], { execArgv: ["--expose-gc"] });
  await once(child, "message");
  const ended = gone(child, name);
  ended.catch(() => {}); // the process is ended on purpose after the last request
  return {
    /** @param {Asked} asked @returns {Promise<Taken>} */
    async ask(asked) {
      child.send(asked);
      const [taken] = await Promise.race([once(child, "message"), ended]);
      if (taken.error !== undefined) throw new Error(`${name}: ${taken.error}`);
      return taken;
    },
    close: () => child.disconnect(),
  };
}

/** @param {import("node:child_process").ChildProcess} child @param {string} name @returns {Promise<never>} */
async function gone(child, name) {
  const [code] = await once(child, "exit");
  throw new Error(`${name} exited with ${code}`);
}
