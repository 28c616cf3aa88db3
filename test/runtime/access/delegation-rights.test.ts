import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Agent, type CrewOptions, createCrew, type Event } from "../../../src/index.ts";
import { type Script, scripted } from "../../../src/models/scripted/scripted.ts";
import { projectCrew } from "../../support/stage.ts";
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

test("a coordinator with few tools starts a worker, which has the tools of its own file", async () => {
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
])("%s limits the worker", async (_, options) => {
  const { wrote } = await play(options);
  expect(wrote).toBe(false);
});

test("a coordinator starts only the agents in its spawns", async () => {
  const { wrote } = await play({ coord: { spawns: ["somebody"] } });
  expect(wrote).toBe(false);
});

test("a caller can choose another model unless the file or the settings lock it", async () => {
  const modelsOf = async (options: Options) =>
    (await play({ asks: "haiku", ...options })).of("agent.resolved").map(({ model }) => model);
  expect(await modelsOf({})).toEqual(["lead", "haiku"]);
  expect(await modelsOf({ writer: { modelLock: true } })).toEqual(["lead", "own"]);
  expect(await modelsOf({ config: { models: { callersMayChoose: false } } })).toEqual(["lead", "own"]);
});

const file = (body: string, ...lines: readonly string[]): string => ["---", ...lines, "---", body, ""].join("\n");
const markdown = (folder: string, tools: readonly [coord: string, worker: string], ending = ".md") => ({
  [`${folder}/coord${ending}`]: file("You coordinate.", "name: coord", "description: c", tools[0]),
  [`${folder}/worker${ending}`]: file("You write.", "name: worker", "description: w", tools[1]),
});
const toml = (tools: string, body: string): string =>
  `name = "${body.includes("coord") ? "coord" : "worker"}"\ndescription = "d"\ndeveloper_instructions = "${body}"\n${tools}\n`;
const writes = "tools: [Read, Write]";

/** In each dialect, a coordinator that reads and delegates, and a worker that reads and writes. */
const families: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  own: markdown(".subcrew/agents", ["tools: [read_file, task]", "tools: [read_file, write_file]"]),
  claude: markdown(".claude/agents", ["tools: Read, Agent(worker)", "tools: Read, Write"]),
  codex: {
    ".codex/agents/coord.toml": toml('tools = ["read_file", "spawn_agent"]', "You coordinate."),
    ".codex/agents/worker.toml": toml('tools = ["read_file", "write_file"]', "You write."),
  },
  // agents of Gemini CLI cannot start others
  gemini: {
    ".gemini/agents/worker.md": file("You write.", "name: worker", "description: w", "tools: [read_file, write_file]"),
    ".subcrew/agents/coord.md": file(
      "You coordinate.",
      "name: coord",
      "description: c",
      "tools: [read_file, delegate_to_agent]",
    ),
  },
  opencode: markdown(".opencode/agent", [
    'permission: { "*": deny, read: allow, task: { "*": allow, other: deny } }',
    'permission: { "*": deny, read: allow, edit: allow }',
  ]),
  copilot: markdown(".github/agents", ["tools: ['read', 'agent']", "tools: ['read', 'edit']"], ".agent.md"),
  cursor: markdown(".cursor/agents", ["tools: Read, Task", writes]),
  qwen: markdown(".qwen/agents", ["tools: [read_file, task]", "tools: [read_file, write_file]"]),
  factory: markdown(".factory/droids", ["tools: [Read, Task]", "tools: [Read, Create]"]),
  omp: markdown(".omp/agents", ["tools: read\nspawns: '*'", "tools: read, write"]),
  pi: markdown(".pi/agents", ["tools: read, subagent", "tools: read, write"]),
  gen: markdown(".gen/agents", ["tools: [Read, Task]", writes]),
  kiro: {
    ".kiro/agents/coord.json": JSON.stringify({
      name: "coord",
      prompt: "You coordinate.",
      tools: ["read", "subagent"],
    }),
    ".kiro/agents/worker.json": JSON.stringify({ name: "worker", prompt: "You write.", tools: ["read", "write"] }),
  },
  subagent: {
    "subagents/coord/SUBAGENT.md": file(
      "You coordinate.",
      "name: coord",
      "description: c",
      "tools: [Read, spawn_subagent]",
    ),
    "subagents/worker/SUBAGENT.md": file("You write.", "name: worker", "description: w", writes),
  },
};

/** The call that starts the worker with each delegation tool. */
const asking: Readonly<Record<string, object>> = {
  task: { agent: "worker", tasks: [{ id: "a", description: "write it", assignment: "Write it." }] },
  Task: { description: "write it now", prompt: "Write it.", subagent_type: "worker" },
  spawn_subagent: { type: "worker", description: "write it", input: "Write it." },
  delegate_to_agent: { agent_name: "worker", query: "Write it." },
  invoke_agent: { agent_name: "worker", prompt: "Write it." },
  parallel: { agent: "worker", task: "Write it." },
};
const spelled: Readonly<Record<string, string>> = {
  Agent: "Task",
  spawn_agent: "spawn_subagent",
  agent: "task",
  subagent: "task",
};

/** The tools that both were shown, and whether the file was written. */
async function coordinate(files: Readonly<Record<string, string>>, options: CrewOptions = {}) {
  const shown: Record<string, string[]> = {};
  const turn: Script = ({ system, messages, tools }) => {
    const names = tools.map(({ name }) => name);
    const who = system.includes("You coordinate.") ? "coord" : "worker";
    const isFirst = shown[who] === undefined;
    shown[who] ??= names;
    if (!isFirst || messages.some(({ role }) => role === "tool")) return "done";
    if (who === "worker") return write as { calls: [] };
    const name = names.find((each) => Object.hasOwn(asking, spelled[each] ?? each));
    return name === undefined ? "done" : { calls: [{ name, input: asking[spelled[name] ?? name] }] };
  };
  const cwd = tempFolder(files);
  const model = scripted(turn, turn, turn, turn, turn, turn);
  const crew = projectCrew(cwd, {
    models: { m: model },
    model: "m",
    unattended: true,
    permissions: { mode: "acceptEdits" },
    ...options,
  });
  const run = crew.run({ mode: "single", agent: "coord", task: "Go." });
  const answers: string[] = [];
  const reduced: string[] = [];
  for await (const event of run) {
    if (event.type === "tool.ended") answers.push(event.text);
    if (event.type === "rights.reduced") reduced.push(...event.lost);
  }
  await run;
  return { shown, answers, reduced, wrote: existsSync(join(cwd, "made.txt")) };
}

test.each(Object.entries(families))(
  "%s: a coordinator with few tools starts a worker with the worker's own tools",
  async (_, files) => {
    const { shown, answers, wrote } = await coordinate(files);
    expect(shown["coord"]).not.toContain("write_file");
    expect([shown["worker"]?.includes("write_file"), wrote], JSON.stringify({ shown, answers })).toEqual([true, true]);
    expect(shown["worker"]).not.toContain("bash");
  },
);

test.each(Object.entries(families))(
  "%s: delegation: ceiling gives the worker no more than its coordinator",
  async (_, files) => {
    const { shown, reduced, wrote } = await coordinate(files, { delegation: "ceiling" });
    expect([shown["worker"]?.includes("read_file"), shown["worker"]?.includes("write_file"), wrote]).toEqual([
      true,
      false,
      false,
    ]);
    expect(reduced).toContain("write_file");
  },
);
