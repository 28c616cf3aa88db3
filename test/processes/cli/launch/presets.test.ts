import { expect, test } from "vitest";
import { place } from "../../command.ts";

/** Everyday command lines; none of them names an agent that only some systems have. */
const lines: readonly (readonly [args: readonly string[], input?: string])[] = [
  [["run", "--input", "-"], JSON.stringify({ task: "What does notes.txt say?" })],
  [["chat"], "What does notes.txt say?\n/exit\n"],
  [["parallel", "--input", "-"], JSON.stringify({ tasks: [{ task: "Read notes.txt" }, { task: "Use {task_0}" }] })],
  [["chain", "--input", "-"], JSON.stringify({ chain: [{ task: "Read notes.txt" }, { task: "Sum up {previous}" }] })],
  [["race", "--models", "offline,offline", "Read notes.txt"]],
  [["plan", "parallel", "--input", "-"], JSON.stringify({ tasks: [{ task: "Read notes.txt" }] })],
  [["agents", "list", "--all"]],
  [["agents", "explain", "lead"]],
  [["agents", "lint"]],
  [["config"]],
];

test.each(["omp", "pegasus", "mycode", "pi-parallel", "gemini"])(
  "ten everyday command lines work with the preset %s",
  async (preset) => {
    const there = place({ "notes.txt": "The plants were watered.\n" });
    const failed: unknown[] = [];
    for (const [args, input = ""] of lines) {
      const { code, stdout, stderr } = await there.run(args, { env: { SUBCREW_PRESET: preset }, input, shared: true });
      if (code !== 0) failed.push([args.join(" "), code, stdout.slice(-300), stderr.slice(-600)]);
    }
    expect(failed).toEqual([]);
  },
  120_000,
);

/** Patterns of durations: `tight` for `512ms`, `1.5s` and `30m0s`, `spaced` for `1s` and `30m 0s`. */
const written = {
  tight: /(?<![\w:.])(?:\d+ms|\d+\.\ds|\d+m\d+s)\b/,
  spaced: /(?<![\w:.])(?:\d+m \d+s|\d+s)\b/,
} as const;

test("every view of a run shows durations in the format of the preset or the setting", async () => {
  const turns = [
    { calls: [{ name: "write_file", input: { path: "a.txt", content: "one" } }] },
    { text: "done", delayMs: 20 },
    { text: "done again", delayMs: 20 },
  ];
  const there = place({ "script.json": JSON.stringify({ turns }) });
  const task = ["run", "general", "make a.txt", "--model", "scripted:script.json", "--allow", "write_file"];
  const ran = await there.run([...task, "--name", "demo"], { shared: true });
  expect(ran.stderr).not.toContain("subcrew:");
  const views = ["runs", "ps", "status demo", "logs demo", "show demo", "replay demo --speed 0", "attach demo"];
  const wrong: unknown[] = [];
  const styles = [
    [{ SUBCREW_PRESET: "pi-parallel" }, written.tight, written.spaced],
    [{ SUBCREW_PRESET: "mycode" }, written.spaced, written.tight],
  ] as const;
  for (const [env, wanted, other] of styles)
    for (const line of [...views, "resume demo again --name more"]) {
      const { stdout, stderr } = await there.run(line.split(" "), { env, shared: true });
      if (!wanted.test(stdout + stderr) || other.test(stdout + stderr)) wrong.push([env, line, stdout, stderr]);
    }
  expect(wrong).toEqual([]);
}, 60_000);
