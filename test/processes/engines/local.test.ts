import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe } from "vitest";
import { createFolderStore } from "../../../src/runtime/store/folder-store.ts";
import { engineProcessSuite } from "../../engines/processes.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const coordinator = join(import.meta.dirname, "coordinator.mjs");

describe.runIf(process.platform === "linux").each(["local", "process", "thread"] as const)("runner %s", (runner) => {
  engineProcessSuite(`the local engine with the runner ${runner}`, async () => {
    const folder = tempFolder();
    const home = join(folder, "state");
    const started = new Set<ReturnType<typeof spawn>>();
    return {
      folder,
      store: createFolderStore(home),
      coordinate: (run, resume = false) => {
        const child = spawn(process.execPath, [coordinator, folder, runner, run, resume ? "resume" : "start"], {
          stdio: ["pipe", "pipe", "inherit"], // the coordinator notices by the end of its input that the test is gone
        });
        started.add(child);
        let said = "";
        child.stdout?.on("data", (chunk: Buffer) => (said += chunk.toString()));
        const ended = new Promise<string>((resolve) =>
          child.once("close", (_code, signal) => {
            started.delete(child);
            resolve(signal ?? said);
          }),
        );
        return { pid: child.pid!, ended };
      },
      together: runner === "local",
      afterDeath: "CRASHED",
      bury: (run) => {
        const dead = { pid: 1, started: "1", boot: "another" };
        return writeFile(join(home, "runs", run, "owner.1.json"), JSON.stringify(dead));
      },
      close: async () => {
        for (const child of started) child.kill("SIGKILL");
      },
    };
  });
});
