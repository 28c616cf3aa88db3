// @ts-check
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { install } from "./install.mjs";
import { root, tools } from "./step.mjs";

/**
 * A soak test file: its duration in minutes. A file with `share` runs random tests until its time is over; only these
 * change with `--minutes`. A file with `alone` uses both processors or measures time, so nothing else runs beside it.
 *
 * @typedef {{ minutes: number, share?: boolean, alone?: boolean }} Row
 * @typedef {{ name: string, result: "passed" | "failed" | "too long", minutes: number, done: string[] }} Soaked
 */

/** The duration of the whole soak in minutes, on two idle processors. */
const WHOLE = 60;

/** The files, in the order in which they run. @type {Readonly<Record<string, Row>>} */
const rows = {
  rounds: { minutes: 3, share: true, alone: true },
  "engine-partition": { minutes: 3, alone: true },
  simulation: { minutes: 9, share: true, alone: true },
  "kill-sweep": { minutes: 10, share: true, alone: true },
  fuzz: { minutes: 8, share: true },
  "foreign-tools": { minutes: 4 },
  install: { minutes: 3 },
  "mcp-conformance": { minutes: 3 },
  hosts: { minutes: 2 },
  addresses: { minutes: 1 },
  conformance: { minutes: 2 },
  properties: { minutes: 2 },
  "long-files": { minutes: 4 },
  "acp-clients": { minutes: 1 },
  "embedded-postgres": { minutes: 1 },
  mutate: { minutes: 1 },
  "engine-chaos": { minutes: 20, share: true, alone: true },
};
const rowOf = (/** @type {string} */ name) => rows[name] ?? { minutes: 1 };
/** The position of a file in the order; a file that is not listed comes last. */
const placeOf = (/** @type {string} */ name) => (name in rows ? Object.keys(rows).indexOf(name) : Infinity);

const folder = join("test", "soak");
const usage = `npm run test:soak -- [NAME...] [--minutes N] [--seed N]
  NAME         only the files of ${folder} whose names contain one of these words
  --minutes N  the time of the whole soak on two quiet processors; ${WHOLE} without it
  --seed N     the random tests begin with this number; the closing table names the one that continues`;

/** @returns {{ names: string[], scale: number, seed: string | undefined } | string} what is wanted, or what is wrong with it */
function wanted() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { minutes: { type: "string" }, seed: { type: "string" }, help: { type: "boolean" } },
    });
    if (values.help) {
      console.log(usage);
      process.exit(0);
    }
    const minutes = Number(values.minutes ?? WHOLE);
    if (!(minutes > 0)) return `--minutes takes a number above zero, not ${values.minutes}.\n${usage}`;
    if (values.seed !== undefined && !/^\d+$/.test(values.seed))
      return `--seed takes a whole number, not ${values.seed}.\n${usage}`;
    const shared = Object.values(rows).reduce((sum, row) => sum + (row.share ? row.minutes : 0), 0);
    // Only the random tests are scaled; the duration of the other files is fixed.
    const scale = Math.max(0.02, (minutes - (WHOLE - shared)) / shared);
    return { names: positionals, scale, seed: values.seed };
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n${usage}`;
  }
}

/**
 * Runs the requested files, each to its end or its timeout: files that need the whole machine one after the other,
 * the others two at a time.
 *
 * @param {{ names: string[], scale: number, seed: string | undefined }} wanted
 * @returns {Promise<boolean>} whether all of them passed
 */
async function soak({ names, scale, seed }) {
  const all = readdirSync(join(root, folder)).flatMap((file) => /^(.+)\.test\.ts$/.exec(file)?.[1] ?? []);
  const chosen = all
    .filter((name) => names.length === 0 || names.some((part) => `${folder}/${name}.test.ts`.includes(part)))
    .toSorted((a, b) => placeOf(a) - placeOf(b));
  if (chosen.length === 0) {
    console.log(`No file of ${folder} is named like ${names.join(" or ")}.`);
    return false;
  }
  const began = performance.now();
  /** @type {Soaked[]} */
  const ended = [];
  const run = async (/** @type {string} */ name) => {
    const row = rowOf(name);
    const minutes = row.minutes * (row.share ? scale : 1);
    say(name, `begins, ${row.share ? "is given" : "takes about"} ${minutes.toFixed(1)} minutes`);
    const one = await soakOne(name, { minutes, share: row.share === true, seed });
    ended.push(one);
    say(name, `${one.result} after ${one.minutes.toFixed(1)} minutes; ${ended.length} of ${chosen.length} files`);
  };
  for (let rest = chosen; rest.length > 0; ) {
    const alone = rest.findIndex((name) => rowOf(name).alone);
    const now = rest.slice(0, alone === 0 ? 1 : alone < 0 ? rest.length : alone);
    rest = rest.slice(now.length);
    const lane = async () => {
      for (let name = now.shift(); name !== undefined; name = now.shift()) await run(name);
    };
    await Promise.all([lane(), lane()]);
  }

  console.log("\nsoak:");
  for (const { name, result, minutes, done } of ended) {
    console.log(`  ${result.padEnd(8)} ${minutes.toFixed(1).padStart(5)} min  ${name}`);
    for (const line of done) console.log(`                       ${line}`);
  }
  const passed = ended.filter(({ result }) => result === "passed").length;
  const whole = ((performance.now() - began) / 60_000).toFixed(1);
  console.log(`\n${passed} of ${ended.length} files passed, ${whole} minutes`);
  return passed === ended.length;
}

const say = (/** @type {string} */ name, /** @type {string} */ text) =>
  console.log(`${new Date().toTimeString().slice(0, 8)} ${name.padEnd(17)} ${text}`);

/**
 * Runs one file. It is killed when it hangs: after twice its minutes and twenty more, since other machines are slower.
 *
 * @param {string} name
 * @param {{ minutes: number, share: boolean, seed: string | undefined }} given
 * @returns {Promise<Soaked>}
 */
function soakOne(name, { minutes, share, seed }) {
  const began = performance.now();
  const args = [join(root, tools.vitest), "run", "--config", "vitest.soak.config.ts", `${folder}/${name}.test.ts`];
  const env = {
    ...process.env,
    NO_COLOR: "1",
    ...(share && { SUBCREW_SOAK_MINUTES: String(minutes) }),
    ...(seed !== undefined && { SUBCREW_SEED: seed }),
  };
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  /** @type {string[]} */
  const done = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on("line", (line) => {
      if (line.trim() !== "") say(name, line);
      const told = /^done: (.*)/.exec(line)?.[1];
      if (told !== undefined) done.push(told);
    });
  return new Promise((resolve, reject) => {
    let tooLong = false;
    const end = setTimeout(
      () => {
        tooLong = true;
        child.kill("SIGKILL"); // the file's worker processes and their child processes end with it
      },
      (2 * minutes + 20) * 60_000,
    );
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(end);
      const result = tooLong ? "too long" : code === 0 ? "passed" : "failed";
      resolve({ name, minutes: (performance.now() - began) / 60_000, result, done });
    });
  });
}

const asked = wanted();
if (typeof asked === "string") console.log(asked);
process.exitCode = typeof asked !== "string" && install() && (await build()) && (await soak(asked)) ? 0 : 1;
