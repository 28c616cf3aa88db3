import { expect, test } from "vitest";
import { z } from "zod";
import { createCrew, defineAgent, defineTool } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/scripted.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const hand = defineTool({
  name: "hand_on",
  description: "hands a task on",
  input: z.object({ to: z.string() }),
  effect: "read",
  run: async ({ to }, { delegate }) => {
    const outcome = await delegate({ mode: "single", agent: to, task: "Wait." });
    return `the helper ended ${outcome.status}: ${outcome.status === "cancelled" ? outcome.reason : ""}`;
  },
});
const wait = defineTool({
  name: "wait",
  description: "waits until it is stopped",
  input: z.object({}),
  effect: "read",
  run: (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", reject)),
});
const agentWith = (name: string, ...tools: string[]) =>
  defineAgent({ name, description: name, instructions: "Work.", tools, model: name });

type Stage = Readonly<{ home?: string; helper?: ReturnType<typeof scripted> }>;
const waits = () => scripted({ calls: [{ name: "wait", input: {} }] }, "never said");
const crewOf = (lead: ReturnType<typeof scripted>, { home, helper = waits() }: Stage = {}) =>
  createCrew({
    home: home ?? false,
    discover: false,
    tools: [hand, wait],
    agents: [agentWith("lead", "hand_on", "wait"), agentWith("helper", "wait")],
    models: { lead, helper },
  });

test("a helper can be stopped, and its parent continues", async () => {
  const lead = scripted({ calls: [{ name: "hand_on", input: { to: "helper" } }] }, "I go on without it.");
  const run = crewOf(lead).run({ mode: "single", agent: "lead", task: "Go." });
  for await (const event of run)
    if (event.type === "tool.started" && event.tool === "wait")
      expect(run.cancelTask(event.path, "no longer needed")).toBe(true);
  expect(await run).toMatchObject({ status: "ok", output: "I go on without it." });
  expect(JSON.stringify(lead.requests[1]?.messages.at(-1))).toContain("the helper ended cancelled: no longer needed");
  expect(run.cancelTask("lead/helper")).toBe(false);
});

test("a task that waits for its slot can be stopped, too, and the other tasks end as usual", async () => {
  const crew = crewOf(scripted("done"));
  const run = crew.run({
    mode: "parallel",
    tasks: [
      { name: "first", agent: "helper", task: "Wait." },
      { name: "second", agent: "helper", task: "Wait." },
    ],
    maxConcurrency: 1,
  });
  for await (const event of run)
    if (event.type === "tool.started") {
      expect(run.cancelTask("second", "not this one")).toBe(true);
      expect(run.cancelTask("first", "nor this one")).toBe(true);
      expect(run.cancelTask("third")).toBe(false);
    }
  await run;
  const outcomeOf = (path: string) => run.state.nodes.get(path)?.outcome;
  expect(outcomeOf("second")).toEqual({ status: "cancelled", reason: "not this one", final: true });
  expect(outcomeOf("first")).toMatchObject({ status: "cancelled", reason: "nor this one" });
});

const leads = () => scripted({ calls: [{ name: "hand_on", input: { to: "helper" } }] }, "I go on without it.");

test("a task that is cancelled while its run stops for a pause ends as cancelled for good, with the person's reason", async () => {
  const home = tempFolder();
  const run = crewOf(scripted("done"), { home }).run({ mode: "single", agent: "helper", task: "Wait." });
  for await (const event of run)
    if (event.type === "tool.started") {
      run.pause("later");
      expect(run.cancelTask(event.path, "not wanted")).toBe(true);
    }
  await run;
  expect(run.state.nodes.get("helper")?.outcome).toEqual(
    expect.objectContaining({ status: "cancelled", reason: "not wanted", final: true }),
  );
});

test("a helper that is cancelled while its run stops for a pause is not started again when the run is resumed", async () => {
  const home = tempFolder();
  const first = crewOf(leads(), { home }).run({ mode: "single", agent: "lead", task: "Go." });
  for await (const event of first)
    if (event.type === "tool.started" && event.tool === "wait") {
      first.pause("later");
      expect(first.cancelTask("lead/helper", "not wanted")).toBe(true);
    }
  await first;
  const helper = scripted("helped after all");
  const lead = scripted("I go on without it.");
  expect(await crewOf(lead, { home, helper }).resume(first.id)).toMatchObject({ status: "ok" });
  expect(helper.requests).toHaveLength(0);
  expect(JSON.stringify(lead.requests[0]?.messages.at(-1))).toContain("the helper ended cancelled: not wanted");
});
