import { expect, test } from "vitest";
import { place } from "../../command.ts";

/** What people type every day; none of it names an agent that only some systems have. */
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
