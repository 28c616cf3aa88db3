import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { resultOf } from "../../../../src/core/run/result.ts";
import { type Event, emptyState, reduce } from "../../../../src/index.ts";
import { command, place, script } from "../../command.ts";

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

test("--json: every line is JSON, the last one is the result, and the events add up to it", async () => {
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

test("--json prints deltas only on request", async () => {
  const there = place({ "turns.json": turns });
  const args = ["run", "explore", "x", "--model", "scripted:turns.json", "--json"];
  const kinds = async (more: readonly string[]): Promise<Set<string>> =>
    new Set(linesOf((await there.run([...args, ...more])).stdout).map(({ type }) => type));
  expect(await kinds([])).not.toContain("text.delta");
  expect(await kinds(["--deltas"])).toContain("text.delta");
});

test("--json escapes characters that some readers take for a line end", async () => {
  const there = place({ "turns.json": turns });
  const { stdout } = await there.run(["run", "explore", "x", "--model", "scripted:turns.json", "--json"]);
  expect(stdout).not.toMatch(/[\u0085\u2028\u2029\u009b]/);
  expect(stdout).toContain("\\u2028");
});

test("TERM-01: output about agents contains no terminal sequences, and its JSON has the same meaning", async () => {
  const hostile = "a\u009b31m\u0085\u2028\u202e\u2066z";
  const file = `---\nname: odd\ndescription: ${JSON.stringify(hostile)}\n---\nWork.\n`;
  const there = place({ ".claude/agents/odd.md": file });
  for (const args of [["agents"], ["agents", "convert", ".claude/agents/odd.md", "--to", "codex"]]) {
    const { stdout } = await there.run([...args, "--json"]);
    expect(stdout).not.toMatch(/[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/);
    expect(JSON.stringify(JSON.parse(stdout))).toContain("31m");
  }
  const printing = readdirSync("src/cli", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .filter((name) => /stdout\.write\([^;]*JSON\.stringify/.test(readFileSync(join("src/cli", name), "utf8")));
  expect(printing).toEqual([]);
});

test("--json: a failure is a result, too, and a mistake is JSON on stderr", async () => {
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
    message: 'Unknown agent "explor".',
    hint: 'Did you mean "explore"?',
  });
});

test("--json: a reader that closes the pipe ends the command without an error message", async () => {
  const there = place({ "turns.json": script("x".repeat(200_000)) });
  const line = `"${process.execPath}" "${command}" run explore x --model scripted:turns.json --json | head -c 100`;
  const { code, stderr } = await sh(line, there);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const plain = await sh(line.replace(" --json", " --quiet"), there);
  expect(plain).toMatchObject({ code: 0, stderr: "", stdout: "x".repeat(100) });
});

test("IO-06: a reader that closes the pipe stops the run, which can be resumed", async () => {
  const wait = { name: "bash", input: { command: "until test -e gone; do sleep 0.05; done", timeoutMs: 600_000 } };
  const there = place({ "turns.json": script({ calls: [wait] }, { delayMs: 600_000, text: "late" }) });
  const rights = "--permission-mode bypass --sandbox off";
  const line = `"${process.execPath}" "${command}" run bash x --json --model scripted:turns.json ${rights}`;
  // Later output of the command has no reader; without the stop the model would continue for ten minutes.
  const { stdout, stderr } = await sh(`${line} | { head -n 1 >/dev/null; exec <&-; touch gone; }; echo over`, there);
  expect({ stdout, stderr }).toEqual({ stdout: "over\n", stderr: "" });

  writeFileSync(join(there.workspace, "turns.json"), script({ calls: [wait] }, "in time"));
  const [{ id, status }] = JSON.parse((await there.run(["ps", "--all", "--json"])).stdout) as [Record<string, string>];
  expect(status).toBe("paused");
  const resumed = await there.run(["resume", id!, "--quiet"]);
  expect(resumed).toMatchObject({ code: 0, stdout: "in time\n" });
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
