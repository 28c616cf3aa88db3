#!/usr/bin/env node
// Computes what an engine (the shared database) needs for a number of agents at once, from measured costs. node
// bench/capacity.mjs                         the computation, with the costs of bench/results/capacity.json node
// bench/capacity.mjs --measure --engine URL  measures the costs with a worker of its own, and checks the computation
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..");
const file = join(root, "bench", "results", "capacity.json");
/** The number of processes whose cost is measured together, so that it stands out from the noise. */
const WATCHERS = 4;

/**
 * @typedef {{ perTask: { wal: number, statements: number, ms: number }, perTurn: { wal: number, statements: number, ms: number },
 *   perWorker: { statementsPerSecond: number, connections: number }, perWatcher: { statementsPerSecond: number, statementsPerTurn: number, connections: number } }} Costs
 * ms: processor time of the database. statementsPerTurn: for each turn of the run that is watched.
 */

/** Computes the resources that the database needs for a number of concurrent agents. */
export function capacity(
  costs,
  {
    agents,
    turnSeconds = 20,
    turnsPerTask = 10,
    slots = 16,
    watchers = 1,
    watchedAgents = 10,
    cores = 4,
    connections = 100,
    walBytesPerSecond = 50e6,
  },
) {
  const workers = Math.ceil(agents / slots);
  const turns = agents / turnSeconds;
  const tasks = turns / turnsPerTask;
  const { perWatcher } = costs;
  const watched = Math.min(agents, watchedAgents) / turnSeconds;
  const watching = watchers * (perWatcher.statementsPerSecond + watched * perWatcher.statementsPerTurn);
  const idle = workers * costs.perWorker.statementsPerSecond + watching;
  const statements = turns * costs.perTurn.statements + tasks * costs.perTask.statements + idle;
  const msPerStatement = costs.perTurn.ms / costs.perTurn.statements;
  const busy = (turns * costs.perTurn.ms + tasks * costs.perTask.ms + idle * msPerStatement) / 1000;
  const wal = turns * costs.perTurn.wal + tasks * costs.perTask.wal;
  const open =
    workers * costs.perWorker.connections + watchers * costs.perWatcher.connections + costs.perWorker.connections;
  const use = {
    connections: open / connections,
    "cores of the database": busy / cores,
    "log of the database": wal / walBytesPerSecond,
  };
  const [first, share] = Object.entries(use).toSorted(([, a], [, b]) => b - a)[0];
  return {
    agents,
    workers,
    turnsPerSecond: turns,
    statementsPerSecond: statements,
    databaseCores: busy,
    walMBPerSecond: wal / 1e6,
    connections: open,
    breaksFirst: share > 1 ? first : "nothing",
    fullest: `${first} ${Math.round(share * 100)} %`,
  };
}

const flag = (name) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : undefined);

if (process.argv[1] === import.meta.filename) {
  if (process.argv.includes("--measure")) await measure(flag("--engine"));
  const costs = JSON.parse(readFileSync(file, "utf8"));
  console.table([10, 1_000, 100_000].map((agents) => capacity(costs, { agents })));
}

