import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { anyCommand, type Place, place, script } from "../../command.ts";

const hang = { delayMs: 600_000, text: "never" };
const files = {
  "work.json": JSON.stringify({
    tasks: [
      { name: "quick", task: "x", model: "scripted:quick.json" },
      { name: "stuck", task: "y", model: "scripted:stuck.json" },
    ],
  }),
  "quick.json": script("done already"),
  "stuck.json": script(hang),
};
/** The watchdogs of the commands of a process. */
function watchdogsOf(pid: number): string[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return children.filter((child) => readFileSync(`/proc/${child}/cmdline`, "utf8").includes("subcrew-watchdog"));
}

const started = async (there: Place, more: readonly string[] = []) => {
  const run = there.start(["parallel", "--input", "work.json", ...more]);
  await run.until(more.includes("--json") ? /"type":"node.ended"/ : /^ok +quick/m);
  return run;
};

test("Ctrl-C once pauses, shows the results so far and the command that continues, and exits with 130", async () => {
  const there = place(files);
  const { child, ended } = await started(there);
  child.kill("SIGINT");
  const { code, stdout, stderr } = await ended;
  expect({ code, stdout }).toEqual({ code: 130, stdout: "## quick\n\ndone already\n" });
  expect(stderr).toMatch(/^paused: stopped with Ctrl-C/m);
  const next = /next: subcrew (resume run_\w{12}) {2}/.exec(stderr)?.[1] ?? "";

  const again = there.start(next.split(" "));
  await again.until(/^start +stuck/m);
  again.child.kill("SIGINT");
  const resumed = await again.ended;
  expect(resumed.code).toBe(130);
  expect(resumed.stderr).not.toMatch(/^start +quick/m);
});

test("the text of a paused task is not lost", async () => {
  const there = place({
    "turns.json": script({ text: "So far: a.ts:1.", calls: [{ name: "list_files", input: {} }] }, hang),
  });
  const { child, ended, until } = there.start(["run", "explore", "x", "--model", "scripted:turns.json", "--json"]);
  await until(/"type":"turn.started"[^\n]*"turn":2/);
  child.kill("SIGINT");
  const { code, stdout } = await ended;
  expect(code).toBe(130);
  expect(JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
    status: "paused",
    output: "So far: a.ts:1.",
  });
});

test("Ctrl-C twice exits at once", async () => {
  const there = place(files);
  const { child, ended } = await started(there);
  child.kill("SIGINT");
  child.kill("SIGINT");
  expect(await ended).toMatchObject({ code: 130 });
});

test("SIGTERM cancels the run properly and exits with 143", async () => {
  const { child, ended } = await started(place(files));
  child.kill("SIGTERM");
  const { code, stderr } = await ended;
  expect(code).toBe(143);
  expect(stderr).toContain("the process received SIGTERM");
});

test("with --json a paused run ends with its result", async () => {
  const { child, ended } = await started(place(files), ["--json"]);
  child.kill("SIGINT");
  const { code, stdout, stderr } = await ended;
  expect({ code, stderr }).toEqual({ code: 130, stderr: "" });
  const last = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as object;
  expect(last).toMatchObject({
    type: "result",
    status: "paused",
    nodes: { quick: { status: "ok", output: "done already" } },
  });
});

test("a killed run is resumed at the same point, and finished work is not repeated", async () => {
  const there = place({
    ...files,
    "work.json": files["work.json"].replace("scripted:stuck", "scripted:later"),
    "later.json": script(hang),
  });
  const { child, ended } = await started(there, ["--name", "nightly"]);
  child.kill("SIGKILL");
  await ended;
  const listed = await there.run(["runs"]);
  expect(listed.stdout).toMatch(/^run_\w{12} {2}unfinished {2}.* nightly\n$/);

  writeFileSync(`${there.workspace}/later.json`, script("now it works"));
  const { code, stdout, stderr } = await there.run(["resume", "nightly"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "## quick\n\ndone already\n\n## stuck\n\nnow it works\n" });
  expect(stderr).not.toMatch(/^start +quick/m);

  const told = await there.run(["resume", "nightly"]);
  expect({ code: told.code, stdout: told.stdout }).toEqual({ code: 0, stdout });
  expect(told.stderr).not.toMatch(/^start/m);
});

test("a time limit ends the run with exit code 4", async () => {
  const there = place({ "turns.json": script(hang) });
  const { code, stderr, ms } = await there.run([
    "run",
    "explore",
    "x",
    "--model",
    "scripted:turns.json",
    "--max-time",
    "1s",
  ]);
  expect(code).toBe(4);
  expect(stderr).toContain("Raise the limit with --max-time.");
  expect(ms).toBeLessThan(200_000); // the model answers after ten minutes
});

