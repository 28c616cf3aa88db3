// Tools of these tests, as a module: they exist in every process and thread of a task.
import { spawn } from "node:child_process";

const tool = (name, run, more = {}) => ({
  name,
  description: name,
  input: { type: "object" },
  effect: "read",
  run,
  ...more,
});
const kept = [];

/** Starts another agent, as the delegation tools do. */
export const start = tool("start", async ({ agent }, { delegate }) => {
  const outcome = await delegate({ mode: "single", agent, task: "Help." });
  return outcome.status === "ok" ? outcome.output : outcome.status;
});
export const whereAmI = tool("where_am_i", () => String(process.pid));
export const variable = tool("variable", ({ name }, { env }) => `${name}=${env[name]} own=${process.env[name]}`);
export const crash = tool("crash", () => process.kill(process.pid, "SIGKILL"));
export const leave = tool("leave", () => {
  process.stderr.write("the tool has left the building\n");
  process.exit(7);
});
export const throwLater = tool("throw_later", () => {
  setTimeout(() => {
    throw new Error("nobody catches this");
  });
  return new Promise(() => {});
});
export const hog = tool("hog", async ({ megabytes, returns = false }) => {
  for (let taken = 0; taken < megabytes; taken += 20) {
    kept.push(Buffer.alloc(20 * 2 ** 20, 1));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  if (!returns) await new Promise(() => {});
  return "that was a lot";
});
export const fillHeap = tool("fill_heap", async ({ megabytes }) => {
  for (let taken = 0; taken < megabytes; taken++) {
    kept.push(Array.from({ length: 131_072 }, (_, at) => at + 0.5));
    if (taken % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return "that was a lot";
});
export const spin = tool("spin", async ({ ms }) => {
  for (const until = Date.now() + ms; Date.now() < until; ) {
    for (const pause = Date.now() + 50; Date.now() < pause; );
    await new Promise((resolve) => setImmediate(resolve));
  }
  return "dizzy";
});
/** Blocks its thread for ever. */
export const stand = tool("stand_still", () => {
  for (;;);
});
let [here, most] = [0, 0];
/** Returns how many of its calls ran at the same time: two at least, and more if more are allowed. */
export const crowd = tool("crowd", async () => {
  here += 1;
  most = Math.max(most, here);
  while (most < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => setTimeout(resolve, 100));
  here -= 1;
  return String(most);
});
export const hang = tool("hang", () => new Promise(() => {}));
/** Starts a process in another process group that ignores SIGTERM. When the task ends, this process must end, too. */
export const stubborn = tool("stubborn", (_, { env }) => {
  const child = spawn("/bin/sh", ["-c", "trap '' TERM; while :; do sleep 1; done"], {
    detached: true,
    stdio: "ignore",
    env: { ...env },
  });
  return new Promise((resolve) => child.once("spawn", () => resolve(new Promise(() => {}))));
});
export const stubbornAndStill = tool("stubborn_and_still", (input, context) => {
  stubborn.run(input, context);
  setTimeout(() => {
    for (;;);
  }, 200);
  return new Promise(() => {});
});
export const hogs = tool("hog_elsewhere", async ({ megabytes }, { env }) => {
  const program = `const k = []; setInterval(() => k.length < ${megabytes / 20} && k.push(Buffer.alloc(20 * 2 ** 20, 1)), 20)`;
  spawn(process.execPath, ["-e", program], { detached: true, stdio: "ignore", env: { ...env } });
  await new Promise(() => {});
});
