import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { emptyState, reduce, type Event } from "../../src/index.ts";
import { resultOf } from "../../src/core/result.ts";
import { command, place, script } from "./command.ts";

type Line = { type: string } & Record<string, unknown>;
const linesOf = (stdout: string): Line[] =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);

const turns = script(
  { text: "looking \u2028\u0085 around", calls: [{ name: "list_files", input: {} }] },
  "It is here.",
);

test("every line is JSON, the last one is the result, and the events fold to it", async () => {
  const there = place({ "turns.json": turns });
  const { code, stdout, stderr } = await there.run([
    "parallel",
    "a@explore=x",
    "b@explore=y {task:a}",
    "--model",
    "scripted:turns.json",
    "--json",
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const lines = linesOf(stdout);
  const { type, ...result } = lines.at(-1)!;
  expect(type).toBe("result");
  expect(result).toMatchObject({ status: "ok", output: "## a\n\nIt is here.\n\n## b\n\nIt is here." });
  const events = lines.slice(0, -1) as unknown as Event[];
  expect(resultOf(events.reduce(reduce, emptyState(String(result["id"]))))).toEqual(result);
  expect(events.map((event) => "seq" in event && event.seq)).toEqual(events.map((_, index) => index + 1));
});

test("deltas come only when they are asked for", async () => {
  const there = place({ "turns.json": turns });
  const args = ["run", "explore", "x", "--model", "scripted:turns.json", "--json"];
  const kinds = async (more: readonly string[]): Promise<Set<string>> =>
    new Set(linesOf((await there.run([...args, ...more])).stdout).map(({ type }) => type));
  expect(await kinds([])).not.toContain("text.delta");
  expect(await kinds(["--deltas"])).toContain("text.delta");
});

test("what some readers take for the end of a line is escaped", async () => {
  const there = place({ "turns.json": turns });
  const { stdout } = await there.run(["run", "explore", "x", "--model", "scripted:turns.json", "--json"]);
  expect(stdout).not.toMatch(/[\u0085\u2028\u2029\u009b]/);
  expect(stdout).toContain("\\u2028");
});

test("a failure is a result too, and a mistake is JSON on stderr", async () => {
  const there = place({ "bad.json": script({ error: { code: "MODEL_OVERLOADED", message: "busy" } }) });
  const failed = await there.run(["run", "explore", "x", "--model", "scripted:bad.json", "--json"]);
  expect(failed).toMatchObject({ code: 1, stderr: "" });
  expect(linesOf(failed.stdout).at(-1)).toMatchObject({
    type: "result",
    status: "failed",
    fault: { code: "MODEL_OVERLOADED" },
  });
  const wrong = await there.run(["run", "explor", "x", "--json"]);
  expect(wrong).toMatchObject({ code: 2, stdout: "" });
  expect(JSON.parse(wrong.stderr)).toEqual({
    type: "error",
    code: "UNKNOWN_AGENT",
    message: 'There is no agent "explor".',
    hint: 'Did you mean "explore"?',
  });
});

test("a reader that has seen enough ends it quietly", async () => {
  const there = place({ "turns.json": script("x".repeat(200_000)) });
  const line = `"${process.execPath}" "${command}" run explore x --model scripted:turns.json --json | head -c 100`;
  const { code, stderr } = await sh(line, there);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const plain = await sh(line.replace(" --json", " --quiet"), there);
  expect(plain).toMatchObject({ code: 0, stderr: "", stdout: "x".repeat(100) });
});

test("IO-06: a reader that goes away stops the run, which can be resumed", async () => {
  const there = place({ "turns.json": script("first", "x"), "slow.json": script({ delayMs: 120_000, text: "late" }) });
  const began = performance.now();
  const line = `"${process.execPath}" "${command}" chain --json explore=x explore="y {previous}" --model scripted:slow.json | head -n 1`;
  const { stdout, stderr } = await sh(`${line} >/dev/null; echo over`, there);
  expect({ stdout, stderr }).toEqual({ stdout: "over\n", stderr: "" });
  expect(performance.now() - began).toBeLessThan(20_000);
});

function sh(
  line: string,
  { workspace, env }: { workspace: string; env: Readonly<Record<string, string>> },
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn("/bin/sh", ["-c", line], { cwd: workspace, env });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, stdout, stderr })));
}