describe("a command of an agent that is running when a signal comes", () => {
  const command = `sleep 600.${process.pid}`; // the id of this process makes the command line unique
  const running = { calls: [{ name: "bash", input: { command: `echo begun > begun.txt; ${command}` } }] };

  /** All processes with that command line. */
  const left = (): string[] =>
    readdirSync("/proc").filter((pid) => {
      if (!/^\d+$/.test(pid)) return false;
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\u0000");
        return words.slice(0, 2).join(" ") === command;
      } catch {
        return false; // the process has ended meanwhile
      }
    });

  test.each<[id: string, signal: NodeJS.Signals, code: number, words: string]>([
    ["PROC-05", "SIGINT", 130, "stopped with Ctrl-C"],
    ["PROC-06", "SIGTERM", 143, "the process received SIGTERM"],
    ["PROC-07", "SIGHUP", 129, "the terminal was closed"],
  ])("%s %s: it is dead when subcrew has ended, and the run can be resumed", async (_, signal, code, words) => {
    if (process.platform !== "linux") return; // there is no /proc to read
    const there = place({ "turns.json": script(running, "done") });
    const { child, ended } = there.start(anyCommand);
    await expect.poll(() => existsSync(join(there.workspace, "begun.txt")), { timeout: 120_000 }).toBe(true);
    await expect.poll(() => left().length, { timeout: 120_000 }).toBe(1);
    child.kill(signal);
    const { code: was, stderr } = await ended;
    expect(was).toBe(code);
    expect(stderr).toContain(words);
    expect(stderr).toMatch(/next: subcrew resume run_\w{12}/);
    await expect.poll(left, { timeout: 120_000 }).toEqual([]);
  });

  test("PROC-05 with thirty running commands that ignore SIGTERM, the pause is recorded and all of them die", async () => {
    if (process.platform !== "linux") return;
    const many = 30;
    const stubborn = { calls: [{ name: "bash", input: { command: `trap '' TERM INT HUP; ${command}; true` } }] };
    const there = place({
      "turns.json": script(stubborn, "done"),
      "work.json": JSON.stringify({
        tasks: Array.from({ length: many }, (_, at) => ({ name: `t${at}`, agent: "bash", task: "x" })),
      }),
    });
    const { child, ended } = there.start([
      ..."parallel --input work.json --model scripted:turns.json --permission-mode bypass".split(" "),
      ..."--concurrency 30 --json".split(" "),
    ]);
    await expect.poll(() => left().length, { timeout: 120_000 }).toBe(many);
    child.kill("SIGINT");
    const runs = join(there.env["SUBCREW_HOME"]!, "runs");
    const journal = join(runs, readdirSync(runs)[0]!, "journal.jsonl");
    await expect
      .poll(() => readFileSync(journal, "utf8").includes('"type":"run.paused"'), { timeout: 60_000, interval: 20 })
      .toBe(true);
    expect(await ended).toMatchObject({ code: 130 });
    await expect.poll(left, { timeout: 60_000 }).toEqual([]);
  });

  test("PROC-05 a command has time to clean up after Ctrl-C, and subcrew leaves no process of its own behind", async () => {
    if (process.platform !== "linux") return;
    const cleans = `trap 'sleep 0.5; echo done > cleaned.txt; exit' TERM; echo > ready.txt; while :; do sleep 0.1; done`;
    const there = place({ "turns.json": script({ calls: [{ name: "bash", input: { command: cleans } }] }, "done") });
    const { child, ended } = there.start(anyCommand);
    await expect.poll(() => existsSync(join(there.workspace, "ready.txt")), { timeout: 120_000 }).toBe(true);
    const dogs = watchdogsOf(child.pid!);
    expect(dogs).toHaveLength(1);
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 130 });
    expect(existsSync(join(there.workspace, "cleaned.txt"))).toBe(true);
    await expect.poll(() => dogs.filter((pid) => existsSync(`/proc/${pid}`)), { timeout: 60_000 }).toEqual([]);
  });

  test("PROC-05 a second Ctrl-C exits at once, and the command ends soon after", async () => {
    if (process.platform !== "linux") return;
    const there = place({ "turns.json": script(running, "done") });
    const { child, ended } = there.start(anyCommand);
    await expect.poll(() => left().length, { timeout: 120_000 }).toBe(1);
    child.kill("SIGINT");
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 130 });
    await expect.poll(left, { timeout: 120_000 }).toEqual([]);
  });
});

test.each([
  ["acceptEdits", true],
  ["default", false],
])("a resumed run in the mode %s may write as before: %s", async (mode, written) => {
  const there = place({ "turns.json": script(hang) });
  const args = [
    "run",
    "general",
    "Go.",
    "--model",
    "scripted:turns.json",
    "--permission-mode",
    mode,
    "--name",
    "edits",
  ];
  const { child, ended, until } = there.start([...args, "--json"]);
  await until('"turn.started"');
  child.kill("SIGKILL");
  await ended;
  const write = { name: "write_file", input: { path: "new.txt", content: "x" } };
  writeFileSync(join(there.workspace, "turns.json"), script({ calls: [write] }, "It is over."));
  expect((await there.run(["resume", "edits"])).stdout).toBe("It is over.\n");
  expect(existsSync(join(there.workspace, "new.txt"))).toBe(written);
});
