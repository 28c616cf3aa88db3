// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { connectEngine } from "../../dist/engines/connect.js";
import { dbosQueue } from "../../dist/engines/dbos/queue.js";
import { coordinate } from "../../dist/engines/distributed.js";
import { createMemoryStore } from "../../dist/runtime/store/memory-store.js";
import { runsOf, startDatabase } from "./site.mjs";

const SLOTS = 8;
const TURNS_PER_SLOT = 12;

/**
 * Measures how many one-second tasks 1, 2 and 4 worker processes execute, compared with the capacity of their slots.
 */
export async function scaleWorkers() {
  const site = await startDatabase();
  const here = connectEngine(site.url, { local: createMemoryStore() });
  const queue = dbosQueue(here.database);
  const { run: begin } = runsOf(coordinate(here, queue), here);
  /** @type {import("node:child_process").ChildProcess[]} */
  const workers = [];
  const found = [];
  for (const count of [1, 2, 4]) {
    while (workers.length < count) {
      const file = join(import.meta.dirname, "worker.mjs");
      const child = spawn(process.execPath, [file, site.url, String(SLOTS)], { stdio: ["pipe", "pipe", "inherit"] });
      workers.push(child);
      await once(child.stdout, "data");
    }
    const run = await begin();
    await Promise.all(Array.from({ length: count * SLOTS }, (_, at) => run.task(`w${at}`)));
    const tasks = count * SLOTS * TURNS_PER_SLOT;
    const began = performance.now();
    await Promise.all(Array.from({ length: tasks }, (_, at) => run.task(`t${at}`)));
    const perSecond = tasks / ((performance.now() - began) / 1_000);
    await run.end();
    found.push({ workers: count, perSecond, ofIdeal: perSecond / (count * SLOTS) });
  }
  for (const child of workers) child.stdin?.end();
  await Promise.all(workers.map((child) => once(child, "close")));
  await queue.close();
  await here.database.close();
  await site.stop();
  return found;
}
