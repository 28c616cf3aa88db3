// @ts-check
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatted } from "./executor/report.mjs";

/** The clock of this process is so many times faster, so that waits of seconds do not have to be waited for. */
const SPEED = 50;
const real = { now: Date.now, setTimeout: globalThis.setTimeout };
const begun = real.now();
Date.now = () => begun + (real.now() - begun) * SPEED;
globalThis.setTimeout = /** @type {typeof setTimeout} */ (
  (/** @type {any} */ call, ms = 0, ...rest) => real.setTimeout(call, ms / SPEED, ...rest)
);

const root = join(import.meta.dirname, "..");
const { createCrew, defineAgent } = await import(join(root, "dist/index.js"));
const { startProviderServer } = await import(join(root, "dist/testing/provider-server.js"));

const TASKS = Number(process.argv[2] ?? 2_000);
/** Retries of a request, and the first wait, as subcrew has them. */
const RETRIES = 3;
const FIRST_WAIT_MS = 500;
const JITTER = 0.25;

/** @typedef {{ fault: string, retryAfter?: string } | "done"} Turn */
/** @typedef {(chance: number, sinceMs: number) => Turn} Weather */

/** @type {Record<string, Weather>} */
const weathers = {};
for (const [name, fault] of Object.entries({ 429: "rate-limit", 500: "broken", 503: "unavailable", drop: "reset" }))
  for (const share of [0.1, 0.2, 0.3])
    weathers[`${share * 100} % ${name}`] = (chance) => (chance < share ? { fault } : "done");
weathers["a second of 429"] = (_, since) => (since < 1_000 ? { fault: "rate-limit" } : "done");
weathers["a second of 429, Retry-After: 1"] = (_, since) =>
  since < 1_000 ? { fault: "rate-limit", retryAfter: "1" } : "done";

const home = mkdtempSync(join(tmpdir(), "subcrew-bench-"));
/** @type {string[][]} */
const rows = [];
/** @type {Record<string, unknown>} */
const raw = { node: process.version, tasks: TASKS };
/** @type {string[]} */
const failed = [];
for (const [name, weather] of Object.entries(weathers)) {
  for (const concurrency of [8, 50]) {
    const theirs = await measured(weather, (url) => independent(url, concurrency));
    const ours = await measured(weather, (url) => subcrew(url, concurrency));
    const limit = theirs.failures * 2 + 2;
    const met = ours.failures <= limit;
    const title = `${name}, ${concurrency} at once`;
    if (!met) failed.push(title);
    raw[title] = { independent: theirs, subcrew: ours };
    rows.push([
      title,
      ...[theirs, ours].flatMap(({ failures, requests, seconds }) => [
        String(failures),
        String(requests),
        seconds.toFixed(0),
      ]),
      met ? "" : "MISSED",
    ]);
  }
}
rmSync(home, { recursive: true, force: true });

const columns = ["", "failed", "requests", "s", "failed", "requests", "s", ""];
process.stdout.write(
  formatted({
    title: `${TASKS} tasks of one request: independent retries, then subcrew`,
    how: `seconds of a clock that is ${SPEED} times as fast`,
    columns,
    rows,
    failed,
    raw,
  }),
);
mkdirSync(join(import.meta.dirname, "results"), { recursive: true });
writeFileSync(join(import.meta.dirname, "results", "faults.json"), `${JSON.stringify(raw, null, 1)}\n`);
process.stdout.write(failed.length === 0 ? "PASS: all limits are met\n" : `FAIL: ${failed.join("; ")}\n`);
if (failed.length > 0) process.exitCode = 1;

/**
 * Lets a program do the tasks at a new server with this weather.
 *
 * @param {Weather} weather
 * @param {(url: string) => Promise<number>} program
 */
async function measured(weather, program) {
  /** The requests of each task. What happens to the nth request of a task is the same for both programs. */
  const asked = new Map();
  let first = 0;
  let requests = 0;
  const server = await startProviderServer(
    (/** @type {{ body: unknown }} */ { body }) => {
      first ||= Date.now();
      requests += 1;
      const task = Number(/#(\d+)#/.exec(JSON.stringify(body))?.[1]);
      const n = (asked.get(task) ?? 0) + 1;
      asked.set(task, n);
      return weather(chanceOf(task, n), Date.now() - first);
    },
    { record: false },
  );
  const started = Date.now();
  const failures = await program(server.url);
  const seconds = (Date.now() - started) / 1_000;
  await server.close();
  return { failures, requests, seconds };
}

/**
 * Tasks that know nothing of each other: each sends its request and retries it on its own.
 *
 * @param {string} url @param {number} concurrency
 */
async function independent(url, concurrency) {
  let left = TASKS;
  let failures = 0;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      if (!(await one(url, left))) failures += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return failures;
}

/** @param {string} url @param {number} task */
async function one(url, task) {
  for (let n = 0; ; n += 1) {
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: `#${task}#` }] });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body }).catch(() => undefined);
    await answer?.text().catch(() => {});
    if (answer?.ok) return true;
    if (n === RETRIES) return false;
    const asked = Number(answer?.headers.get("retry-after") ?? 0) * 1_000;
    const waitMs = Math.max(asked, FIRST_WAIT_MS * 2 ** n) * (1 + Math.random() * JITTER);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/**
 * The same tasks as one run that does not park.
 *
 * @param {string} url @param {number} concurrency
 */
async function subcrew(url, concurrency) {
  const agent = defineAgent({ name: "worker", description: "Works.", instructions: "Work.", tools: [] });
  const providers = { lab: { type: "openai", baseURL: `${url}/v1`, apiKey: "not-a-key" } };
  const options = { cwd: home, home, discover: false, env: {}, providers, model: "lab/m", agents: [agent] };
  const crew = createCrew(options);
  const tasks = Array.from({ length: TASKS }, (_, i) => ({ agent: "worker", task: `#${i}#` }));
  const { nodes } = await crew.run({ mode: "parallel", tasks }, { concurrency, onProviderFault: "fail" });
  return Object.values(nodes).filter((node) => node.status === "failed" && node.fault?.code?.startsWith("MODEL_"))
    .length;
}

/** A number in [0, 1) for the nth request of a task. @param {number} task @param {number} n */
function chanceOf(task, n) {
  return createHash("md5").update(`${task} ${n}`).digest().readUInt32BE(0) / 2 ** 32;
}
