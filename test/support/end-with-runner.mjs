// Ends this worker and every process below it when the test runner is gone, however it ended: a worker without a runner
// would continue its tests, and the processes of the tests would run for ever.
import { readdirSync, readFileSync, writeSync } from "node:fs";

const KEY = Symbol.for("subcrew.tests.end-with-runner");

// Workers load this once per test file.
if (!globalThis[KEY] && process.connected) {
  globalThis[KEY] = true;
  const runner = process.ppid;
  process.once("disconnect", () => {
    // Says it when the runner still lives, because the runner only reports that the worker "exited unexpectedly".
    if (parentOf(runner) !== undefined)
      writeSync(2, `worker ${process.pid}: the channel to the runner ${runner} was closed\n`);
    for (const pid of processesBelow(process.pid)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {} // the process has ended by itself
    }
    process.exit(1);
  });
}

/** Children, their children and so on; none where the system does not list them in /proc. */
function processesBelow(top) {
  /** @type {Map<number, number[]>} */
  const children = new Map();
  for (const name of entriesOf("/proc")) {
    const parent = /^\d+$/.test(name) ? parentOf(name) : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found = [...(children.get(top) ?? [])];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

function entriesOf(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function parentOf(pid) {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(line.slice(line.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined; // the process has ended meanwhile
  }
}
