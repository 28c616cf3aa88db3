import { expect, test } from "vitest";
import { settleConfig } from "../../src/core/config/layers.ts";
import { createCrew } from "../../src/crew.ts";
import type { ModelRequest } from "../../src/core/model/model.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { createLook } from "../../src/core/view/look.ts";
import { took } from "../../src/core/view/words.ts";
import { tempFolder } from "../support/temp-folder.ts";

const crewWith = (config: Parameters<typeof createCrew>[0]) =>
  createCrew({ cwd: tempFolder(), env: { HOME: tempFolder(), PATH: "" }, ...config });

test("with pi-parallel, tasks that refer to each other run one at a time; others, and other presets, run in parallel", async () => {
  const plan = (preset: "pi-parallel" | "unified", second: string) =>
    crewWith({ config: { preset } }).plan({ mode: "parallel", tasks: [{ task: "a" }, { task: second }] }).concurrency;
  expect([
    plan("pi-parallel", "after {task_0}"),
    plan("pi-parallel", "alone"),
    plan("unified", "after {task_0}"),
  ]).toEqual([1, undefined, undefined]);
});

test.each([
  ["pi-parallel", "crew.run", "after {task_0}", /^a-b-c-$/],
  ["pi-parallel", "the tool parallel", "after {task_0}", /^a-b-c-$/],
  ["pi-parallel", "the tool parallel", "after {result:a}", /^a-b-c-$/],
  ["pi-parallel", "the tool parallel", "alone", /^abc/],
  ["unified", "crew.run", "after {task_0}", /^ab-.*c/],
  ["unified", "the tool parallel", "after {task_0}", /^ab-.*c/],
] as const)(
  "with the preset %s and started by %s, a, b and the task `c %s` run in this order (- is the end of a task): %s",
  async (preset, door, third, order) => {
    const tasks = [
      { name: "a", task: "first" },
      { name: "b", task: "second" },
      { name: "c", task: third },
    ];
    const isTool = door === "the tool parallel";
    const start = isTool ? [{ calls: [{ name: "parallel", input: { tasks, gitContext: false } }] }] : [];
    const crew = crewWith({
      config: { preset },
      agents: [{ name: "lead", description: "d", instructions: "i", tools: ["parallel"] }],
      models: { m: scripted(...start, "1", "2", "3", "done") },
    });
    const run = crew.run(isTool ? { mode: "single", agent: "lead", task: "Go." } : { mode: "parallel", tasks });
    let seen = "";
    for await (const { type, path } of run) {
      const [, name] = /^(?:lead\/)?([abc])$/.exec(path) ?? [];
      if (name !== undefined && type === "node.started") seen += name;
      if (name !== undefined && type === "node.ended") seen += "-";
    }
    expect(seen).toMatch(order);
    expect(await run).toMatchObject({ status: "ok" });
  },
);

test("the user's settings and the variables win over a preset", () => {
  const { config, origins } = settleConfig({ user: { preset: "omp", maxDepth: 4 }, environment: { concurrency: 2 } });
  expect(config).toMatchObject({
    maxDepth: 4,
    concurrency: 2,
    defaults: { limits: { reminders: 3 } },
    output: { summaryChars: 5000, maxBytes: 512_000, maxLines: 5000 },
  });
  expect([origins.get("maxDepth"), origins.get("concurrency"), origins.get("output.maxBytes")]).toEqual([
    "user",
    "environment",
    "preset",
  ]);
});

test.each([
  ["omp", "task"],
  ["pegasus", "spawn_subagent"],
  ["mycode", "Task"],
  ["pi-parallel", "parallel"],
  ["gemini", "delegate_to_agent"],
] as const)("with %s, an agent that may start others does so with %s", async (preset, tool) => {
  let offered: string[] = [];
  const model = scripted((request: ModelRequest) => {
    offered = request.tools.map(({ name }) => name);
    return "done";
  });
  const agents = [{ name: "boss", description: "d", instructions: "i", tools: ["read_file"], spawns: "*" as const }];
  const boss = { ...agents[0]!, tools: ["read_file", "task"] };
  await crewWith({ config: { preset }, agents: [boss], models: { m: model } }).run({
    mode: "single",
    agent: "boss",
    task: "Go.",
  });
  expect(offered).toContain(tool);
});

test("with omp, an agent is reminded three times of the result that its schema requires", async () => {
  const model = scripted("a", "b", "c", "d", "e");
  const boss = { name: "boss", description: "d", instructions: "i", output: { type: "object", required: ["ok"] } };
  const home = tempFolder({
    ".omp/agent/agents/boss.md":
      "---\nname: boss\ndescription: d\noutput: { type: object, required: [ok] }\n---\nWork.\n",
  });
  const result = await createCrew({
    cwd: tempFolder(),
    env: { HOME: home, PATH: "" },
    config: { preset: "omp" },
    models: { m: model },
  }).run({ mode: "single", agent: boss.name, task: "Go." });
  expect([result.status, model.requests.length]).toEqual(["failed", 4]);
});

test.each([
  ["omp", ["read", "write", "edit", "grep", "find", "ls", "bash"]],
  ["pegasus", ["read_file", "write_file", "grep_files", "list_files"]],
  ["mycode", ["Read", "Write", "Edit", "Grep", "Glob", "LS", "Bash", "WebFetch", "TodoWrite"]],
  ["pi-parallel", ["read", "write", "edit", "grep", "find", "ls", "bash"]],
  [
    "gemini",
    ["read_file", "replace", "search_file_content", "list_directory", "run_shell_command", "google_web_search"],
  ],
  ["unified", ["read_file", "write_file", "edit_file", "grep_files", "glob", "list_files", "bash"]],
] as const)(
  "with %s, a model is shown the tools by the names of that system, and calls them by these names",
  async (preset, names) => {
    const cwd = tempFolder({ "note.txt": "the word is heron" });
    let offered: string[] = [];
    let heard = "";
    const reader = names.find((name) => /^read/i.test(name)) ?? "read_file";
    const turn = (request: ModelRequest) => {
      offered = request.tools.map(({ name }) => name);
      const answers = request.messages.flatMap((message) => (message.role === "tool" ? message.results : []));
      heard = answers.map(({ text }) => text).join();
      return answers.length > 0 ? "done" : { calls: [{ name: reader, input: { path: "note.txt" } }] };
    };
    const model = scripted(turn, turn);
    const agents = [{ name: "worker", description: "d", instructions: "i" }];
    const crew = createCrew({
      cwd,
      env: { HOME: tempFolder(), PATH: "" },
      config: { preset },
      agents,
      models: { m: model },
    });
    const run = crew.run({ mode: "single", agent: "worker", task: "Go." });
    expect((await run).status).toBe("ok");
    expect(names.filter((name) => !offered.includes(name))).toEqual([]);
    expect(heard).toContain("the word is heron");
    expect([...run.state.nodes.values()][0]!.tools).toEqual({ read_file: 1 });
  },
);

test("mycode writes durations with blanks, pi-parallel without", () => {
  const styles = (["mycode", "pi-parallel", "unified"] as const).map(
    (preset) => settleConfig({ user: { preset } }).config.durations,
  );
  expect(styles).toEqual(["spaced", "tight", undefined]);
  const look = createLook({ color: false, unicode: false });
  expect(styles.map((durations) => took(90_000, { ...look, ...(durations && { durations }) }))).toEqual([
    "1m 30s",
    "1m30s",
    "1m30s",
  ]);
});
