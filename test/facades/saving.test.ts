import { join } from "node:path";
import { expect, test } from "vitest";
import type { Model, ModelRequest } from "../../src/core/model/model.ts";
import { createCrew, defineAgent } from "../../src/index.ts";
import { offline } from "../../src/models/offline/offline.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { patiently } from "../support/patiently.ts";
import { tempFolder } from "../support/temp-folder.ts";

const question = "Where is the order of the agent sources decided?";
const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Asks an agent about the source of this project; returns how much its conversation grew, and the tokens of its turns. */
async function ask(
  agent: "lead" | "explore",
): Promise<{ added: number; tokens: number; requests: readonly ModelRequest[]; output: string }> {
  const requests: ModelRequest[] = [];
  const watched: Model = async function* (request, signal) {
    requests.push(request);
    yield* offline(request, signal);
  };
  const lead = scripted(
    { calls: [{ name: "Task", input: { description: "look it up", prompt: question, subagent_type: "explore" } }] },
    (request) => JSON.stringify(request.messages.at(-1)).slice(0, 600),
  );
  const crew = createCrew({
    cwd: join(import.meta.dirname, "../.."),
    home: tempFolder(),
    env: { PATH: process.env["PATH"] },
    discover: false,
    agents: [
      defineAgent({ name: "lead", description: "leads", instructions: "", model: "lead", tools: ["*", "Task"] }),
    ],
    models: { offline: watched, lead },
    model: "offline",
    config: { agents: { explore: { model: "offline" } } },
  });
  const { output, status, nodes } = await crew.run({ mode: "single", agent, task: question });
  expect(status).toBe("ok");
  const own = agent === "lead" ? lead.requests : requests;
  const { usage } = nodes[agent] as { usage: { input: number } };
  return { added: bytes(own.at(-1)!.messages.slice(1)), tokens: usage.input, requests: own, output };
}

test("exploring this repository with a subagent saves more than 55 % of the text and tokens of the main conversation", async () => {
  const [alone, delegated] = [await ask("explore"), await ask("lead")];
  expect(alone.output).toContain("src/runtime/discovery/sources.ts");
  expect(delegated.added).toBeLessThan(alone.added * 0.45);
  expect(delegated.tokens).toBeLessThan(alone.tokens * 0.45);
  // Only the summary came back, and no results of the subagent's tools.
  const results = alone.requests
    .at(-1)!
    .messages.flatMap((message) => (message.role === "tool" ? message.results : []));
  const longest = results.map(({ text }) => text).toSorted((a, b) => b.length - a.length)[0]!;
  expect(JSON.stringify(delegated.requests.at(-1)!.messages)).not.toContain(
    JSON.stringify(longest.slice(0, 3_000)).slice(1, -1),
  );
}, 60_000);

test("Explore and Plan, started in parallel by one message, search and plan in this repository", async () => {
  // A search that gets no processor time for 4 s returns its findings so far.
  await patiently(async () => {
    const task = (subagent_type: string) => ({
      name: "Task",
      input: { description: "look", prompt: question, subagent_type },
    });
    const lead = scripted({ calls: [task("Explore"), task("Plan")] }, "done");
    const crew = createCrew({
      cwd: join(import.meta.dirname, "../.."),
      home: tempFolder(),
      env: { PATH: process.env["PATH"] },
      discover: false,
      agents: [
        defineAgent({ name: "lead", description: "leads", instructions: "", model: "lead", tools: ["*", "Task"] }),
      ],
      models: { lead },
      config: { agents: { Explore: { model: "offline" }, Plan: { model: "offline" } } },
    });
    const { nodes } = await crew.run({ mode: "single", agent: "lead", task: "Lead." });
    expect(nodes["lead/Explore"]).toMatchObject({
      status: "ok",
      output: expect.stringContaining("src/runtime/discovery/sources.ts"),
    });
    const plan = nodes["lead.2/Plan"] ?? nodes["lead/Plan"];
    expect(plan).toMatchObject({ status: "ok", output: expect.stringContaining("src/") });
    // the question, the message with both calls, and the message with both summaries
    expect(lead.requests[1]!.messages).toHaveLength(3);
  });
}, 180_000);
