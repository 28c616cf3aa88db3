import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { AnyInput } from "../../../src/core/plan/input.ts";
import type { Plan } from "../../../src/core/plan/plan.ts";
import type { HelperNotice } from "../../../src/core/task/engine.ts";
import { type CrewOptions, createCrew, defineAgent, defineTool, type Run } from "../../../src/index.ts";
import { never, type ScriptedTurn, scripted } from "../../../src/models/scripted/scripted.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const helper = { model: "helper", tools: [] };
const agents = (spawns: "*" | readonly string[] | undefined) => [
  defineAgent({
    name: "lead",
    description: "leads",
    instructions: "Lead.",
    model: "lead",
    tools: ["start"],
    ...(spawns && { spawns }),
  }),
  defineAgent({ name: "scout", description: "scouts", instructions: "Scout.", ...helper }),
  defineAgent({ name: "general", description: "does anything", instructions: "Work.", ...helper }),
  defineAgent({ name: "root", description: "may do all", instructions: "Work.", ...helper }),
];

/** A tool as a user of the library writes it: it starts any agent. */
const starts = (what: AnyInput | Plan, background: HelperNotice | undefined) =>
  defineTool({
    name: "start",
    description: "starts agents",
    effect: "read",
    input: z.object({}),
    run: async (_, context) => {
      if (background) {
        const begun = await context.background!.start(what, background);
        return "status" in begun ? `${begun.fault.code}: ${begun.fault.message} ${begun.fault.hint}` : "started";
      }
      const outcome = await context.delegate(what);
      return outcome.status === "failed"
        ? `${outcome.fault.code}: ${outcome.fault.message} ${outcome.fault.hint}`
        : outcome.status;
    },
  });

const call: ScriptedTurn = { calls: [{ name: "start", input: {} }] };

type Spawns = "*" | readonly string[] | undefined;
type Options = CrewOptions & { background?: HelperNotice };

function crewOf(spawns: Spawns, what: AnyInput | Plan, { background, ...more }: Options = {}) {
  const model = scripted("helped", "helped", "helped", "helped");
  const crew = createCrew({
    cwd: tempFolder(),
    home: false,
    discover: false,
    env: {},
    agents: agents(spawns),
    tools: [starts(what, background)],
    models: { lead: scripted(call, "done", "done"), helper: model },
    ...more,
  });
  return { crew, model };
}

async function play(...given: Parameters<typeof crewOf>): Promise<{ told: string; started: string[]; asked: number }> {
  const { crew, model } = crewOf(...given);
  const run = crew.run({ mode: "single", agent: "lead", task: "Go." });
  return { ...(await seen(run)), asked: model.requests.length };
}

async function seen(run: Run): Promise<{ told: string; started: string[] }> {
  const started: string[] = [];
  let told = "";
  for await (const event of run) {
    if (event.type === "node.started" && event.path !== "lead") started.push(event.path);
    if (event.type === "tool.ended") told = event.text;
  }
  await run;
  return { told, started };
}

const single = (agent: string) => ({ mode: "single", agent, task: "Help." });
const task = (agent?: string) => ({ kind: "task" as const, task: { prompt: "Help.", ...(agent && { agent }) } });
const REFUSED = (agent: string, allowed: string) =>
  `DENIED: "lead" may not start the agent "${agent}". The \`spawns\` list of the agent behind "lead" allows: ${allowed}.`;
const NONE = "none (spawns disabled for this agent)";

