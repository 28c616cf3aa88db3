import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { type Need, needs, needsTimeout } from "../../needs.ts";
import { patiently } from "../../support/patiently.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import {
  alive,
  calls,
  commandLineOf,
  type Event,
  type Input,
  lab,
  listen,
  type RunnerName,
  toolsFile,
  until,
} from "./lab.ts";

const single = { mode: "single", agent: "lead", task: "Go." } as const;
const linux = process.platform === "linux";
const pidsIn = (events: readonly Event[]): string[] =>
  events.flatMap((event) => (event.type === "tool.ended" && event.tool === "where_am_i" ? [event.text] : []));

describe.runIf(linux)("a task in its own process", () => {
  test("runs in another process if its agent or the task says so", async () => {
    const agents = { lead: [calls("where_am_i"), "Here."] };
    const byAgent = await listen(lab({ agents, runner: "process" }).crew.run(single));
    const byTask = await listen(lab({ agents }).crew.run({ ...single, runner: "process" }));
    const plain = await listen(lab({ agents }).crew.run(single));
    expect(pidsIn(plain.events)).toEqual([String(process.pid)]);
    for (const { events, result } of [byAgent, byTask]) {
      expect(result.status).toBe("ok");
      expect(pidsIn(events)).not.toContain(String(process.pid));
    }
  });

  test("has no key in its environment, and its tools see the variables that are passed on", async () => {
    const env = {
      PATH: process.env["PATH"],
      HOME: tempFolder(),
      ANTHROPIC_API_KEY: "sk-ant-not-for-children",
      LANG: "C",
    };
    const agents = {
      lead: [calls("variable", { name: "ANTHROPIC_API_KEY" }), calls("variable", { name: "LANG" }), "Seen."],
    };
    const { events } = await listen(lab({ agents, runner: "process", options: { env } }).crew.run(single));
    const texts = events.flatMap((event) => (event.type === "tool.ended" ? [event.text] : []));
    expect(texts).toEqual(["ANTHROPIC_API_KEY=undefined own=undefined", "LANG=C own=C"]);
  });

  test("that is killed fails as crashed, with its text and usage so far, and the run continues", async () => {
    const agents = {
      lead: [calls("hang", {}, "I had begun."), "Never."],
      other: [calls("sleep", { seconds: 1 }), "Done."],
    };
    const { crew, mark } = lab({ agents, runner: "process", more: { other: { runner: "local" } } });
    const tasks = [
      { agent: "lead", task: "Go.", name: "a" },
      { agent: "other", task: "Go.", name: "b" },
    ];
    const { result } = await listen(crew.run({ mode: "parallel", tasks }), (event) => {
      if (event.type !== "tool.started" || event.tool !== "hang") return;
      const child = alive(mark).find((pid) => commandLineOf(pid).includes("task-child"))!;
      process.kill(child, "SIGKILL");
    });
    expect(result.nodes["a"]).toMatchObject({
      status: "failed",
      fault: { code: "CRASHED", message: expect.stringContaining("SIGKILL") },
      output: "I had begun.",
      usage: { turns: 1 },
    });
    expect(result.nodes["b"]).toMatchObject({ status: "ok", output: "Done." });
    await until(() => alive(mark).length === 0);
  });

  test.each<[how: string, tool: string, message: RegExp]>([
    ["exits with a code", "leave", /ended with code 7.*left the building/s],
    ["throws an uncaught error", "throw_later", /ended with code 1.*nobody catches this/s],
  ])("that %s fails with its code and its last output", async (_, tool, message) => {
    const { crew } = lab({ agents: { lead: [calls(tool), "Never."] }, runner: "process" });
    const { result } = await listen(crew.run(single));
    expect(result).toMatchObject({
      status: "failed",
      fault: { code: "CRASHED", message: expect.stringMatching(message) },
    });
  });

  test("PROC-11: with an uncaught exception fails alone, and the seven other tasks finish", async () => {
    const agents = { lead: [calls("throw_later"), "Never."], other: ["Done."] };
    const { crew } = lab({ agents, runner: "process", more: { other: { runner: "local" } } });
    const others = Array.from({ length: 7 }, (_, at) => ({ agent: "other", task: "Go.", name: `b${at}` }));
    const { result } = await listen(
      crew.run({ mode: "parallel", tasks: [{ agent: "lead", task: "Go.", name: "a" }, ...others] }),
    );
    expect(result.status).toBe("failed");
    expect(result.nodes["a"]).toMatchObject({ status: "failed", fault: { code: "CRASHED" } });
    expect(others.map(({ name }) => result.nodes[name]?.status)).toEqual(others.map(() => "ok"));
  });

  test("that crashed is retried if the task has a retry rule", async () => {
    const retry = { maxAttempts: 2, backoffMs: 1 };
    const { crew } = lab({ agents: { lead: [calls("crash"), "Never."] }, runner: "process" });
    const { result, events } = await listen(crew.run({ ...single, retry }));
    expect(result).toMatchObject({ status: "failed", fault: { code: "CRASHED" } });
    expect(events.filter(({ type }) => type === "node.started")).toHaveLength(2);
  });
});

