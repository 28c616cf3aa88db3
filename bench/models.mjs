// @ts-check
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { formatted } from "./executor/report.mjs";
import { median } from "./executor/sample.mjs";
import { contenders } from "./models/ask.mjs";

/**
 * The largest allowed ratio of the cost of a turn with subcrew's provider clients to that with a hand-written fetch
 * loop.
 */
const LIMIT = 1.5;
const ROUNDS = 9;
const WARM_UP = 3;
const RESULT = "x".repeat(200);

const server = spawn(process.execPath, [join(import.meta.dirname, "models", "server.mjs")], {
  stdio: ["ignore", "pipe", "inherit"],
});
const url = await new Promise((resolve) => server.stdout.once("data", (line) => resolve(String(line).trim())));

/** The jobs. The time of each is divided by `parts`, its number of turns or tokens. */
const jobs = {
  "50 tool turns": { prompt: "TURNS 50", parts: 51, unit: "µs per turn" },
  "5,000 tokens": { prompt: "SPEAK", parts: 5_000, unit: "µs per token" },
};

/**
 * @param {import("./models/ask.mjs").Talk} talk
 * @param {string} prompt
 */
async function run(talk, prompt) {
  const begun = talk(prompt);
  for (let said = await begun.turn(); said.calls.length > 0; said = await begun.turn()) begun.answer(said, RESULT);
}

/** @type {Record<string, unknown>} */
const results = { node: process.version, cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length };
/** @type {string[]} */
const failed = [];
for (const [job, { prompt, parts, unit }] of Object.entries(jobs)) {
  for (const [wire, talks] of Object.entries(contenders(url))) {
    /** @type {Record<string, { wall: number[], cpu: number[] }>} */
    const taken = Object.fromEntries(Object.keys(talks).map((name) => [name, { wall: [], cpu: [] }]));
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      for (const [name, talk] of Object.entries(talks)) {
        globalThis.gc?.();
        const [began, used] = [performance.now(), process.cpuUsage()];
        await run(talk, prompt);
        const { user, system } = process.cpuUsage(used);
        if (round < 0) continue;
        taken[name]?.wall.push(((performance.now() - began) * 1_000) / parts);
        taken[name]?.cpu.push((user + system) / parts);
      }
    }
    const of = (/** @type {string} */ name, /** @type {"wall" | "cpu"} */ what) => median(taken[name]?.[what] ?? []);
    const rows = Object.keys(talks).map((name) => [
      name,
      of(name, "wall").toFixed(2),
      (of(name, "wall") / of("floor", "wall")).toFixed(2),
      of(name, "cpu").toFixed(2),
      (of(name, "cpu") / of("floor", "cpu")).toFixed(2),
      "",
    ]);
    const title = `${job} over ${wire}, ${unit}`;
    process.stdout.write(
      `${formatted({ title, how: `median of ${ROUNDS}, interleaved`, columns: ["", "wall", "x floor", "cpu", "x floor", ""], rows, failed: [], raw: {} })}\n`,
    );
    results[title] = taken;
    if (of("subcrew", "cpu") > of("floor", "cpu") * LIMIT) failed.push(title);
  }
}
server.kill();

const folder = join(import.meta.dirname, "results");
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "models.json"), `${JSON.stringify(results, null, 1)}\n`);
process.stdout.write(failed.length === 0 ? "PASS: all limits are met\n" : `FAIL: ${failed.join("; ")}\n`);
process.exit(failed.length === 0 ? 0 : 1);
