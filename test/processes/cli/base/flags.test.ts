import { describe, expect, test } from "vitest";
import { type Place, place, script } from "../../command.ts";

type Plan = { nodes: Record<string, { task?: Record<string, unknown>; body?: Plan }>; output: string } & Record<
  string,
  unknown
>;

async function planOf(there: Place, args: readonly string[], input = ""): Promise<Plan> {
  const { code, stdout, stderr } = await there.run(["plan", ...args], { input });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Plan;
}

describe("flags for every task", () => {
  const flags = [
    "--model",
    "a, b",
    "--thinking",
    "high",
    "--tools",
    "Read,grep",
    "--retry",
    "3x500ms",
    "--max-turns",
    "7",
    "--max-time",
    "100s",
  ];
  const settings = {
    model: ["a", "b"],
    thinking: "high",
    tools: ["read_file", "grep_files"],
    retry: { maxAttempts: 3, backoffMs: 500 },
    resourceLimits: { maxTurns: 7, maxDurationMs: 100_000 },
  };

  test.each([
    ["run", ["run", "explore", "x"]],
    ["parallel", ["parallel", "explore=x", "general=y"]],
    ["chain", ["chain", "explore=x", "general=y"]],
    ["race", ["race", "--agents", "explore,general", "x"]],
  ])("reach all tasks of %s", async (_, args) => {
    const { nodes } = await planOf(place(), [...args, ...flags]);
    const tasks = Object.values(nodes).flatMap(({ task }) => task ?? []);
    expect(tasks.length).toBeGreaterThan(0);
    for (const task of tasks) expect(task).toMatchObject(settings);
  });

  test("reach the members and reviewers of a team", async () => {
    const there = place({
      "team.yaml":
        "team:\n  members: [{ role: dev }, { role: rev }]\n  tasks: [{ id: a, task: x, assignee: dev, review: { reviewer: rev } }]\n",
    });
    const { nodes } = await planOf(there, ["team", "--input", "team.yaml", ...flags]);
    const inner = nodes["a"]?.body?.nodes ?? {};
    expect(inner["work"]?.task).toMatchObject(settings);
    expect(inner["review"]?.task).toMatchObject(settings);
  });

  test("fill in settings that the tasks of a plan leave open, also inside of loops", async () => {
    const open = { kind: "task", task: { prompt: "x" } };
    const said = { kind: "task", task: { prompt: "y", model: "own", resourceLimits: { maxTurns: 2 } } };
    const loop = { kind: "loop", max: 2, until: "b", needs: ["a"], body: { nodes: { b: open }, output: "b" } };
    const there = place({ "plan.json": JSON.stringify({ nodes: { a: said, l: loop }, output: "l" }) });
    const { nodes } = await planOf(there, ["run", "--plan", "plan.json", ...flags]);
    expect(nodes["l"]?.body?.nodes["b"]?.task).toMatchObject(settings);
    expect(nodes["a"]?.task).toMatchObject({
      ...settings,
      model: "own",
      resourceLimits: { maxTurns: 2, maxDurationMs: 100_000 },
    });
  });

  test("override the file's settings for all tasks, but not for a single task", async () => {
    const there = place({
      "work.yaml": "model: file\ntasks:\n  - { name: a, task: x }\n  - { name: b, task: y, model: own }\n",
    });
    const { nodes } = await planOf(there, ["parallel", "--input", "work.yaml", "--model", "flag"]);
    expect([nodes["a"]?.task?.["model"], nodes["b"]?.task?.["model"]]).toEqual(["flag", "own"]);
  });

  test('--tools "" means none', async () => {
    const { nodes } = await planOf(place(), ["run", "explore", "x", "--tools", ""]);
    expect(nodes["explore"]?.task?.["tools"]).toEqual([]);
  });
});

