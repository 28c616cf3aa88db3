import { expect, test } from "vitest";
import { place, script } from "../../command.ts";

const files = {
  "long.json": script({ text: "wait", calls: [{ name: "sleep", input: { seconds: 300 } }] }, "done"),
  "quick.json": script("done"),
};
const runs = (model: string, writes: string): string[] => [
  "run",
  "pegasus:general",
  "x",
  "--model",
  `scripted:${model}`,
  "--writes",
  writes,
  "--json",
];

test("a process that needs files held by a run of another process waits, names that run, and continues when it is killed", async () => {
  const at = place(files);
  const first = at.start(runs("long.json", "src/**"));
  await first.until("tool.started");
  const second = at.start(runs("quick.json", "src/a.ts"));
  await second.until("node.waiting");
  const elsewhere = await at.start(runs("quick.json", "docs/**")).ended;
  expect(elsewhere).toMatchObject({ code: 0 });
  expect(elsewhere.stdout).not.toContain("node.waiting");
  const [, run] = /"run":"(run_\w+)"/.exec((first.child.kill("SIGKILL"), (await first.ended).stdout)) ?? [];
  const { code, stdout } = await second.ended;
  expect(code).toBe(0);
  const waited = stdout.split("\n").find((line) => line.includes("node.waiting"));
  expect(JSON.parse(waited ?? "{}")).toMatchObject({ for: [{ task: "pegasus:general", files: ["src/**"], run }] });
});