describe("a library user's tool that delegates", () => {
  test.each<[title: string, spawns: Spawns, what: AnyInput | Plan, told: string]>([
    ["starts no agent for an agent that may start none", [], single("scout"), REFUSED("scout", NONE)],
    ["starts the agents that the agent may start", ["scout"], single("scout"), "ok"],
    ["starts no other agent", ["scout"], single("root"), REFUSED("root", "scout")],
    ["starts any agent where the agent may", "*", single("root"), "ok"],
    ["starts any agent where the agent has no list", undefined, single("root"), "ok"],
    [
      "does not start the default agent for an unnamed task if it is not on the list",
      ["scout"],
      { mode: "single", task: "x" },
      REFUSED("general", "scout"),
    ],
    [
      "starts the default agent for an unnamed task if it is on the list",
      ["general"],
      { mode: "single", task: "x" },
      "ok",
    ],
    [
      "starts none of many tasks if one is refused",
      ["scout"],
      {
        mode: "parallel",
        tasks: [
          { agent: "scout", task: "a" },
          { agent: "root", task: "b" },
        ],
      },
      REFUSED("root", "scout"),
    ],
    [
      "a chain",
      ["scout"],
      {
        mode: "chain",
        chain: [
          { agent: "scout", task: "a" },
          { agent: "root", task: "{previous}" },
        ],
      },
      REFUSED("root", "scout"),
    ],
    ["a race", ["scout"], { mode: "race", race: { task: "a", agents: ["scout", "root"] } }, REFUSED("root", "scout")],
    [
      "the reviewer in the loop of a team",
      ["scout"],
      {
        mode: "team",
        team: {
          members: [
            { role: "m", agent: "scout" },
            { role: "r", agent: "root" },
          ],
          tasks: [{ id: "a", task: "x", assignee: "m", review: { reviewer: "r" } }],
        },
      },
      REFUSED("root", "scout"),
    ],
    [
      "a loop inside a loop of a plan",
      ["scout"],
      {
        nodes: {
          outer: {
            kind: "loop",
            max: 1,
            body: {
              nodes: {
                inner: {
                  kind: "loop",
                  max: 1,
                  body: {
                    nodes: { work: task("scout"), review: { ...task("root"), needs: ["work"] } },
                    output: "work",
                  },
                  until: "review",
                },
                review: { ...task("scout"), needs: ["inner"] },
              },
              output: "inner",
            },
            until: "review",
          },
        },
        output: "outer",
      } as unknown as Plan,
      REFUSED("root", "scout"),
    ],
  ])("%s", async (_, spawns, what, told) => {
    const result = await play(spawns, what);
    expect(result.told).toBe(told);
    if (told !== "ok") expect(result).toMatchObject({ started: [], asked: 0 });
    else expect(result.asked).toBe(1);
  });

  test("starts no forbidden agent in the background either, and a refusal does not count as a spawn", async () => {
    const refused = await play(["scout"], single("root"), { background: "result" });
    expect(refused).toEqual({ told: REFUSED("root", "scout"), started: [], asked: 0 });
    expect((await play(["scout"], single("scout"), { background: "result" })).told).toBe("started");
  });

  test("does not start the agent from which the run itself was started", async () => {
    const { told, asked } = await play("*", single("scout"), { env: { SUBCREW_BLOCKED_AGENT: "scout" } });
    expect(told).toMatch(/^DENIED: "lead" may not start the agent "scout"\. The run was started from this agent/);
    expect(asked).toBe(0);
  });

  test("starts no forbidden agent as a helper that outlives the run", async () => {
    const { crew, model } = crewOf(["scout"], single("root"), { background: "ending" });
    const { told } = await seen(crew.run({ mode: "single", agent: "lead", task: "Go." }, { outliving: {} }));
    expect(told).toBe(REFUSED("root", "scout"));
    expect(model.requests).toEqual([]);
  });

  test("is limited to the spawns of the recorded agent when the run is resumed, whatever its file says by then", async () => {
    const home = tempFolder();
    const first = crewOf([], single("root"), { home, models: { lead: never, helper: scripted("helped") } });
    const run = first.crew.run({ mode: "single", agent: "lead", task: "Go." });
    for await (const event of run) if (event.type === "turn.started") run.pause("enough");
    const { crew, model } = crewOf("*", single("root"), { home });
    expect((await seen(crew.resume(run.id))).told).toBe(REFUSED("root", NONE));
    expect(model.requests).toEqual([]);
  });

  test("may start no more agents than before when a person adds nodes with other agents to the plan", async () => {
    const { crew, model } = crewOf(["scout"], single("root"));
    const run = crew.run({
      mode: "parallel",
      tasks: [
        { agent: "lead", task: "Go.", name: "a" },
        { agent: "scout", task: "Go.", name: "b" },
      ],
    });
    let told = "";
    for await (const event of run) {
      if (event.type === "node.started" && event.path === "a") run.change({ newTasks: { more: task("root") } });
      if (event.type === "tool.ended") told = event.text;
    }
    expect((await run).nodes["more"]).toMatchObject({ status: "ok" });
    expect(told).toBe(REFUSED("root", "scout").replaceAll("lead", "a"));
    expect(model.requests).toHaveLength(2);
  });
});
