import { Worker } from "node:worker_threads";
import { messageOf } from "../../core/schema/error.ts";
import { passedEnv } from "../../core/secrets/pass-env.ts";
import type { Runner } from "../../core/task/runner.ts";
import { collectOutput } from "../../runtime/commands/child-output.ts";
import { createMeter } from "../../runtime/commands/process-meter.ts";
import { endBearers } from "../../runtime/commands/process-tree.ts";
import type { FromTask, ToTask } from "../../runtime/channel/protocol.ts";
import { heapLimitMB } from "./heap-limit.ts";
import { type SpawnParts, spawnTask, type TaskExit, type OpenChild } from "./spawn-task.ts";
import { portChannel } from "./thread-channel.ts";

/**
 * Runs each task in its own thread. The task cannot block this thread, its exceptions stay in its own thread, and its
 * heap has a limit. The threads share the process, so a crash of the process ends both.
 */
export const threadRunner = (parts: SpawnParts): Runner => spawnTask(openThread, parts);

const openThread: OpenChild = ({ entry, setup, marker, limits: { maxMemoryMB, enforce } }) => {
  const worker = new Worker(entry, {
    env: passedEnv(setup.env, setup.passEnv),
    execArgv: [],
    stdin: false,
    stdout: true,
    stderr: true,
    ...(maxMemoryMB !== undefined &&
      enforce && { resourceLimits: { maxOldGenerationSizeMb: heapLimitMB(maxMemoryMB) } }),
  });
  const output = collectOutput({});
  output.read(worker.stdout, worker.stderr);
  let thrown: unknown;
  worker.on("error", (error) => {
    thrown = error;
  });
  const exited = new Promise<number>((resolve) => worker.once("exit", resolve));
  const programs = createMeter({ marker });
  return {
    called: "thread",
    channel: portChannel<FromTask, ToTask>(worker),
    ended: exited.then(async (code) => {
      await endBearers(marker);
      return goneAs(code, thrown, output.text());
    }),
    used: async () => {
      const { memoryMB, cpuSeconds } = await programs();
      // V8 enforces the heap limit of the thread. The thread's processor time is the time in which its event loop was
      // not idle.
      return { memoryMB, cpuSeconds: cpuSeconds + worker.performance.eventLoopUtilization().active / 1_000 };
    },
    stop: async (graceMs) => {
      const timer = setTimeout(() => void worker.terminate(), graceMs);
      await exited;
      clearTimeout(timer);
      await endBearers(marker);
    },
  };
};

function goneAs(code: number, thrown: unknown, said: string): TaskExit {
  const outOfMemory = thrown instanceof Error && "code" in thrown && thrown.code === "ERR_WORKER_OUT_OF_MEMORY";
  return { how: `ended with code ${code}`, said: thrown === undefined ? said : messageOf(thrown), outOfMemory };
}
