import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { passedEnv } from "../../core/secrets/pass-env.ts";
import type { Runner } from "../../core/task/runner.ts";
import { type Child, type Exit, startChild } from "../../runtime/commands/child.ts";
import { createMeter } from "../../runtime/commands/process-meter.ts";
import { heapLimitMB } from "./heap-limit.ts";
import { pipeChannel } from "./pipe-channel.ts";
import type { FromTask, ToTask } from "../../runtime/channel/protocol.ts";
import { type SpawnParts, spawnTask, type TaskExit, type OpenChild } from "./spawn-task.ts";

/**
 * Runs each task in a child process: a crash does not affect this process, and the child's resources can be measured
 * and limited. The child has its own process group and ends with this process.
 */
export const processRunner = (parts: SpawnParts): Runner => spawnTask(openProcess, parts);

/** Environment variables that Node reads when it starts. API keys are not among them; they are sent with the task. */
const NODE_VARIABLES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"];

const openProcess: OpenChild = ({ entry, setup, marker, limits: { maxMemoryMB, enforce } }) => {
  const child = startChild({
    file: process.execPath,
    args: [
      ...(maxMemoryMB !== undefined && enforce ? [`--max-old-space-size=${heapLimitMB(maxMemoryMB)}`] : []),
      fileURLToPath(entry),
    ],
    cwd: setup.cwd,
    env: passedEnv(setup.env, [...(setup.passEnv ?? []), ...NODE_VARIABLES]),
    marker,
    piped: true,
  });
  const { input, output } = child.pipes ?? { input: new PassThrough(), output: new PassThrough().end() };
  return {
    called: "process",
    channel: pipeChannel<FromTask, ToTask>(output, input),
    ended: child.ended.then((exit) => goneAs(exit, child)),
    used: createMeter({ marker }),
    stop: (graceMs) => child.kill(graceMs),
  };
};

/** Why a child process ended; its output is used for the error message. */
function goneAs({ code, signal, problem }: Exit, { output }: Child): TaskExit {
  const said = output.text();
  const outOfMemory =
    (code !== undefined || signal === "SIGABRT") && /heap out of memory|allocation failed/i.test(said);
  if (problem !== undefined) return { how: "could not be started", said: problem, outOfMemory };
  return { how: signal === undefined ? `ended with code ${code}` : `was ended by ${signal}`, said, outOfMemory };
}
