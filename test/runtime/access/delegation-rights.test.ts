import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Agent, type CrewOptions, createCrew, type Event } from "../../../src/index.ts";
import { type Script, scripted } from "../../../src/models/scripted/scripted.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const call = (name: string, input: object): Script => ({ calls: [{ name, input }] });
const write = call("write_file", { path: "made.txt", content: "x" });

type Options = Partial<CrewOptions> & {
  coord?: Partial<Agent>;
  writer?: Partial<Agent>;
  runTools?: string[];
  asks?: string;
};

/** A coordinator that may read and delegate, and a worker that may write. */
async function play({ coord, writer, runTools, asks, ...options }: Options = {}) {
  const cwd = tempFolder();
  const crew = createCrew({
    cwd,
    home: tempFolder(),
    env: { PATH: "/usr/bin:/bin" },
    discover: false,
    agents: [
      {
        name: "coord",
        description: "c",
        instructions: "Lead.",
        tools: ["read_file", "task"],
        delegation: ["Task"],
        model: "lead",
        ...coord,
      },
      {
        name: "writer",
        description: "w",
        instructions: "Work.",
        tools: ["read_file", "write_file"],
        model: "own",
        ...writer,
      },
    ],
    models: {
      lead: scripted(
        call("Task", {
          description: "write it now",
          prompt: "Write.",
          subagent_type: "writer",
          ...(asks && { model: asks }),
        }),
        "done",
      ),
      own: scripted(write, "written"),
      haiku: scripted(write, "written"),
    },
    permissions: { mode: "acceptEdits" },
    unattended: true,
    ...options,
  });
  const run = crew.run({ mode: "single", agent: "coord", task: "Go.", ...(runTools && { tools: runTools }) });
  const events: Event[] = [];
  for await (const event of run) events.push(event);
  await run;
  const of = <T extends Event["type"]>(type: T) =>
    events.filter((event): event is Extract<Event, { type: T }> => event.type === type);
  return { wrote: existsSync(join(cwd, "made.txt")), denied: of("tool.denied"), warnings: of("warning"), of };
}

test("a narrow coordinator starts a capable worker, which has the tools of its own file", async () => {
  const { wrote, denied } = await play();
  expect([wrote, denied]).toEqual([true, []]);
});

test.each<[string, Options]>([
  ["delegation: ceiling in the settings", { delegation: "ceiling" }],
  ["delegation: ceiling of the agent", { coord: { delegationRule: "ceiling" } }],
  ["a denial of the coordinator", { coord: { disallowedTools: ["write_file"] } }],
  ["plan mode of the coordinator", { coord: { permission: "plan" } }],
  ["a read-only sandbox of the coordinator", { coord: { sandbox: "read-only" } }],
  ["the tools of the run", { runTools: ["read_file", "Task"] }],
  ["a denial of the user", { permissions: { mode: "acceptEdits", deny: ["write_file"] } }],
])("%s bounds the worker", async (_, options) => {
  const { wrote } = await play(options);
  expect(wrote).toBe(false);
});

test("a coordinator starts only the agents that its spawns name", async () => {
  const { wrote } = await play({ coord: { spawns: ["somebody"] } });
  expect(wrote).toBe(false);
});

test("a caller chooses another model unless the file or the settings lock it", async () => {
  const modelsOf = async (options: Options) =>
    (await play({ asks: "haiku", ...options })).of("agent.resolved").map(({ model }) => model);
  expect(await modelsOf({})).toEqual(["lead", "haiku"]);
  expect(await modelsOf({ writer: { modelLock: true } })).toEqual(["lead", "own"]);
  expect(await modelsOf({ config: { models: { callersMayChoose: false } } })).toEqual(["lead", "own"]);
});
