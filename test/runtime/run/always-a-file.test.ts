import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Plan } from "../../../src/core/plan/plan.ts";
import { type Crew, createCrew, defineTool, type Model } from "../../../src/index.ts";
import { never, type Script, scripted } from "../../../src/models/scripted/scripted.ts";
import { deferred } from "../../../src/runtime/async/deferred.ts";
import { tempFolder } from "../../support/temp-folder.ts";

function crewOf(models: Readonly<Record<string, Model>>, output?: Record<string, unknown>): Crew {
  const home = tempFolder();
  const hand = defineTool({
    name: "hand_on",
    description: "Hands a task on without waiting.",
    input: z.object({}),
    effect: "read",
    run: async (_, { background }) => {
      const begun = await background!.start({ mode: "single", agent: "stuck", task: "Wait." }, "ending");
      if ("status" in begun) return begun.status;
      const [file = ""] = Object.values(begun.files);
      return `${existsSync(file)}: ${readFileSync(file, "utf8")}`;
    },
  });
  return createCrew({
    cwd: home,
    home,
    discover: false,
    env: {},
    models,
    tools: [hand],
    permissions: { mode: "bypass", sandbox: "off" },
    agents: Object.keys(models).map((name) => ({
      name,
      description: name,
      instructions: "Work.",
      tools: ["hand_on"],
      model: name,
      spawns: "*" as const,
      ...(output && { output }),
    })),
  });
}

const refused: Script = { error: { code: "MODEL_AUTH", message: "no key", retryable: false } };
const text = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false };

test.each([
  ["EMPTY", [scripted("", "")], {}, {}],
  ["EMPTY", [scripted(" \n", "\u200b\n")], {}, {}],
  ["MODEL_AUTH", [scripted(refused)], {}, {}],
  ["TIMEOUT", [never], { resourceLimits: { maxDurationMs: 50, graceMs: 50 } }, {}],
  ["BUDGET", [scripted("never")], {}, { budget: { maxTokens: 1 } }],
  ["BUDGET", [scripted("never")], {}, { budget: { maxUsd: 1 } }],
  ["BAD_INPUTS", [scripted("never")], { inputs: { nobody: "x" } }, {}],
] as const)("a task that ends with %s has an output file with the reason", async (code, [model], task, options) => {
  const crew = crewOf({ m: model });
  const result = await crew.run({ mode: "single", agent: "m", task: "Go.", ...task }, options);
  const outcome = result.nodes["m"];
  expect(outcome).toMatchObject({ status: "failed", fault: { code } });
  const message = outcome?.status === "failed" ? outcome.fault.message : "";
  expect(readFileSync((await crew.outputFile(result.id, "m")) ?? "", "utf8")).toContain(message);
});

test("an empty answer fails even if it matches the schema, and an answer that does not match is kept", async () => {
  const empty = await crewOf({ m: scripted("", "") }, { type: "string" }).run({
    mode: "single",
    agent: "m",
    task: "Go.",
  });
  expect(empty).toMatchObject({ status: "failed", fault: { code: "EMPTY" } });
  const wrong = scripted('{"a": 1}', '{"a": 2}');
  const crew = crewOf({ m: wrong }, text);
  const { id, nodes, status } = await crew.run({ mode: "single", agent: "m", task: "Go." });
  expect({ status, m: nodes["m"] }).toMatchObject({
    status: "failed",
    m: { fault: { code: "INVALID_OUTPUT" }, output: '{"a": 2}' },
  });
  expect(JSON.parse(readFileSync((await crew.outputFile(id, "m")) ?? "", "utf8"))).toEqual({ a: 2 });
});

test("a contender that is cancelled during its acceptance check keeps answer, usage and file", async () => {
  const answered = deferred<void>();
  const crew = crewOf({
    a: scripted("the answer of a"),
    b: async function* () {
      await answered.promise;
      yield { type: "text", text: "b wins" };
      yield { type: "end", usage: { input: 1, output: 1 } };
    },
  });
  const plan: Plan = {
    nodes: {
      a: { kind: "task", task: { agent: "a", prompt: "Go.", acceptCommand: "sleep 600" } },
      b: { kind: "task", task: { agent: "b", prompt: "Go." } },
      out: { kind: "join", pick: "first", needs: ["a", "b"] },
    },
    output: "out",
  };
  const run = crew.run(plan);
  for await (const event of run) if (event.type === "turn.ended" && event.path === "a") setImmediate(answered.resolve);
  const { output, nodes } = await run;
  expect(output).toBe("b wins");
  expect(nodes["a"]).toMatchObject({
    status: "cancelled",
    reason: "no longer needed",
    output: "the answer of a",
    usage: { turns: 1 },
  });
  expect(readFileSync((await crew.outputFile(run.id, "a")) ?? "", "utf8")).toBe("the answer of a\n");
});

test("the output file of a background helper exists when its path is announced", async () => {
  const lead = scripted({ calls: [{ name: "hand_on", input: {} }] }, "done");
  const run = crewOf({ lead, stuck: never }).run({ mode: "single", agent: "lead", task: "Go." });
  for await (const event of run) if (event.type === "turn.started" && event.turn === 2) run.pause();
  const told = run.state.nodes.get("lead");
  expect(told).toBeDefined();
  const journal = JSON.stringify(lead.requests.at(-1)?.messages ?? []);
  expect(journal).toContain("true: ");
  expect(journal).toContain("has no result yet");
});