test("--schema applies to each answer, and in a chain to the last one", async () => {
  const schema = { type: "object", required: ["answer"] };
  const there = place({ "schema.json": JSON.stringify(schema) });
  const schemas = async (args: readonly string[]): Promise<unknown[]> =>
    Object.values((await planOf(there, [...args, "--schema", "schema.json"])).nodes).flatMap(({ task }) =>
      task ? [task["schema"]] : [],
    );
  expect(await schemas(["run", "explore", "x"])).toEqual([schema]);
  expect(await schemas(["parallel", "explore=x", "explore=y"])).toEqual([schema, schema]);
  expect(await schemas(["chain", "explore=x", "explore=y"])).toEqual([undefined, schema]);
  expect(await schemas(["race", "--agents", "explore", "x"])).toEqual([schema]);
});

test("with --schema, a run whose answer is not data of that schema fails with exit code 5", async () => {
  const schema = JSON.stringify({ type: "object", required: ["answer"], properties: { answer: { type: "number" } } });
  const finish = (result: unknown): object => ({ calls: [{ name: "complete_task", input: result }] });
  const there = place({
    "schema.json": schema,
    "good.json": script(finish({ answer: 42 }), finish({ result: { answer: 42 } })),
    "bad.json": script(finish({ answer: "x" }), finish({ answer: "y" }), finish({ answer: "z" })),
  });
  const args = ["run", "explore", "x", "--schema", "schema.json", "--json", "--model"];
  const good = await there.run([...args, "scripted:good.json"]);
  expect(JSON.parse(good.stdout.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
    status: "ok",
    data: { answer: 42 },
  });
  expect((await there.run([...args, "scripted:bad.json"])).code).toBe(5);
});

test("the contenders and the acceptance schema of a race come from flags, also where a file names others", async () => {
  const there = place({ "race.yaml": "race: { task: x, agents: [general] }", "schema.json": '{"type": "object"}' });
  const { nodes, output } = await planOf(there, [
    "race",
    "--input",
    "race.yaml",
    "--agents",
    "explore",
    "--models",
    "m,n",
    "--accept-schema",
    "schema.json",
  ]);
  expect(Object.keys(nodes)).toEqual(["explore@m", "explore@n", output]);
  expect(nodes["explore@m"]?.task).toMatchObject({ agent: "explore", model: "m", acceptSchema: { type: "object" } });
});

test("--accept-schema lets only a valid answer win", async () => {
  const there = place({
    "schema.json": '{"type": "object"}',
    "fast.json": script("no object"),
    "right.json": script({ delayMs: 200, text: '{"a": 1}' }),
  });
  const { code, stdout } = await there.run([
    "race",
    "--agents",
    "explore",
    "--models",
    "scripted:fast.json,scripted:right.json",
    "--accept-schema",
    "schema.json",
    "x",
  ]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: '{"a": 1}\n' });
});

test("--context, --name and --concurrency become part of the plan", async () => {
  const there = place({ "notes/a.md": "a", "b.md": "b" });
  const plan = await planOf(there, [
    "run",
    "explore",
    "x",
    "--context",
    "Be brief.",
    "--context-file",
    "notes/a.md",
    "--context-file",
    "b.md",
    "--git-context",
    "--concurrency",
    "3",
    "--name",
    "nightly",
  ]);
  expect(plan).toMatchObject({
    name: "nightly",
    concurrency: 3,
    context: { context: "Be brief.", contextFiles: ["notes/a.md", "b.md"], gitContext: true },
  });
  const below = await planOf(there, ["run", "explore", "x", "--cwd", "notes", "--context-file", "notes/a.md"]);
  expect(below["context"]).toEqual({ contextFiles: ["a.md"] });
});

test("--concurrency limits how many tasks run at once", async () => {
  const there = place({ "turns.json": script({ delayMs: 700, text: "x" }) });
  const { stdout } = await there.run([
    "parallel",
    "--json",
    "--concurrency",
    "2",
    "--model",
    "scripted:turns.json",
    ...Array.from({ length: 6 }, () => "explore=x"),
  ]);
  let [running, most] = [0, 0];
  for (const line of stdout.split("\n")) {
    if (line.includes('"type":"turn.started"')) running += 1;
    if (line.includes('"type":"turn.ended"')) running -= 1;
    most = Math.max(most, running);
  }
  expect(most).toBe(2);
});

