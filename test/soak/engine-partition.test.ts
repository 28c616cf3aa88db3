import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, chmodSync, chownSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "../../src/engines/postgres/database.ts";
import { migrate } from "../../src/engines/postgres/migrate.ts";
import { findPrograms } from "../../src/engines/server/programs.ts";
import { exactnessOf, openSite, resultOf, taskNode } from "../support/engine-site.ts";

/**
 * Three network namespaces that only this test uses: the database, and two hosts that each reach it over their own
 * link.
 */
const tag = `sc${process.pid}`;
const [hub, a, b] = [`${tag}h`, `${tag}a`, `${tag}b`];
const folder = mkdtempSync(join(tmpdir(), "subcrew-partition-"));
const data = join(folder, "data");
const closers: (() => void)[] = [];
let missing: string | undefined;
let bin = "";

const ip = (...args: string[]): string => execFileSync("ip", args, { encoding: "utf8", stdio: "pipe" });
const inside = (name: string, ...args: string[]): string => ip("netns", "exec", name, ...args);

/** Runs a program of Postgres next to the database, as an ordinary user. */
const postgres = (name: string, ...args: string[]): string => {
  const { uid, gid } = statSync(data);
  return inside(hub, "setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", join(bin, name), ...args);
};

function whyNot(): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "network namespaces need Linux and root";
  try {
    ip("netns", "add", hub);
    return undefined;
  } catch (error) {
    return `network namespaces cannot be made here (iproute2): ${error instanceof Error ? error.message : String(error)}`;
  }
}

