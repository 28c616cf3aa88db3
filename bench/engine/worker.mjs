// @ts-check
// A worker whose turns take one second; it exits when its standard input ends.
import { setTimeout as sleep } from "node:timers/promises";
import { connectEngine } from "../../dist/engines/connect.js";
import { listenToQueue } from "../../dist/engines/dbos/listen.js";
import { startWorker } from "../../dist/engines/worker.js";
import { createMemoryStore } from "../../dist/runtime/store/memory-store.js";
import { announcement } from "./site.mjs";

const [url = "", slots = "8", pollMs = "100"] = process.argv.slice(2);
const own = { ...announcement, slots: Number(slots) };
const connection = connectEngine(url, {
  local: createMemoryStore(),
  worker: { role: "work", announcement: own },
});
const worker = await startWorker({
  connection,
  announcement: own,
  pollMs: Number(pollMs),
  listen: listenToQueue,
  perform: async () => {
    await sleep(1_000);
    return { status: "ok", output: "done" };
  },
});
process.stdout.write("ready\n");
process.stdin.resume();
process.stdin.once("end", () => {
  void worker.drain(500).then(() => process.exit());
});
