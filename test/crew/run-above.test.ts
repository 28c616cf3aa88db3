import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { z } from "zod";
import { readRunAbove, RUN_ABOVE_VARIABLE, runAboveText, smallerDepth } from "../../src/core/delegation/run-above.ts";
import {
  type CrewOptions,
  createCrew,
  defineAgent,
  defineTool,
  type Result,
  type RunOptions,
} from "../../src/index.ts";
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

test("a nested run below a task that may not start agents is refused, and nothing is stored", async () => {
  const crew = crewBelow(runAboveText({ task: "run_a/lead", depth: 1, maxDepth: 1 }), ["never"]);
  await expect(crew.run({ mode: "single", agent: "lead", task: "x" })).rejects.toMatchObject({
    code: "TOO_DEEP",
    message: expect.stringContaining("run_a/lead"),
  });
  expect(await crew.runs()).toEqual([]);
});

test("a parent-run variable set by another program has no effect, and the smaller of two depth limits counts", () => {
  for (const text of [undefined, "", "1", "run_a/lead", "1/1", "-1/2 run_a/lead", "1/x run_a/b"])
    expect(readRunAbove(text)).toBeUndefined();
  expect([smallerDepth(undefined, -1), smallerDepth(3, 1), smallerDepth(-1, 2), smallerDepth(1, 4)]).toEqual([
    undefined,
    1,
    2,
    1,
  ]);
});

test.runIf(process.platform === "linux")(
  "the variable of the parent run is found even if a program in between strips the environment",
  () => {
    const file = new URL("../../dist/runtime/disk/ancestor-variable.js", import.meta.url).href;
    const look = `import(${JSON.stringify(file)}).then(({ ancestorVariable }) => console.log(ancestorVariable("OF_ABOVE")))`;
    // The shell does not become the second program but waits for it, so it stays between the two processes.
    const { stdout } = spawnSync("/bin/sh", ["-c", `env -i "$NODE" -e "$LOOK"; exit 0`], {
      encoding: "utf8",
      env: { NODE: process.execPath, LOOK: look, OF_ABOVE: "0/1 run_a/lead" },
    });
    expect(stdout.trim()).toBe("0/1 run_a/lead");
  },
);

/**
 * A run whose tool starts a second subcrew, as a program of the run would: with the same home folder and the variable
 * of the task.
 */
async function nested(
  turns: readonly Script[],
  {
    below = [],
    atOnce = 1,
    budget,
    home = tempFolder(),
  }: { below?: readonly Script[]; atOnce?: number; budget?: RunOptions["budget"]; home?: string },
) {
  const results: (Result | string)[] = [];
  const crew = (options: CrewOptions) =>
    createCrew({
      cwd: tempFolder(),
      home,
      discover: false,
      unattended: true,
      ...options,
    });
  const agent = defineAgent({ name: "lead", description: "leads", instructions: "Work.", model: "m" });
  const look = defineTool({
    name: "look",
    description: "Looks.",
    input: z.object({}),
    effect: "read",
    run: async () => "seen",
  });
  const start = defineTool({
    name: "start",
    description: "Starts a subcrew.",
    input: z.object({}),
    effect: "write", // a tool that writes starts only after all earlier records are on the disk, like a command
    run: async (_, { env }) => {
      const inners = Array.from({ length: atOnce }, async () => {
        const inner = crew({ env, agents: [agent], models: { m: scripted(...below) }, tools: [look] });
        return inner.run({ mode: "single", agent: "lead", task: "y" }).then(
          (result) => result,
          (error: unknown) => (error as { code: string }).code,
        );
      });
      results.push(...(await Promise.all(inners)));
      return "started";
    },
  });
  const outer = crew({
    env: { PATH: "/usr/bin:/bin" },
    agents: [agent],
    models: { m: scripted(...turns) },
    tools: [start],
    permissions: { allow: ["start"] },
  });
  const run = outer.run({ mode: "single", agent: "lead", task: "x" }, { ...(budget && { budget }) });
  const result = await run;
  return { result, results, record: await outer.record(run.id), outer };
}

const started: Script = { calls: [{ name: "start", input: {} }], usage: { input: 10, output: 5 }, cost: 0.01 };
const said = (cost: number): Script => ({ text: "done", usage: { input: 100, output: 50 }, cost });

test("the usage of a nested run is counted and shown in its parent run", async () => {
  const { result, results, record } = await nested([started, said(0.02)], { below: [said(0.5)] });
  expect(results).toMatchObject([{ status: "ok", cost: { usd: 0.5 } }]);
  expect(result).toMatchObject({ status: "ok", output: "done" });
  expect(result.cost.usd).toBeCloseTo(0.53);
  expect(result.usage).toMatchObject({ input: 210, output: 105, turns: 3 });
  expect(record.nodes.get("lead")?.cost.usd).toBeCloseTo(0.53);
});

test("a nested run has the rest of its parent's budget, and its usage is subtracted from it", async () => {
  const turns = { below: [said(0.01), said(0.01)], budget: { maxTurns: 2 } };
  const { result, results } = await nested([started, said(0.01), said(0.01)], turns);
  expect(results).toMatchObject([{ status: "ok" }]);
  expect(result).toMatchObject({ limit: { kind: "turns", value: 2 } });
  const none = await nested([started, started, said(0.01)], { below: [said(0.01)], budget: { maxSpawns: 1 } });
  expect(none.results).toMatchObject([{ status: "ok" }, "TOO_MANY_RUNS"]);
  expect(none.result).toMatchObject({ status: "ok" });
  expect(await none.outer.runs()).toHaveLength(2);
});

test("when the parent's budget is used up, a nested run has none", async () => {
  const { results } = await nested([started, said(0.01)], { below: [said(0.01)], budget: { maxTurns: 1 } });
  expect(results).toMatchObject([{ status: "failed", fault: { code: "MAX_TURNS" } }]);
});

const looks = (tokens: number): Script => ({
  calls: [{ name: "look", input: {} }],
  usage: { input: tokens, output: 0 },
});
const sum = (results: readonly (Result | string)[], of: (result: Result) => number): number =>
  results.reduce((all, each) => all + (typeof each === "string" ? 0 : of(each)), 0);

test("concurrent nested runs share the remaining budget of their parent task exactly: turns, tokens and agents", async () => {
  const below = [looks(100), looks(100), looks(100), looks(100), said(0)];
  const turns = await nested([started, said(0)], { below, atOnce: 2, budget: { maxTurns: 6 } });
  expect(turns.results).toMatchObject([{ limit: { kind: "turns", value: 6 } }, { limit: { kind: "turns", value: 6 } }]);
  // One of the six turns is the first turn of the parent run; a task at the limit gets one more turn for its result.
  expect(sum(turns.results, ({ usage }) => usage.turns)).toBe(5 + 2);

  const tokens = await nested([started, said(0)], { below, atOnce: 3, budget: { maxTokens: 800 } });
  expect(sum(tokens.results, ({ usage }) => usage.input + usage.output)).toBeLessThanOrEqual(800);
  expect(tokens.result.usage.input + tokens.result.usage.output).toBeLessThanOrEqual(800);

  const agents = await nested([started, said(0)], { below: [said(0)], atOnce: 3, budget: { maxSpawns: 2 } });
  expect(agents.results.filter((each) => each === "TOO_MANY_RUNS")).toHaveLength(1);
});