describe.runIf(linux)("a memory limit", () => {
  const resourceLimits = { maxMemoryMB: 250 };

  test.each(["hog", "fill_heap", "hog_elsewhere"])(
    "moves a task into its own process automatically and stops it there: %s",
    async (tool) => {
      const { crew, mark } = lab({ agents: { lead: [calls(tool, { megabytes: 2_000 }, "I had begun."), "Never."] } });
      const { result } = await listen(crew.run({ ...single, resourceLimits }));
      expect(result).toMatchObject({
        status: "failed",
        output: "I had begun.",
        fault: { code: "MEMORY", hint: expect.stringContaining("--max-memory") },
      });
      await until(() => alive(mark).length === 0);
    },
  );

  test("that is not enforced is reported once", async () => {
    const waits = calls("bash", { command: "until test -e seen; do sleep 0.05; done; sleep 0.6" });
    const { crew, folder } = lab({
      agents: { lead: [calls("hog", { megabytes: 300, returns: true }), waits, "Done."] },
    });
    const { result, events } = await listen(
      crew.run({ ...single, resourceLimits: { maxMemoryMB: 100, enforceLimits: false } }),
      ({ type }) => type === "limit.reached" && writeFileSync(join(folder, "seen"), ""),
    );
    expect(result).toMatchObject({ status: "ok", output: "Done." });
    expect(events.filter(({ type }) => type === "limit.reached")).toMatchObject([{ limit: "MEMORY", enforced: false }]);
  });

  test("of any size is a limit and does not prevent the process from starting", async () => {
    const { crew } = lab({ agents: { lead: [calls("sleep", { seconds: 5 }), "Done."], other: ["Done."] } });
    const tasks = [
      { agent: "lead", task: "Go.", name: "small", resourceLimits: { maxMemoryMB: 0.5 } },
      { agent: "other", task: "Go.", name: "large", resourceLimits: { maxMemoryMB: 1e300 } },
    ];
    const { result } = await listen(crew.run({ mode: "parallel", tasks }));
    expect(result.nodes["small"]).toMatchObject({ status: "failed", fault: { code: "MEMORY" } });
    expect(result.nodes["large"]).toMatchObject({ status: "ok", output: "Done." });
  });

  test("that is not reached has no effect", async () => {
    const { crew } = lab({ agents: { lead: [calls("sleep", { seconds: 0.5 }), "Done."] } });
    const { result, events } = await listen(
      crew.run({ ...single, resourceLimits: { maxMemoryMB: 2_000, maxCpuSeconds: 100 } }),
    );
    expect(result.status).toBe("ok");
    expect(events.filter(({ type }) => type === "limit.reached")).toEqual([]);
  });
});

describe.runIf(linux)("in the sandbox", () => {
  let bwrap: Need;
  beforeAll(async () => void (bwrap = await needs("bwrap")), needsTimeout);

  test("LIM-03: memory of commands counts, and other tasks continue", async (ctx) => {
    if (bwrap.missing !== undefined) ctx.skip(bwrap.missing);
    const program = "const k = []; setInterval(() => k.length < 100 && k.push(Buffer.alloc(20 * 2 ** 20, 1)), 20)";
    const command = `${JSON.stringify(process.execPath)} -e ${JSON.stringify(program)}`;
    const agents = { lead: [calls("bash", { command }), "Never."], other: [calls("sleep", { seconds: 2 }), "Done."] };
    const { crew, mark } = lab({ agents, options: { permissions: { mode: "bypass", sandbox: "required" } } });
    const tasks = [
      { agent: "lead", task: "Go.", name: "a", resourceLimits: { maxMemoryMB: 256 } },
      { agent: "other", task: "Go.", name: "b" },
    ];
    const { result } = await listen(crew.run({ mode: "parallel", tasks }));
    expect(result.nodes["a"]).toMatchObject({ status: "failed", fault: { code: "MEMORY" } });
    expect(result.nodes["b"]).toMatchObject({ status: "ok", output: "Done." });
    await until(() => alive(mark).length === 0);
  });
});

