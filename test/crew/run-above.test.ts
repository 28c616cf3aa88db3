import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { readRunAbove, RUN_ABOVE_VARIABLE, runAboveText, smallerDepth } from "../../src/core/delegation/run-above.ts";
import { createCrew, defineAgent } from "../../src/index.ts";
import { type Script, scripted } from "../../src/models/scripted/scripted.ts";
import { tempFolder } from "../support/temp-folder.ts";

function crewBelow(above: string | undefined, turns: readonly Script[]) {
  return createCrew({
    cwd: tempFolder(),
    home: tempFolder(),
    env: { PATH: "/usr/bin:/bin", ...(above !== undefined && { [RUN_ABOVE_VARIABLE]: above }) },
    discover: false,
    agents: [
      defineAgent({ name: "lead", description: "leads", instructions: "Work.", tools: ["*", "task"], model: "m" }),
    ],
    models: { m: scripted(...turns) },
  });
}

test("a run below a task that may not start agents is refused, and nothing is kept of it", async () => {
  const crew = crewBelow(runAboveText({ task: "run_a/lead", depth: 1, maxDepth: 1 }), ["never"]);
  await expect(crew.run({ mode: "single", agent: "lead", task: "x" })).rejects.toMatchObject({
    code: "TOO_DEEP",
    message: expect.stringContaining("run_a/lead"),
  });
  expect(await crew.runs()).toEqual([]);
});

test("a value of another program means nothing, and the smaller of two depths holds", () => {
  for (const text of [undefined, "", "1", "run_a/lead", "1/1", "-1/2 run_a/lead", "1/x run_a/b"])
    expect(readRunAbove(text)).toBeUndefined();
  expect([smallerDepth(undefined, -1), smallerDepth(3, 1), smallerDepth(-1, 2), smallerDepth(1, 4)]).toEqual([
    undefined,
    1,
    2,
    1,
  ]);
});

test.runIf(process.platform === "linux")("the variable is found above a program that strips the environment", () => {
  const file = new URL("../../dist/runtime/commands/ancestor-variable.js", import.meta.url).href;
  const look = `import(${JSON.stringify(file)}).then(({ ancestorVariable }) => console.log(ancestorVariable("OF_ABOVE")))`;
  // The shell waits for the second one, so that it stays in between.
  const { stdout } = spawnSync("/bin/sh", ["-c", `env -i "$NODE" -e "$LOOK"; exit 0`], {
    encoding: "utf8",
    env: { NODE: process.execPath, LOOK: look, OF_ABOVE: "0/1 run_a/lead" },
  });
  expect(stdout.trim()).toBe("0/1 run_a/lead");
});
