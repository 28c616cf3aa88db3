import { expect, test } from "vitest";
import { place, script } from "../../command.ts";

const linux = process.platform === "linux";
const agent = "---\nname: worker\ndescription: works\nrunner: process\n---\nWork.\n";

test("the command runs a task in its own process or thread", async () => {
  const there = place({ "hello.json": script("Hello from elsewhere.") });
  for (const runner of ["process", "thread", "worker", "local"]) {
    const { code, stdout } = await there.run([
      "run",
      "general",
      "Go.",
      "--model",
      "scripted:hello.json",
      "--runner",
      runner,
    ]);
    expect({ code, stdout: stdout.trim() }).toEqual({ code: 0, stdout: "Hello from elsewhere." });
  }
});

test("an unknown runner is refused", async () => {
  const { code, stderr } = await place().run(["run", "general", "Go.", "--runner", "moon"]);
  expect({ code, names: /local.*thread.*process/s.test(stderr) }).toEqual({ code: 2, names: true });
});

test("the flags reach every task of a plan", async () => {
  const args = ["plan", "parallel", "general=x", "explore=y", "--runner", "worker", "--max-memory", "300MB"];
  const { stdout } = await place().run(args);
  const { nodes } = JSON.parse(stdout) as { nodes: Record<string, { task?: object }> };
  const said = { runner: "thread", resourceLimits: { maxMemoryMB: 300 } };
  for (const name of ["general", "explore"]) expect(nodes[name]?.task).toMatchObject(said);
});

test("an agent file can choose the runner of its tasks", async () => {
  const there = place({ ".subcrew/agents/worker.md": agent, "hello.json": script("Hello.") });
  const args = ["run", "worker", "Go.", "--trust", "--model", "scripted:hello.json"];
  const { code, stderr, stdout } = await there.run(args);
  expect({ code, stdout: stdout.trim() }, stderr).toEqual({ code: 0, stdout: "Hello." });
});

test.runIf(linux)("a memory limit ends the command with the exit code of limits", async () => {
  const there = place({ "slow.json": script({ text: "Slowly.", delayMs: 600_000 }) });
  const args = ["run", "general", "Go.", "--model", "scripted:slow.json", "--max-memory", "30MB"];
  const { code, stderr } = await there.run(args);
  expect({ code, told: stderr.includes("30 MB of memory") }, stderr).toEqual({ code: 4, told: true });
});