describe.runIf(linux)("the five places where a limit can be set", () => {
  const lead: readonly [ReturnType<typeof calls>, string] = [calls("hog", { megabytes: 2_000 }), "Never."];
  const limits = { resourceLimits: { maxMemoryMB: 200 } };
  const wide = { resourceLimits: { maxMemoryMB: 4_000 } };
  test.each<[place: string, input: Input, node: string]>([
    ["a task", { mode: "parallel", tasks: [{ agent: "lead", task: "Go.", name: "it", ...limits }] }, "it"],
    ["a step of a chain", { mode: "chain", chain: [{ agent: "lead", task: "Go.", name: "it", ...limits }] }, "it"],
    ["a race", { mode: "race", race: { agents: ["lead"], task: "Go.", ...limits } }, "lead"],
    [
      "a member of a team",
      {
        mode: "team",
        team: {
          members: [{ role: "dev", agent: "lead", ...limits }],
          tasks: [{ id: "it", task: "Go.", assignee: "dev" }],
        },
      },
      "it",
    ],
    [
      "a task of a team",
      { mode: "team", team: { tasks: [{ id: "it", task: "Go.", agent: "lead", ...limits }] } },
      "it",
    ],
    [
      "the lower of two limits",
      {
        mode: "team",
        team: {
          members: [{ role: "dev", agent: "lead", ...limits }],
          tasks: [{ id: "it", task: "Go.", assignee: "dev", ...wide }],
        },
      },
      "it",
    ],
  ])("%s", async (_, input, node) => {
    const { result } = await listen(lab({ agents: { lead } }).crew.run(input));
    expect(result.nodes[node]).toMatchObject({ status: "failed", fault: { code: "MEMORY" } });
  });

  test("the limit in the definition of an agent", async () => {
    const { crew } = lab({ agents: { lead }, more: { lead: { limits: { maxMemoryMB: 200 } } } });
    expect((await listen(crew.run(single))).result).toMatchObject({ status: "failed", fault: { code: "MEMORY" } });
  });
});

describe.runIf(linux).each<RunnerName>(["process", "thread"])("limits of a task in its own %s", (runner) => {
  test("a task that uses too much processor time is stopped", async () => {
    const { crew } = lab({ agents: { lead: [calls("spin", { ms: 250_000 }), "Never."] } });
    const { result, events } = await listen(crew.run({ ...single, runner, resourceLimits: { maxCpuSeconds: 1.5 } }));
    expect(result).toMatchObject({ status: "failed", fault: { code: "CPU" } });
    expect(events.filter(({ type }) => type === "limit.reached")).toMatchObject([{ limit: "CPU", enforced: true }]);
  });

  test("a task that hangs is stopped when its time is up", async () => {
    await patiently(async (times) => {
      const { crew } = lab({ agents: { lead: [calls("stand_still", {}, "I had begun."), "Never."] } });
      const resourceLimits = { maxDurationMs: 1_000 * times };
      const { result } = await listen(crew.run({ ...single, runner, resourceLimits }));
      expect(result).toMatchObject({ status: "failed", output: "I had begun.", fault: { code: "TIMEOUT" } });
    });
  });

  test.each([
    ["a process that ignores signals", "stubborn"],
    ["a task whose thread is blocked", "stubborn_and_still"],
  ])("cancelling ends everything that was started, also %s", async (_, tool) => {
    const { crew, mark } = lab({ agents: { lead: [calls(tool), "Never."] }, runner });
    const run = crew.run(single);
    const over = listen(run);
    await until(() => alive(mark).some((pid) => commandLineOf(pid).includes("trap")));
    // after this time, one of the two processes has been stopped
    await new Promise((resolve) => setTimeout(resolve, 500));
    run.cancel("enough");
    expect((await over).result.status).toBe("cancelled");
    await until(() => alive(mark).length === 0);
  });

  test("a task that uses too much heap memory is stopped", async () => {
    const { crew } = lab({ agents: { lead: [calls("fill_heap", { megabytes: 2_000 }), "Never."] } });
    const { result } = await listen(crew.run({ ...single, runner, resourceLimits: { maxMemoryMB: 120 } }));
    expect(result).toMatchObject({ status: "failed", fault: { code: "MEMORY" } });
  });
});

test.runIf(linux)("an uncaught exception in a thread ends its task and nothing else", async () => {
  const agents = { lead: [calls("throw_later"), "Never."], other: [calls("sleep", { seconds: 1 }), "Done."] };
  const { crew } = lab({ agents, runner: "thread" });
  const tasks = [
    { agent: "lead", task: "Go.", name: "a" },
    { agent: "other", task: "Go.", name: "b" },
  ];
  const { result } = await listen(crew.run({ mode: "parallel", tasks }));
  expect(result.nodes["a"]).toMatchObject({
    status: "failed",
    fault: { code: "CRASHED", message: expect.stringContaining("nobody catches this") },
  });
  expect(result.nodes["b"]).toMatchObject({ status: "ok" });
});