async function measure(url) {
  if (!url) throw new Error("--measure needs --engine URL of a Postgres of its own (subcrew engine dev)");
  const { default: pg } = await import("pg");
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  const folder = mkdtempSync(join(tmpdir(), "subcrew-capacity-"));
  const cli = join(root, "dist", "cli", "main.js");
  const env = { ...process.env, HOME: folder, SUBCREW_ENGINE: url };
  const [{ data_directory: data }] = (await database.query("show data_directory")).rows;
  const postmaster = Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
  const now = async () => {
    const { rows } = await database.query(
      "select pg_current_wal_lsn() - '0/0' as wal, (select sum(xact_commit + xact_rollback) from pg_stat_database) as statements, (select count(*) from pg_stat_activity where datname = current_database()) as connections",
    );
    return {
      wal: Number(rows[0].wal),
      statements: Number(rows[0].statements),
      connections: Number(rows[0].connections),
      ms: cpuOf(postmaster),
      at: performance.now(),
    };
  };
  const between = async (work) => {
    const before = await now();
    await work();
    await new Promise((resolve) => setTimeout(resolve, 1_500)); // the statistics of the database lag by a second
    const after = await now();
    return Object.fromEntries(Object.keys(before).map((key) => [key, after[key] - before[key]]));
  };
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const turn = (number) => ({ calls: [{ name: "bash", input: { command: `echo ${number}` } }] });
  writeFileSync(join(folder, "one.json"), JSON.stringify(["done"]));
  writeFileSync(join(folder, "six.json"), JSON.stringify([...[1, 2, 3, 4, 5].map(turn), "done"]));
  writeFileSync(
    join(folder, "wait.json"),
    JSON.stringify([{ calls: [{ name: "bash", input: { command: "sleep 60" } }] }, "done"]),
  );
  const tasks = 20;
  const unasked = ["--permission-mode", "bypass", "--sandbox", "off"];
  const subcrew = (...args) => run(process.execPath, [cli, ...args], { env, cwd: folder });
  const words = Array.from({ length: tasks }, (_, at) => `bash=${at}`);
  const parallel = (script, ...more) =>
    subcrew("parallel", ...words, "--model", `scripted:${script}`, ...unasked, "--quiet", ...more);
  const quiet = await between(() => pause(4_000));
  const worker = spawn(
    process.execPath,
    [cli, "worker", "--slots", "16", "--permission-mode", "bypass", "--sandbox", "off"],
    { env, cwd: folder, stdio: ["ignore", "ignore", "pipe"] },
  );
  await new Promise((resolve) =>
    worker.stderr.on("data", (text) => String(text).includes("takes tasks") && resolve(undefined)),
  );
  try {
    await parallel("one.json");
    await pause(4_000); // waits until the statistics of that run have arrived
    const idle = await between(() => pause(4_000));
    const one = await between(() => parallel("one.json"));
    const six = await between(() => parallel("six.json"));
    const rate = (used) => (used.statements / used.at) * 1_000;
    const net = (used) => ({
      wal: used.wal / tasks,
      statements: (used.statements - (rate(idle) * used.at) / 1_000) / tasks,
      ms: Math.max(used.ms / tasks, 0.01),
    });
    const [first, more] = [net(one), net(six)];
    const perTurn = Object.fromEntries(
      Object.keys(first).map((key) => [key, Math.max((more[key] - first[key]) / 5, 0.01)]),
    );
    const perTask = Object.fromEntries(Object.keys(first).map((key) => [key, Math.max(first[key] - perTurn[key], 0)]));
    const costs = {
      perTask,
      perTurn,
      perWorker: {
        statementsPerSecond: Math.max(rate(idle) - rate(quiet), 0),
        connections: (await now()).connections - 1,
      },
      perWatcher: await watcher({ subcrew, parallel, between, now, pause, tasks, unasked, six, idle }),
    };
    writeFileSync(file, `${JSON.stringify(costs, null, 2)}\n`);
    // The check: compares the computed cost of three turns with the cost measured in the database.
    writeFileSync(join(folder, "three.json"), JSON.stringify([turn(1), turn(2), "done"]));
    const three = net(await between(() => parallel("three.json")));
    const said = {
      wal: perTask.wal + 3 * perTurn.wal,
      statements: perTask.statements + 3 * perTurn.statements,
      ms: perTask.ms + 3 * perTurn.ms,
    };
    console.table({ "three turns, model": said, "three turns, measured": three });
  } finally {
    worker.kill("SIGTERM");
    await database.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The cost of a process that follows a run: while the run is silent, and for each turn of the run. */
async function watcher({ subcrew, parallel, between, now, pause, tasks, unasked, six, idle }) {
  const idOf = ({ stdout }) => /run_\w+/.exec(stdout)?.[0] ?? "";
  const rate = (used) => (used.statements / used.at) * 1_000;
  const watch = (id) => Array.from({ length: WATCHERS }, () => subcrew("logs", "-f", id).catch(() => {}));
  const silent = idOf(await subcrew("run", "bash", "x", "--bg", "--json", "--model", "scripted:wait.json", ...unasked));
  await pause(4_000);
  const alone = await between(() => pause(4_000));
  const before = (await now()).connections;
  const watching = watch(silent);
  await pause(4_000);
  const connections = (await now()).connections - before;
  const followed = await between(() => pause(4_000));
  await subcrew("cancel", silent);
  await Promise.all(watching);
  const statementsPerSecond = Math.max((rate(followed) - rate(alone)) / WATCHERS, 0);
  const busy = await between(async () => {
    const id = idOf(await parallel("six.json", "--bg", "--json"));
    await Promise.all(watch(id)); // the watchers end with the run
  });
  const polls = (rate(idle) * (busy.at - six.at) + statementsPerSecond * WATCHERS * busy.at) / 1_000;
  const more = busy.statements - six.statements - polls;
  return {
    statementsPerSecond,
    statementsPerTurn: Math.max(more / (WATCHERS * tasks * 6), 0),
    connections: Math.max(connections / WATCHERS, 0),
  };
}

/** The processor time of a Postgres server and all its processes, including ended ones, in ms. */
function cpuOf(postmaster) {
  const { execFileSync } = process.getBuiltinModule("node:child_process");
  const pids = [
    postmaster,
    ...execFileSync("pgrep", ["-P", String(postmaster)], { encoding: "utf8" })
      .trim()
      .split("\n"),
  ];
  return pids.reduce((sum, pid) => {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
      const own = Number(fields[11]) + Number(fields[12]);
      return sum + 10 * (own + (Number(pid) === postmaster ? Number(fields[13]) + Number(fields[14]) : 0));
    } catch {
      return sum;
    }
  }, 0);
}
