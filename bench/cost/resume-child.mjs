// @ts-check
// Reads the journal of a run in a process of its own: `ours HOME RUN`, or `plain FILE`.
import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { readRecordedRun } from "../../dist/runtime/resume/recorded-run.js";
import { createFolderStore } from "../../dist/runtime/store/folder-store.js";

const [, , way, place = "", run = ""] = process.argv;
const work =
  way === "ours"
    ? () => readRecordedRun(createFolderStore(place), run)
    : async () =>
        readFileSync(place, "utf8")
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line));

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
await new Promise((resolve) => setTimeout(resolve, 50)); // waits for the end of the start-up, and for the first tick of the monitor
globalThis.gc?.();
await new Promise((resolve) => setTimeout(resolve, 20));
delay.reset();
const before = process.memoryUsage.rss();
const used = process.cpuUsage();
const began = performance.now();
const kept = await work();
await new Promise((resolve) => setTimeout(resolve, 10)); // a delay is recorded only after it has ended
delay.disable();
const { user, system } = process.cpuUsage(used);
const peak = Number(/VmHWM:\s*(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1_024;
process.stdout.write(
  JSON.stringify({
    seconds: (performance.now() - began - 10) / 1_000,
    cpu: (user + system) / 1e6,
    megabytes: (peak - before) / 1e6,
    blockedMs: delay.max / 1e6,
    kept: kept !== undefined,
  }),
);
process.exit();