test("--cwd sets the working folder of the agent; the path of a script is relative to the folder of the command", async () => {
  const there = place({
    "below/inside.txt": "x",
    "turns.json": script({ calls: [{ name: "list_files", input: {} }] }, "ok"),
  });
  const { code, stdout } = await there.run([
    "run",
    "explore",
    "x",
    "--cwd",
    "below",
    "--model",
    "scripted:turns.json",
    "--json",
  ]);
  expect(code).toBe(0);
  expect(stdout.split("\n").find((line) => line.includes('"tool.ended"'))).toContain("inside.txt");
});

test("--max-turns ends a task that does not finish, with exit code 4", async () => {
  const look = { calls: [{ name: "list_files", input: {} }] };
  const there = place({ "turns.json": script(look, look, look, look, look, look) });
  const { code, stderr } = await there.run([
    "run",
    "explore",
    "x",
    "--model",
    "scripted:turns.json",
    "--max-turns",
    "2",
  ]);
  expect(code).toBe(4);
  expect(stderr).toContain("Raise the limit with --max-turns.");
});

test("--strict makes a placeholder without a target an error; without it there is a warning", async () => {
  const there = place({ "turns.json": script("ok") });
  const args = ["chain", "explore=use {task:nope}", "--model", "scripted:turns.json"];
  const warned = await there.run(args);
  expect(warned.code).toBe(0);
  expect(warned.stderr).toContain("warn ");
  expect((await there.run([...args, "--strict"])).code).toBe(2);
});

test("--trust lets the agents of the project run", async () => {
  const agent = "---\nname: helper\ndescription: Helps.\n---\nHelp.\n";
  const there = place({
    ".subcrew/agents/helper.md": agent,
    ".git/HEAD": "ref: refs/heads/main\n",
    "turns.json": script("helped"),
  });
  const args = ["run", "helper", "x", "--model", "scripted:turns.json"];
  const refused = await there.run(args);
  expect(refused).toMatchObject({ code: 3, stdout: "" });
  expect(refused.stderr).toContain('The agent "helper" belongs to this project, which is not trusted.');
  expect(await there.run([...args, "--trust"])).toMatchObject({ code: 0, stdout: "helped\n" });
});

test("a printed plan runs like its command line", async () => {
  const there = place({ "turns.json": script("ok") });
  const args = ["a@explore=x", "explore=y {task:a}", "--model", "scripted:turns.json"];
  const printed = await there.run(["plan", "parallel", ...args]);
  const direct = await there.run(["parallel", ...args]);
  const again = await there.run(["run", "--plan", "-"], { input: printed.stdout });
  expect(again).toMatchObject({ code: 0, stdout: direct.stdout });
});

test("an input is read as JSON or YAML, from a file or standard input, with or without its mode", async () => {
  const there = place({
    "work.yaml": "# two steps\nchain:\n  - { agent: explore, task: x }\n  - task: 'y {previous}'\n",
  });
  const plans = [
    await planOf(there, ["chain", "--input", "work.yaml"]),
    await planOf(there, ["run", "--input", "work.yaml"]),
    await planOf(
      there,
      ["chain", "--input", "-"],
      '{"mode": "chain",\n\t"chain": [{"agent": "explore", "task": "x"}, {"task": "y {previous}"}]}',
    ),
    await planOf(
      there,
      ["run", "--input", "-"],
      JSON.stringify(await planOf(there, ["chain", "--input", "work.yaml"])),
    ),
  ];
  for (const plan of plans) expect(plan).toEqual(plans[0]);
  expect(Object.keys(plans[0]?.nodes ?? {})).toEqual(["explore", "step_2"]);
});

test("agents lists names, sources and descriptions", async () => {
  const there = place();
  const [text, json] = await Promise.all([there.run(["agents"]), there.run(["agents", "--json"])]);
  expect(text.stdout).toMatch(/^explore +bundled .* Finds things out/m);
  expect(text.stdout).not.toMatch(/^Explore /m);
  expect(JSON.parse(json.stdout)).toContainEqual(expect.objectContaining({ name: "general", source: "bundled" }));
  expect((await there.run(["agents", "--all"])).stdout).toMatch(/^Explore /m);
});
