// @ts-check
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createFeed, EVERY_MS } from "./feed.mjs";

/**
 * Runs one contender (compared program) in its own process: `child.mjs CONTENDER COLUMNS ROWS SECONDS`; prints the
 * measurements as JSON.
 */
const [name = "", columns = "80", rows = "24", seconds = "10"] = process.argv.slice(2);
const size = { columns: Number(columns), rows: Number(rows) };
/** @type {number[]} */
const frames = [];
let bytes = 0;
let clears = 0;
let open = 0;
let unbracketed = 0;
/** Counts the output and passes it to a reader that discards it, as fast as a terminal would. */
const write = (/** @type {string} */ text) => {
  bytes += Buffer.byteLength(text);
  if (/\u001b\[(?:2|3)J/.test(text)) clears += 1;
  if (!(text.startsWith("\u001b[?2026h") && text.endsWith("\u001b[?2026l"))) unbracketed += 1;
  process.stdout.write(text);
  open += 1;
};

const feed = createFeed();
const contenders = {
  quiet: async () => () => {},
  subcrew: async () => (await import("./subcrew.mjs")).createDrawing(size, write),
  ink: async () => (await import("./ink.mjs")).createDrawing(size, write),
};
const draw = await contenders[/** @type {keyof typeof contenders} */ (name)]();
const delay = monitorEventLoopDelay({ resolution: 10 });
/** The output since the last tick is one frame. */
const step = () => {
  if (bytes > 0) frames.push(bytes);
  bytes = 0;
  feed.tick();
  draw(feed.state);
};
for (let at = 0; at < 10; at += 1) step(); // the first frames load and compile code, so they do not count
await new Promise((done) => setTimeout(done, 1_000));
frames.length = 0;
clears = 0;
unbracketed = 0;
open = 0;
const cpu = process.cpuUsage();
const start = performance.now();
const timer = setInterval(step, EVERY_MS);
await new Promise((done) => setTimeout(done, Number(seconds) * 1_000));
const { user, system } = process.cpuUsage(cpu);
const ms = performance.now() - start;
const writes = open;
// The monitor of event loop delays wakes up a hundred times a second, which costs about half a percent of a core, so it
// runs after the measurement.
delay.enable();
await new Promise((done) => setTimeout(done, Number(seconds) * 500));
delay.disable();
clearInterval(timer);
const sorted = frames.toSorted((a, b) => a - b);
process.stderr.write(
  JSON.stringify({
    cpu: (user + system) / 10 / ms,
    p99: delay.percentile(99) / 1e6,
    writes,
    bytes: sorted[Math.floor(sorted.length / 2)] ?? 0,
    clears,
    unbracketed,
    rss: Math.round(process.memoryUsage.rss() / 1e6),
  }),
);
process.exit(0);
