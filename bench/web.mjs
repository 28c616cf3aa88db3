// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";

/**
 * Measures the page of `subcrew web` with a run of 1,000 nodes and 10,000 events: how long it takes to open, and what
 * 200 events a second cost in each view while the transcript of a running task is open beside it. The server is the
 * built command-line program, another process records the run, and the browser is Chromium without a window. The exit
 * code is 1 when a limit is exceeded.
 */
const SECONDS = Number(process.argv[2] ?? 5);
const ROUNDS = Number(process.argv[3] ?? 3);
const only = process.argv[4];
const LIMITS = { openMs: 1_000, scriptMs: 80, frameMs: 100, updates: 190, bytes: 60 * 1024 };
const views = ["tree", "graph", "graph, all of it", "timeline", "events"].filter(
  (view) => only === undefined || view === only,
);

const place = mkdtempSync(join(tmpdir(), "subcrew-bench-web-"));
const state = join(place, "state");
const cwd = join(place, "work");
for (const folder of [state, cwd]) mkdirSync(folder, { recursive: true });
const run = "run_bench0000web";
const env = { PATH: process.env["PATH"] ?? "", HOME: place, SUBCREW_HOME: state, LANG: "C.UTF-8" };
const command = join(import.meta.dirname, "..", "dist", "cli", "main.js");

/** The timeout of each step on a machine that is not overloaded. */
const LONGEST_WAIT_MS = 60_000;

/**
 * Waits for a word in the output of a process; fails when the process ends, or on a timeout.
 *
 * @param {import("node:child_process").ChildProcess} child
 * @param {"stdout" | "stderr"} of
 * @param {string} word
 * @returns {Promise<string>}
 */
function said(child, of, word, waitMs = LONGEST_WAIT_MS) {
  return new Promise((done, failed) => {
    let text = "";
    const stream = /** @type {import("node:stream").Readable} */ (child[of]);
    const name = child.spawnargs.slice(1, 3).join(" ");
    const stop = () => {
      clearTimeout(timer);
      stream.off("data", hear);
      child.off("exit", exited);
    };
    const hear = (/** @type {Buffer} */ chunk) => {
      text += chunk;
      if (!text.includes(word)) return;
      stop();
      done(text);
    };
    const exited = (/** @type {number | null} */ code) => {
      stop();
      failed(new Error(`"${name}" exited with ${code} before it printed "${word}"`));
    };
    const timer = setTimeout(() => {
      stop();
      failed(new Error(`"${name}" did not print "${word}" within ${waitMs / 1_000} s`));
    }, waitMs);
    stream.on("data", hear);
    child.once("exit", exited);
  });
}