test.runIf(linux)("ten processes share one budget", async () => {
  const lead = [...Array.from({ length: 3 }, (_, at) => calls("base64_encode", { text: `${at}` })), "Done."];
  const { crew } = lab({ agents: { lead }, runner: "process" });
  const tasks = Array.from({ length: 10 }, (_, at) => ({ agent: "lead", task: "Go.", name: `t${at}` }));
  const { result, events } = await listen(
    crew.run({ mode: "parallel", tasks, maxConcurrency: 10 }, { budget: { maxToolCalls: 15 } }),
  );
  expect(events.filter(({ type }) => type === "tool.started")).toHaveLength(15);
  // A task at the limit gets one last turn; a script that calls a tool in it returns no result.
  expect(result.status).toBe("failed");
  const codes = events.flatMap((event) =>
    event.type === "node.ended" && /^t\d$/.test(event.path) && event.outcome.status === "failed"
      ? [event.outcome.fault.code]
      : [],
  );
  expect(new Set(codes)).toEqual(new Set(["MAX_TOOL_CALLS"]));
});

/** A program that starts a run with the built library and then runs `then`. */
function program(agents: Readonly<Record<string, readonly unknown[]>>, then: string): { file: string; folder: string } {
  const files = Object.entries(agents).map(([name, turns]): [string, string] => [
    `${name}.json`,
    JSON.stringify(turns),
  ]);
  const folder = tempFolder(Object.fromEntries(files));
  const library = pathToFileURL(join(import.meta.dirname, "../../..", "dist", "lib", "index.js")).href;
  const source = `
    import { readdirSync } from "node:fs";
    import { createCrew } from ${JSON.stringify(library)};
    const agents = ${JSON.stringify(Object.keys(agents))}.map((name) => ({ name, description: name, instructions: "Work.", model: "scripted:" + name + ".json", tools: ["*"], runner: "process" }));
    const crew = createCrew({ cwd: ${JSON.stringify(folder)}, home: false, discover: false, agents, toolModules: [${JSON.stringify(toolsFile)}], passEnv: ["SUBCREW_TEST_MARK"], permissions: { mode: "bypass", sandbox: "off" } });
    ${then}`;
  writeFileSync(join(folder, "program.mjs"), source);
  return { file: join(folder, "program.mjs"), folder };
}

test.runIf(linux)("when the program is killed at once, no process that it started is left", async () => {
  const { file, folder } = program(
    { lead: [calls("stubborn"), "Never."], still: [calls("stand_still"), "Never."] },
    `
    await Promise.all([crew.run({ mode: "single", agent: "lead", task: "Go." }), crew.run({ mode: "single", agent: "still", task: "Go." })]);`,
  );
  const mark = `mark-${Math.random().toString(36).slice(2)}`;
  const parent = spawn(process.execPath, [file], {
    cwd: folder,
    env: { PATH: process.env["PATH"], SUBCREW_TEST_MARK: mark },
    stdio: "ignore",
  });
  const tasks = (): number[] => alive(mark).filter((pid) => commandLineOf(pid).includes("task-child"));
  await until(() => tasks().length === 2 && alive(mark).some((pid) => commandLineOf(pid).includes("trap")));
  parent.kill("SIGKILL");
  await until(() => alive(mark).length === 0);
});

test.runIf(linux)("four tasks leave no descriptor and no process behind", async () => {
  const { file, folder } = program(
    { lead: [calls("current_time"), "Done."] },
    `
    const open = () => readdirSync("/proc/self/fd").length;
    const play = async (runner) => (await crew.run({ mode: "single", agent: "lead", task: "Go.", runner })).status;
    const counts = {};
    for (const runner of ["process", "thread"]) {
      await play(runner);
      const before = open();
      const seen = new Set();
      for (let at = 0; at < 4; at++) seen.add(await play(runner));
      counts[runner] = { more: open() - before, seen: [...seen] };
    }
    console.log(JSON.stringify(counts));`,
  );
  const mark = `mark-${Math.random().toString(36).slice(2)}`;
  const parent = spawn(process.execPath, [file], {
    cwd: folder,
    env: { PATH: process.env["PATH"], SUBCREW_TEST_MARK: mark },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  parent.stdout.on("data", (chunk: Buffer) => void (text += chunk.toString()));
  await new Promise((resolve) => parent.once("close", resolve));
  const { process: processes, thread } = JSON.parse(text) as Record<string, { more: number; seen: string[] }>;
  for (const counted of [processes!, thread!]) {
    expect(counted.seen).toEqual(["ok"]);
    // one more descriptor per task would be a leak; a descriptor that is just being closed is not
    expect(counted.more).toBeLessThan(4);
  }
  await until(() => alive(mark).length === 0);
});

test("the entry file of a task process is part of the published library and command", () => {
  const dist = join(import.meta.dirname, "../../..", "dist");
  for (const file of ["task-child.js", "cli/task-child.js"])
    expect(readFileSync(join(dist, file), "utf8")).toContain("serveParent");
});
