import { Socket } from "node:net";
import { isMainThread, parentPort } from "node:worker_threads";
import { emptyCatalog } from "./core/delegation/catalog.ts";
import { defined } from "./core/text/defined.ts";
import type { CrewSetup } from "./crew/outfit/setup.ts";
import { createOutfit } from "./crew/outfit/outfit.ts";
import { serveParent, type RunJob } from "./runtime/channel/child-side.ts";
import { pipeChannel } from "./runners/process/pipe-channel.ts";
import type { FromTask, TaskChannel, ToTask } from "./runtime/channel/protocol.ts";
import { portChannel } from "./runners/process/thread-channel.ts";
import { stopped } from "./runtime/async/cancel.ts";
import { loop } from "./runtime/loop/loop.ts";
import { assign } from "./runtime/task/assign.ts";

/**
 * Executes one task in a child process: assigns agent, tools, model and prompt as the parent process would, and runs
 * the loop of model turns and tool calls. Everything else is requested from the parent process.
 */
const work: RunJob = async (job, context, given) => {
  const { call, agent, prices, holds, providers, permissions, projectInstructions, catalog = emptyCatalog } = job;
  const setup = given as CrewSetup;
  const { models, worldFor } = createOutfit({ ...setup, ...defined({ projectInstructions }) });
  if (prices) await models.loadPrices();
  const roster = { find: () => agent, names: () => [agent.name], catalog: () => catalog };
  const world = {
    ...(await worldFor(roster, loop, permissions)),
    ...(holds && { models: models.forRun(holds, providers) }),
  };
  let assigned = false;
  const assignment = await assign(call, world, (fact) => {
    if (assigned) context.emit(fact); // the parent process already reported the events of the assignment
  });
  assigned = true;
  try {
    return "status" in assignment ? assignment : await loop(assignment, context);
  } finally {
    await Promise.all([world.peers?.end(), "status" in assignment ? undefined : assignment.access?.end()]);
  }
};

function channelToHost(): TaskChannel {
  if (!isMainThread && parentPort) return portChannel<ToTask, FromTask>(parentPort);
  return pipeChannel<ToTask, FromTask>(
    new Socket({ fd: 3, readable: true, writable: false }),
    new Socket({ fd: 4, readable: false, writable: true }),
  );
}

const stop = new AbortController();
if (isMainThread) process.on("SIGTERM", () => stop.abort(stopped("the task's process received SIGTERM")));
const channel = channelToHost();
await serveParent(channel, work, stop.signal);
await channel.close();
process.exit(0); // ends the process even if other work is still pending