/** @param {readonly number[]} values */
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Records when the first task is painted, and the intervals between frames. */
function watchFrames() {
  const seen = { openMs: 0, longest: 0, count: 0 };
  Object.assign(globalThis, { seen });
  let last = performance.now();
  const frame = () => {
    const now = performance.now();
    seen.longest = Math.max(seen.longest, now - last);
    seen.count += 1;
    last = now;
    const ready = document.querySelector(".all-rows .task-row, .graph .box, .bar-row, .log-row");
    if (seen.openMs === 0 && ready) seen.openMs = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

/** @typedef {{ openMs: number; scriptMs: number; layoutMs: number; taskMs: number; frameMs: number; fps: number; updates: number; serverMs: number }} Measured */

const feed = spawn(process.execPath, [join(import.meta.dirname, "web", "feed.mjs"), state, run, cwd], {
  stdio: ["pipe", "pipe", "inherit"],
});
await said(feed, "stdout", "ready");
const server = spawn(process.execPath, [command, "web"], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
const [link] = await Promise.all([said(server, "stdout", "\n"), said(server, "stderr", "Ctrl-C")]);
const path =
  process.env["CHROMIUM"] ?? ["/usr/bin/chromium", "/usr/bin/google-chrome"].find((each) => existsSync(each));
const browser = await chromium.launch({
  ...(path === undefined ? {} : { executablePath: path }),
  args: ["--disable-dev-shm-usage", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
});

/** The processor time of the server so far, in ms. */
const serverTime = () => {
  try {
    const fields = readFileSync(`/proc/${server.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
};

/** @param {import("playwright-core").BrowserContext} context @param {string} base @param {string} view @returns {Promise<Measured>} */
async function measure(context, base, view) {
  const page = await context.newPage();
  page.setDefaultTimeout(LONGEST_WAIT_MS);
  await page.addInitScript(watchFrames);
  const shown = view.startsWith("graph") ? "graph" : view;
  // Selects a running task: its row changes in every view, and its transcript grows beside it.
  await page.goto(`${base}#/run/${run}/part-0620${shown === "tree" ? "" : `?view=${shown}`}`);
  await page.waitForFunction(() => /** @type {any} */ (globalThis).seen.openMs > 0);
  if (view.includes("all")) await page.getByRole("button", { name: "All", exact: true }).click();
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const metrics = async () => {
    const { metrics: list } = await session.send("Performance.getMetrics");
    return Object.fromEntries(list.map(({ name, value }) => [name, value * 1_000]));
  };
  let updates = 0;
  await session.send("Network.enable");
  session.on("Network.eventSourceMessageReceived", ({ eventName, data }) => {
    if (eventName === "run") updates += JSON.parse(data).log.length;
  });
  const done = said(feed, "stdout", "done", SECONDS * 1_000 + LONGEST_WAIT_MS);
  feed.stdin.write(`${SECONDS + 2}\n`);
  await page.waitForTimeout(1_000); // the first second warms the code up
  await page.evaluate(() => Object.assign(/** @type {any} */ (globalThis).seen, { longest: 0, count: 0 }));
  const [before, busy, at] = [await metrics(), serverTime(), Date.now()];
  updates = 0;
  await page.waitForTimeout(SECONDS * 1_000);
  const [after, seconds] = [await metrics(), (Date.now() - at) / 1_000];
  const [served, seen] = [serverTime() - busy, updates];
  const { openMs, longest, count } = await page.evaluate(() => /** @type {any} */ (globalThis).seen);
  await done;
  await page.close();
  const per = (/** @type {string} */ name) => ((after[name] ?? 0) - (before[name] ?? 0)) / seconds;
  return {
    openMs,
    scriptMs: per("ScriptDuration"),
    layoutMs: per("LayoutDuration") + per("RecalcStyleDuration"),
    taskMs: per("TaskDuration"),
    frameMs: longest,
    fps: count / seconds,
    updates: seen / seconds,
    serverMs: served / seconds,
  };
}

const load = loadavg()[0] ?? 0;
let failed = false;
/** @type {Record<string, unknown>[]} */
const rows = [];
/** @type {Record<string, Measured[]>} */
const raw = {};
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const first = await context.newPage();
  await first.goto(link.trim());
  await first.waitForSelector("header.bar");
  const base = first.url().split("#")[0] ?? "";
  await first.close();
  for (let round = 0; round < ROUNDS; round += 1)
    for (const view of views) {
      const measured = await measure(context, base, view);
      (raw[view] ??= []).push(measured);
      // Each result is printed at once, so that an aborted benchmark has printed some results.
      const { openMs, scriptMs, layoutMs, frameMs, fps, updates } = measured;
      process.stdout.write(
        `${round + 1}/${ROUNDS} ${view}: opens ${openMs.toFixed(0)} ms, scripting ${scriptMs.toFixed(1)} ms/s, layout ${layoutMs.toFixed(1)} ms/s, longest frame ${frameMs.toFixed(0)} ms, ${fps.toFixed(0)} fps, ${updates.toFixed(0)} updates/s\n`,
      );
    }
  for (const view of views) {
    const of = (/** @type {keyof Measured} */ key) => median((raw[view] ?? []).map((each) => each[key]));
    const misses = [
      ...(of("openMs") > LIMITS.openMs ? ["opens too slowly"] : []),
      ...(of("scriptMs") > LIMITS.scriptMs ? ["scripting"] : []),
      ...(of("frameMs") > LIMITS.frameMs ? ["a frame is too long"] : []),
      ...(of("updates") < LIMITS.updates ? ["fewer than 200 updates/s arrived"] : []),
    ];
    failed ||= misses.length > 0;
    rows.push({
      view,
      "opens, ms": Math.round(of("openMs")),
      "scripting, ms/s": of("scriptMs").toFixed(1),
      "layout, ms/s": of("layoutMs").toFixed(1),
      "longest frame, ms": Math.round(of("frameMs")),
      fps: Math.round(of("fps")),
      "updates/s": Math.round(of("updates")),
      "server, ms/s": Math.round(of("serverMs")),
      limits: misses.length === 0 ? "held" : misses.join(", "),
    });
  }
} finally {
  await browser.close();
  feed.stdin.end();
  server.kill("SIGINT");
  await Promise.all([server, feed].filter(({ exitCode }) => exitCode === null).map((child) => once(child, "close")));
  rmSync(place, { recursive: true, force: true });
}
const assets = join(import.meta.dirname, "..", "dist", "cli", "web");
const bytes = ["app.js", "app.css"].reduce(
  (sum, name) => sum + gzipSync(readFileSync(join(assets, name)), { level: 9 }).length,
  0,
);
failed ||= bytes > LIMITS.bytes;
console.table(rows);
process.stdout.write(
  `medians of ${ROUNDS}; ${SECONDS} s each; script and style ${(bytes / 1024).toFixed(1)} KB gz (limit 60); load ${load.toFixed(1)} on ${cpus().length} cores\n`,
);
if (only === undefined)
  writeFileSync(
    join(import.meta.dirname, "results", "web.json"),
    `${JSON.stringify({ load, cores: cpus().length, seconds: SECONDS, bytes, limits: LIMITS, rows, raw }, null, 2)}\n`,
  );
process.exitCode = failed ? 1 : 0;
