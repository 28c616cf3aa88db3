import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { KeptEvent } from "../../../../src/core/run/event.ts";
import { readJournal } from "../../../../src/runtime/store/read-journal.ts";
import { place, script, type Started } from "../../command.ts";
import { tempFolder } from "../../../support/temp-folder.ts";
import { contend } from "./owners.ts";

const ROUNDS = 50;

test(`RES-03: of two processes that claim a run at the same instant one gets it, in each of ${ROUNDS} rounds`, async () => {
  const { winners, busy } = await contend(tempFolder(), ROUNDS);
  expect(winners).toEqual(Array.from({ length: ROUNDS }, () => 1));
  expect(busy).toBe(ROUNDS);
});

const patient = {
  "work.json": script({ text: "wait", calls: [{ name: "sleep", input: { seconds: 300 } }] }, "done"),
  "quick.json": script({ text: "done", delayMs: 60 }),
};

test("RES-04: a dead owner is replaced by the next process without manual cleanup", async () => {
  const at = place(patient);
  const first = at.start(["run", "pegasus:general", "x", "--model", "scripted:work.json", "--json"]);
  await first.until("tool.started");
  first.child.kill("SIGKILL");
  await first.ended;
  const [id] = readdirSync(join(at.home, "state", "runs"));
  const second = at.start(["resume", id!, "--json"]);
  await second.until("run.resumed");
  second.child.kill("SIGKILL");
  await second.ended;
});

test("RES-05: a process with the pid of a dead owner is not mistaken for it, and gets no signal", async () => {
  const at = place(patient);
  const first = at.start(["run", "pegasus:general", "x", "--model", "scripted:work.json", "--json"]);
  await first.until("tool.started");
  first.child.kill("SIGKILL");
  await first.ended;
  const [id] = readdirSync(join(at.home, "state", "runs"));
  const other = spawn("sleep", ["1000"]);
  try {
    writeFileSync(
      join(at.home, "state", "runs", id!, "owner.9.json"),
      JSON.stringify({ pid: other.pid, started: "1", boot: "another", nonce: "x" }),
    );
    const second = at.start(["resume", id!, "--json"]);
    await second.until("run.resumed");
    second.child.kill("SIGKILL");
    await second.ended;
    expect(other.exitCode ?? other.signalCode).toBeNull();
  } finally {
    other.kill("SIGKILL");
  }
});

test("CLK-02: a suspended owner keeps its run, which continues with the process", async () => {
  const at = place({
    "work.json": script({ text: "wait", calls: [{ name: "sleep", input: { seconds: 3 } }] }, "done"),
  });
  const first = at.start(["run", "pegasus:general", "x", "--model", "scripted:work.json", "--json"]);
  await first.until("tool.started");
  first.child.kill("SIGSTOP");
  const [id] = readdirSync(join(at.home, "state", "runs"));
  const second = await at.run(["resume", id!, "--json"]);
  expect(second).toMatchObject({ code: 3 });
  expect(second.stdout + second.stderr).toContain("Another process is working on");
  first.child.kill("SIGCONT");
  const { code } = await first.ended;
  expect(code).toBe(0);
  const { events, problems } = await readJournal(join(at.home, "state", "runs", id!));
  expect(problems).toEqual([]);
  expect(events.filter(({ type }) => type === "run.ended")).toHaveLength(1);
});

test("RES-06: a process that is suspended during a write of its run, and replaced, does not confirm the write when it continues", async () => {
  const at = place(patient);
  const first = at.start(["run", "pegasus:general", "x", "--model", "scripted:quick.json", "--json"], {
    env: { SUBCREW_FAULT: "stop@journal.write:2" },
  });
  onTestFinished(() => void first.child.kill("SIGKILL"));
  while (!(await stopped(first.child.pid!))) await new Promise((resolve) => setTimeout(resolve, 10));
  const [id] = readdirSync(join(at.home, "state", "runs"));
  const folder = join(at.home, "state", "runs", id!);
  // As if it were dead for other processes: its claim names a process of an earlier boot of the machine.
  const buried = { pid: first.child.pid, started: "1", boot: "another", nonce: "x" };
  writeFileSync(join(folder, "owner.1.json"), JSON.stringify(buried));
  const second = await at.run(["resume", id!, "--json"]);
  expect(second, second.stderr + second.stdout).toMatchObject({ code: 0 });
  const before = (await readJournal(folder)).events;
  first.child.kill("SIGCONT");
  const { stdout, code } = await first.ended;
  expect(code).not.toBe(0);
  expect((await readJournal(folder)).events).toEqual(before);
  const lines = stdout.split("\n").filter((line) => line.includes('"seq":'));
  const told = lines.map((line) => JSON.parse(line) as unknown);
  expect(told).toEqual(before.slice(0, told.length));
});

test("RES-06: a process that wakes up after it was replaced, and records the end of the run, ends it for nobody", async () => {
  const at = place(patient);
  const frozen = async (args: readonly string[], write: number): Promise<Started> => {
    const started = at.start(args, { env: { SUBCREW_FAULT: `stop@journal.write:${write}` } });
    onTestFinished(() => void started.child.kill("SIGKILL"));
    while (!(await stopped(started.child.pid!))) await new Promise((resolve) => setTimeout(resolve, 10));
    return started;
  };
  const first = await frozen(["run", "pegasus:general", "x", "--model", "scripted:quick.json", "--json"], 2);
  const [id] = readdirSync(join(at.home, "state", "runs"));
  const folder = join(at.home, "state", "runs", id!);
  const buried = { pid: first.child.pid, started: "1", boot: "another", nonce: "x" };
  writeFileSync(join(folder, "owner.1.json"), JSON.stringify(buried));
  const second = await frozen(["resume", id!, "--json"], 1);
  first.child.kill("SIGCONT");
  await first.ended;
  expect(readFileSync(join(folder, "journal.jsonl"), "utf8")).toContain('"type":"run.ended"');
  const follower = at.start(["logs", id!, "--follow", "--json"]);
  const waiter = at.start(["wait", id!, "--json"]);
  await follower.until("turn.started");
  expect(JSON.parse((await at.run(["status", id!, "--json"])).stdout)).toMatchObject({ status: "running" });
  expect((await at.run(["ps"])).stdout).toContain(id!);
  expect([follower.child.exitCode, waiter.child.exitCode]).toEqual([null, null]);
  second.child.kill("SIGCONT");
  expect((await second.ended).code).toBe(0);
  const lines = (await follower.ended).stdout.trimEnd().split("\n");
  const types = lines.map((line) => (JSON.parse(line) as KeptEvent).type);
  expect(types.filter((type) => type.startsWith("run."))).toEqual(["run.started", "run.resumed", "run.ended"]);
  expect(types.at(-1)).toBe("run.ended");
  expect((await waiter.ended).code).toBe(0);
});

async function stopped(pid: number): Promise<boolean> {
  const { readFile } = await import("node:fs/promises");
  return / T /.test(await readFile(`/proc/${pid}/stat`, "utf8"));
}

test("strange files in the folder of runs do not disturb any process", async () => {
  const at = place(patient);
  mkdirSync(join(at.home, "state", "runs", "run_abcdefghijkl"), { recursive: true });
  const done = await at.run(["run", "pegasus:general", "x", "--model", "scripted:quick.json"]);
  expect(done.code).toBe(0);
});