beforeAll(async () => {
  missing = whyNot();
  if (missing !== undefined) return;
  const path = process.env["PATH"] ?? "";
  bin = (await findPrograms({ path, unpackBelow: join(tmpdir(), "subcrew-postgres") })).folder;
  for (const [at, name] of [a, b].entries()) {
    ip("netns", "add", name);
    ip("-n", hub, "link", "add", `to${at}`, "type", "veth", "peer", "name", "eth0", "netns", name);
    ip("-n", hub, "addr", "add", `10.77.${at}.1/24`, "dev", `to${at}`);
    ip("-n", name, "addr", "add", `10.77.${at}.2/24`, "dev", "eth0");
    ip("-n", hub, "link", "set", `to${at}`, "up");
    for (const link of ["lo", "eth0"]) ip("-n", name, "link", "set", link, "up");
  }
  ip("-n", hub, "link", "set", "lo", "up");
  chmodSync(folder, 0o755);
  execFileSync("install", ["-d", "-m", "700", "-o", "65534", "-g", "65534", data]);
  chownSync(data, 65_534, 65_534);
  postgres("initdb", "-D", data, "-U", "subcrew", "-A", "trust", "-E", "UTF8", "--no-sync");
  appendFileSync(join(data, "pg_hba.conf"), "host all all 10.77.0.0/16 trust\n");
  const settings = ["listen_addresses=*", `unix_socket_directories=${data}`, "fsync=off", "max_connections=200"];
  postgres(
    "pg_ctl",
    "start",
    "-D",
    data,
    "-w",
    "-l",
    join(data, "log"),
    "-o",
    settings.map((one) => `-c ${one}`).join(" "),
  );
}, 120_000);
afterAll(() => {
  for (const close of closers) close();
  if (missing === undefined) {
    try {
      postgres("pg_ctl", "stop", "-D", data, "-m", "immediate", "-w");
    } finally {
      for (const name of [hub, a, b]) ip("netns", "del", name);
    }
  }
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/**
 * The file system is shared by all network namespaces, so this process reaches the database through its socket file.
 */
const here = (database: string): string => `postgres://subcrew@${encodeURIComponent(data)}/${database}`;

/** Makes a port of this process reachable at the same address inside a namespace. */
async function lend(name: string, port: number): Promise<void> {
  const socket = join(folder, `port-${name}`);
  const server = createServer((one) => {
    const other = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const)
      from.on("error", () => to.destroy()).pipe(to);
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const forward = `const { createServer, connect } = require("node:net");
    createServer((one) => { const other = connect(${JSON.stringify(socket)});
      one.on("error", () => other.destroy()).pipe(other); other.on("error", () => one.destroy()).pipe(one);
    }).listen(${port}, "127.0.0.1", () => console.log("ready"));`;
  const child = spawn("ip", ["netns", "exec", name, process.execPath, "-e", forward], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  closers.push(() => {
    child.kill("SIGKILL");
    server.close();
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
}

const ids = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);
const fan = (from: number, to: number): object => ({
  nodes: {
    ...Object.fromEntries(ids(from, to).map((task) => [`t${task}`, taskNode(task)])),
    all: { kind: "join", needs: ids(from, to).map((task) => `t${task}`), pick: "settled" },
  },
  output: "all",
});

test("two runs with workers on two hosts end exactly once while one host is cut off for 20 s", async ({ skip }) => {
  if (missing !== undefined) return skip(missing);
  const fresh = async (): Promise<string> => {
    const admin = openDatabase(here("postgres"));
    await admin.query("create database one");
    await admin.close();
    const made = openDatabase(here("one"));
    await migrate(made);
    await made.close();
    return here("one");
  };
  const site = await openSite({ fresh }, { turnMs: 300 });
  closers.push(() => void site.close());
  for (const name of [a, b]) await lend(name, Number(new URL(site.provider).port));
  const through = (at: number): string[] => {
    const name = [a, b][at]!;
    return ["ip", "netns", "exec", name, "env", `SUBCREW_ENGINE=postgres://subcrew@10.77.${at}.1/one`];
  };
  const workers = [0, 0, 1, 1].map((at) => site.worker([], through(at)));
  await Promise.all(workers.map(({ ready }) => ready));
  const [near, far] = ["run_partitionnear", "run_partitionfar0"];
  const coordinators = [
    site.coordinate(near, fan(1, 60), { concurrency: 24 }, through(0)),
    site.coordinate(far, fan(61, 200), { concurrency: 24 }, through(1)),
  ];
  const ended = async (): Promise<number> => {
    const [row] = await site.connection.database.query<{ n: number }>(
      `select count(*)::integer as n from subcrew.events where event::text like '%"node.ended"%'`,
    );
    return row?.n ?? 0;
  };
  const progress = (n: number): Promise<void> =>
    expect.poll(ended, { timeout: 300_000, interval: 200 }).toBeGreaterThanOrEqual(n);
  await progress(40);
  ip("-n", hub, "link", "set", "to1", "down");
  const before = await ended();
  await new Promise((resolve) => setTimeout(resolve, 20_000));
  expect(await ended(), "the near host goes on meanwhile").toBeGreaterThan(before);
  ip("-n", hub, "link", "set", "to1", "up");
  const healed = performance.now();
  await expect
    .poll(
      async () =>
        (await Promise.all([near, far].map(async (run) => (await site.connection.store.last(run))?.type))).join(),
      { timeout: 300_000, interval: 500 },
    )
    .toBe("run.ended,run.ended");
  expect(await coordinators[0]!.ended).toBe("0 ok");
  const said = await coordinators[1]!.ended; // a worker of the other host took over the run of this coordinator
  const all = await Promise.all([near, far].map(async (run) => exactnessOf(await site.events(run), site.asked)));
  expect(all).toMatchObject(all.map(() => ({ ends: 1, status: "ok", twice: [], repeated: 0 })));
  const outputs = new Map(all.flatMap((one) => [...one.outputs]));
  for (const task of ids(1, 200)) expect(outputs.get(`t${task}`), `task ${task}`).toBe(resultOf(task));
  const lines = site.lines();
  expect(new Set(lines).size).toBe(lines.length);
  const sum = (key: "takenOver" | "unrecorded"): number => all.reduce((total, one) => total + one[key], 0);
  process.stdout.write(
    `partition: ${sum("takenOver")} tasks taken over, ${site.asked.length} model requests, ${sum("unrecorded")} of them repeated because their answer was lost; the far coordinator said ${said}; over ${Math.round((performance.now() - healed) / 1_000)} s after the link was healed\n`,
  );
  expect(sum("takenOver")).toBeGreaterThan(0);
  // The workers of the separated host serve again.
  const living = async (): Promise<number> => {
    const [row] = await site.connection.database.query<{ n: number }>(
      "select count(*)::integer as n from subcrew.processes where class is not null and beat > clock_timestamp() - interval '4 seconds'",
    );
    return row?.n ?? 0;
  };
  await expect.poll(living, { timeout: 60_000, interval: 500 }).toBe(4);
}, 900_000);
