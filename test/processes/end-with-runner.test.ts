import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";

/** A process that has ended but was not waited for yet counts as gone. */
const isAlive = (pid: number): boolean => {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
};

test.runIf(process.platform === "linux")(
  "when the test runner is killed, its workers end, and so do the processes of their tests",
  async () => {
    const setup = pathToFileURL(join(import.meta.dirname, "../support/end-with-runner.mjs")).href;
    const folder = tempFolder({
      "runner.mjs": `import { fork } from "node:child_process";
        const worker = fork("worker.mjs", { execArgv: ["--import", ${JSON.stringify(setup)}] });
        worker.once("message", (pids) => process.send([worker.pid, ...pids]));`,
      "worker.mjs": `import { spawn } from "node:child_process";
        const shell = spawn("sh", ["-c", "sleep 300 & echo $!; wait"], { detached: true });
        shell.stdout.once("data", (pid) => process.send([shell.pid, Number(pid)]));
        setInterval(() => {}, 1_000);`,
    });
    const runner = fork(join(folder, "runner.mjs"), { cwd: folder, execArgv: [] });
    const pids = await new Promise<number[]>((resolve) => runner.once("message", (all) => resolve(all as number[])));
    expect(pids.map(isAlive)).toEqual([true, true, true]);
    runner.kill("SIGKILL");
    await until(() => !pids.some(isAlive));
  },
);
