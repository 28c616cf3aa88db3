import { fork } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { isAlive } from "../support/is-alive.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";

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
