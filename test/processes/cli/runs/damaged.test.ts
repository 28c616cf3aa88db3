import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { KeptEvent } from "../../../../src/core/run/event.ts";
import { encodeLine } from "../../../support/encode-line.ts";
import { type Place, place } from "../../command.ts";

const RUN = "run_abcdefghijkl";
const task = { kind: "task", needs: [], task: { agent: "explore", prompt: "look around", refs: {} } };

/** The journal of a run that ended: `first` and then `second`, with a warning before, between and after. */
function records(long = 10): KeptEvent[] {
  const facts: object[] = [
    {
      type: "run.started",
      path: "",
      plan: { nodes: { first: task, second: task }, output: "second" },
      cwd: "/",
      version: "0",
      limits: {},
    },
    { type: "node.started", path: "first", kind: "task", attempt: 1, agent: "explore" },
    { type: "node.ended", path: "first", outcome: { status: "ok", output: "the first answer" } },
    { type: "warning", path: "", code: "W", text: `spoilt ${"x".repeat(long)}` },
    { type: "node.started", path: "second", kind: "task", attempt: 1, agent: "explore" },
    { type: "node.ended", path: "second", outcome: { status: "ok", output: "the second answer" } },
    { type: "run.ended", path: "", outcome: { status: "ok", output: "the second answer" } },
  ];
  return facts.map((fact, at) => ({ seq: at + 1, run: RUN, at: 1_000 * at, ...fact }) as unknown as KeptEvent);
}

const linesOf = (events: readonly KeptEvent[]): string[] => events.map((event) => encodeLine(event, 1));

function placeWith(journal: string): Place & { file: string } {
  const at = place();
  const folder = join(at.env["SUBCREW_HOME"]!, "runs", RUN);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "journal.jsonl");
  writeFileSync(file, journal);
  return { ...at, file };
}

test("damage in the middle: every view shows the records before and after it, and names the offset", async () => {
  const lines = linesOf(records());
  const offset = lines.slice(0, 3).join("").length;
  const at = placeWith(lines.with(3, lines[3]!.replace("spoilt", "SPOILT")).join(""));
  const where = `damaged at byte ${offset} `;
  const [logs, status, result, one, replay, show, ps] = await Promise.all([
    at.run(["logs", RUN]),
    at.run(["status", RUN]),
    at.run(["result", RUN]),
    at.run(["result", `${RUN}/first`]),
    at.run(["replay", RUN, "--speed", "0"]),
    at.run(["show", RUN]),
    at.run(["ps", "--json"]),
  ]);
  expect(logs).toMatchObject({ code: 0, stderr: expect.stringContaining(where) });
  for (const name of ["first", "second", "end     ok"]) expect(logs.stdout).toContain(name);
  expect(logs.stdout).not.toContain("SPOILT");
  expect(status).toMatchObject({ code: 0, stdout: expect.stringContaining(where) });
  expect(status.stdout).toContain("the second answer");
  expect(result).toMatchObject({ code: 0, stdout: "the second answer\n", stderr: expect.stringContaining(where) });
  expect(one).toMatchObject({ code: 0, stdout: "the first answer\n", stderr: expect.stringContaining(where) });
  expect(replay).toMatchObject({ code: 0, stderr: expect.stringContaining(where) });
  expect(replay.stdout).toContain("the second answer");
  expect(show).toMatchObject({ code: 0, stderr: expect.stringContaining(where) });
  expect(show.stdout).toContain("the first answer");
  expect(show.stdout).toContain("the second answer");
  expect(JSON.parse(ps.stdout)).toMatchObject([{ id: RUN, status: "ok" }]);
});

test("damage in an unfinished run: it can be shown, is called damaged, and cannot be resumed", async () => {
  const lines = linesOf(records()).slice(0, 6);
  const at = placeWith(lines.with(3, lines[3]!.replace("spoilt", "SPOILT")).join(""));
  const before = readFileSync(at.file);
  const [logs, status, resumed, ps, gc] = await Promise.all([
    at.run(["logs", RUN]),
    at.run(["status", RUN]),
    at.run(["resume", RUN]),
    at.run(["ps"]),
    at.run(["gc", "--older-than", "1ms"]),
  ]);
  expect(logs.stdout).toContain("second");
  expect(status.stdout).toMatch(/Status: damaged[^]*cannot be resumed/);
  expect(resumed).toMatchObject({ code: expect.not.stringMatching("0"), stderr: expect.stringContaining("damaged") });
  expect(ps.stdout).toMatch(/damaged .*byte \d+/);
  expect(gc.code).toBe(0);
  expect(readFileSync(at.file)).toEqual(before);
});

test("every command that shows a run reports an incomplete last record, also when the files of the process that owned the run are gone", async () => {
  const at = placeWith(`${linesOf(records()).slice(0, 6).join("")}{"crc":"00`);
  const all = await Promise.all(["logs", "status"].map((name) => at.run([name, RUN])));
  for (const { code, stdout, stderr } of all) {
    expect(code).toBe(0);
    expect(stdout + stderr).toContain("The last record is incomplete after a crash (10 bytes).");
  }
});

test("a record of 50 MB is cut in the views", async () => {
  const at = placeWith(linesOf(records(50_000_000)).join(""));
  for (const name of ["logs", "show"]) {
    const { code, stdout, stderr } = await at.run([name, RUN], {
      env: { NODE_OPTIONS: "--max-old-space-size=400" },
    });
    expect([name, code]).toEqual([name, 0]);
    expect(stdout.length + stderr.length, name).toBeLessThan(100_000);
  }
}, 120_000);

test("a pipe in place of a journal blocks no command", async () => {
  const at = placeWith("");
  rmSync(at.file);
  const { execFileSync } = await import("node:child_process");
  execFileSync("mkfifo", [at.file]);
  const all = await Promise.all([["logs", RUN], ["resume", RUN], ["ps"], ["gc"]].map((args) => at.run(args)));
  for (const { code, signal } of all) expect([code === null, signal]).toEqual([false, null]);
  for (const { stderr } of all.slice(0, 2))
    expect(stderr).toMatch(/The journal cannot be read: .* is not a regular file\./);
});
