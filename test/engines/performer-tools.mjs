// Tools for the process suite of engines, as a module: they act on the process or thread in which a task is performed.
import { appendFileSync, existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

const tool = (name, run) => ({
  name,
  description: name,
  input: { type: "object" },
  effect: "write",
  run,
});
/** Writes a complete file; returns false if it exists already. */
const first = (cwd, name) => {
  const file = join(cwd, name);
  if (existsSync(file)) return false;
  writeFileSync(`${file}.draft`, String(process.pid));
  renameSync(`${file}.draft`, file);
  return true;
};

export const note = tool("note", ({ line }, { cwd }) => {
  appendFileSync(join(cwd, "notes"), `${line}\n`);
  return "noted";
});
/** Kills the process of the task, or only its thread. */
export const die = tool("die_once", (_, { cwd }) => {
  if (!first(cwd, "died")) return "survived";
  if (isMainThread) process.kill(process.pid, "SIGKILL");
  process.exit(9);
});
export const hang = tool("hang_once", (_, { cwd }) => (first(cwd, "hung") ? new Promise(() => {}) : "went on"));
/** Stops the process of the task, or only its thread, until it is continued. */
export const freeze = tool("freeze_once", (_, { cwd }) => {
  if (!first(cwd, "frozen")) return "warm";
  if (isMainThread) process.kill(process.pid, "SIGSTOP");
  else while (!existsSync(join(cwd, "thaw"))) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  return "thawed";
});
