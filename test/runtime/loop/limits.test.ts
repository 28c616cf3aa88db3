import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  type CrewOptions,
  createCrew,
  defineAgent,
  defineTool,
  type Event,
  type Model,
  type Result,
  type RunInput,
} from "../../../src/index.ts";
import { type Script, scripted } from "../../../src/models/scripted/scripted.ts";
import { deferred } from "../../../src/runtime/async/deferred.ts";
import type { FaultName, ProviderTurn } from "../../../src/testing/provider-turn.ts";
import { provider } from "../../support/talk.ts";
import { patiently } from "../../support/patiently.ts";
import { tempFolder } from "../../support/temp-folder.ts";

/** Cases of this area that other files test: the file, and the title of its test. */
const elsewhere = {
  "LIM-03": ["test/processes/runners/process.test.ts", "a memory limit"],
  "LIM-06 at the cap": [
    "test/facades/task.test.ts",
    "at the maximum depth the tool is not shown, and a call of it is refused",
  ],
  "LIM-07 in parallel": [
    "test/runtime/loop/loop.test.ts",
    "50 subagents of a provider that sends longer answers than requested exceed the budget by one call at most",
  ],
  "LIM-08 a cancel": [
    "test/runtime/execute/execution.test.ts",
    "a cancel during the wait ends it at once, and the task counts as cancelled, not failed",
  ],
  "LIM-08 Retry-After": [
    "test/models/registry/retry-and-fallback.test.ts",
    "a retry of a model request waits as long as the provider demands, with some jitter",
  ],
} as const;

test.each(Object.entries(elsewhere))("the case %s is tested in another file", (_, [file, title]) => {
  expect(readFileSync(join(import.meta.dirname, "../../..", file), "utf8")).toContain(title);
});

const agent = (more: object = {}) =>
  defineAgent({ name: "worker", description: "works", instructions: "Work.", tools: ["look"], ...more });
const tool = (name: string, run: () => Promise<string> | string) =>
  defineTool({ name, description: name, input: z.object({ n: z.number().optional() }), effect: "read", run });
const look = tool("look", () => "seen");

async function play(
  options: CrewOptions,
  input: { mode: string; [key: string]: unknown } = { mode: "single", agent: "worker", task: "Do it." },
  more: Parameters<ReturnType<typeof createCrew>["run"]>[1] = {},
  heard: (event: Event) => void = () => {},
): Promise<{ result: Result; events: Event[] }> {
  const crew = createCrew({
    home: false,
    discover: false,
    agents: [agent()],
    tools: [look],
    random: () => 0,
    ...options,
  });
  const run = crew.run(input as RunInput, more);
  const events: Event[] = [];
  for await (const event of run) {
    heard(event);
    events.push(event);
  }
  return { result: await run, events };
}
const single = (more: object): { mode: string } =>
  ({ mode: "single", agent: "worker", task: "Do it.", ...more }) as { mode: string };
const call = (name: string, n = 0): Script => ({ calls: [{ name, input: { n } }] });

test("LIM-01: an agent that never stops calling tools is stopped after its seven turns and a grace turn", async () => {
  const server = await provider((_, n) => ({ calls: [{ name: "look", input: { n } }] }));
  const options = { env: server.env, model: "ollama/m" };
  const { result } = await play(options, single({ resourceLimits: { maxTurns: 7 } }));
  expect(result).toMatchObject({ status: "failed", fault: { code: "MAX_TURNS" } });
  expect(server.requests).toHaveLength(8);
});

test("the last turn is requested again without a forced tool if the provider refuses one, and a failed last turn is named", async () => {
  const works = { calls: [{ name: "look", input: {} }] };
  const refused = { fault: "bad-request", message: "Thinking mode does not support this tool_choice" } as const;
  const atLimit = async (last: ProviderTurn) => {
    const server = await provider([works, refused, last]);
    const options = { env: server.env, model: "ollama/m", agents: [agent({ completion: "tool" })] };
    const { result } = await play(options, single({ resourceLimits: { maxTurns: 1 } }));
    return { result, bodies: server.requests.map(({ body }) => body) };
  };
  const { result, bodies } = await atLimit({ calls: [{ name: "complete_task", input: { result: "half" } }] });
  expect(result).toMatchObject({ status: "ok", output: "half" });
  const forced = { type: "function", function: { name: "complete_task" } };
  expect(bodies.map((body) => body["tool_choice"])).toEqual(["auto", forced, "auto"]);
  for (const { tools, messages } of bodies)
    expect([tools, (messages as object[])[0]]).toEqual([bodies[0]!["tools"], (bodies[0]!["messages"] as object[])[0]]);
  const failed = await atLimit({ fault: "bad-request", message: "It is malformed" });
  expect(failed.result.fault).toMatchObject({
    code: "MAX_TURNS",
    message: expect.stringMatching(
      / of 1 turn without a result\. The last turn failed: .*It is malformed\.$/,
    ) as string,
  });
});

test("the limits of a task are 100 turns and 30 minutes; the first turn states the limits, and a later turn warns when they are near", async () => {
  const calls = { calls: [{ name: "look", input: {} }] };
  const turns: Script[] = Array.from({ length: 9 }, (_, n) => ({ calls: [{ name: "look", input: { n } }] }));
  const look = defineTool({
    name: "look",
    description: "looks",
    input: z.object({ n: z.number().optional() }),
    effect: "read",
    run: ({ n }) => `seen ${n}`,
  });
  const run = createCrew({
    home: false,
    discover: false,
    tools: [look],
    models: { free: scripted(calls, "done"), bound: scripted(...turns, "done") },
    agents: [
      defineAgent({ name: "free", description: "free", instructions: "Look.", tools: ["look"], model: "free" }),
      defineAgent({ name: "bound", description: "bound", instructions: "Look.", tools: ["look"], model: "bound" }),
    ],
  }).run({
    mode: "parallel",
    tasks: [
      { name: "free", agent: "free", task: "Go." },
      { name: "bound", agent: "bound", task: "Go.", resourceLimits: { maxTurns: 10 } },
    ],
  });
  const events: Event[] = [];
  for await (const event of run) events.push(event);
  expect(await run).toMatchObject({ status: "ok" });
  const told = events.flatMap((event) =>
    event.type === "turn.started" && event.turn === 1 ? [{ path: event.path, limits: event.limits }] : [],
  );
  expect(told.toSorted((a, b) => a.path.localeCompare(b.path))).toEqual([
    { path: "bound", limits: { maxTurns: 10, maxTimeMs: 1_800_000 } },
    { path: "free", limits: { maxTurns: 100, maxTimeMs: 1_800_000 } },
  ]);
  const later = events.filter(
    (event) => event.type === "turn.started" && event.turn !== 1 && event.limits !== undefined,
  );
  expect(later).toEqual([]);
  const near = events.filter((event) => event.type === "warning" && event.code === "LIMIT_NEAR");
  expect(near).toMatchObject([
    {
      path: "bound",
      text: "The task has taken 9 turns and may take 10 turns; then the agent returns the result it has so far. Raise the limit with --max-turns.",
    },
  ]);
});

test("LIM-02: a command that takes ten minutes ends at its timeout, with all its processes, and its output is kept", async () => {
  const command = "sleep 600 & echo $! > inner; echo $$ > next; mv next outer; wait";
  await patiently(async (times) => {
    const cwd = tempFolder();
    const model = scripted({ text: "so far", calls: [{ name: "bash", input: { command } }] }, { calls: [] });
    const options: CrewOptions = { cwd, agents: [agent({ tools: ["bash"] })], models: { m: model } };
    const { result } = await play(
      { ...options, permissions: { sandbox: "off", mode: "bypass" } },
      single({ resourceLimits: { maxDurationMs: 1_500 * times } }),
    );
    expect(result).toMatchObject({ status: "failed", fault: { code: "TIMEOUT" }, output: "so far" });
    for (const file of ["inner", "outer"]) {
      const pid = readFileSync(join(cwd, file), "utf8").trim();
      await expect.poll(() => stateOf(pid), { timeout: 60_000 }).toMatch(/^(?:gone|Z)$/);
    }
  });
});

const stateOf = (pid: string): string | undefined =>
  existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")[2] : "gone";

test("LIM-04: a long result is cut between two characters, with a marker, and all of it is in a file", async () => {
  const model = scripted(call("look"), "done");
  const text = `${"a".repeat(60_000)}${"😀".repeat(15_000)}`;
  await play({ home: tempFolder(), models: { m: model }, tools: [tool("look", () => text)] });
  const [told] = model.requests[1]!.messages.flatMap((one) => (one.role === "tool" ? one.results : []));
  const [, file = "", shown = ""] =
    /^\[the beginning was cut; the full output is in (\S+)\]\n([^]*)$/.exec(told!.text) ?? [];
  expect(shown).toBe("😀".repeat(12_800));
  expect(readFileSync(file, "utf8").trimEnd()).toBe(text);
});

test("LIM-05: of a hundred tasks eight run at once, never nine, and all of them end", async () => {
  let [active, peak] = [0, 0];
  const full = deferred<void>();
  const model: Model = async function* () {
    peak = Math.max(peak, (active += 1));
    if (active === 8) full.resolve();
    await full.promise; // with fewer than eight calls at once, none of them would continue
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 8));
    active -= 1;
    yield { type: "text", text: "done" };
    yield { type: "end", usage: { input: 1, output: 1 }, cost: 0 };
  };
  const tasks = Array.from({ length: 100 }, (_, n) => ({ task: `Task ${n}` }));
  const { result } = await play(
    { models: { m: model } },
    { mode: "parallel", agent: "worker", tasks },
    { concurrency: 8 },
  );
  expect(peak).toBe(8);
  expect(Object.values(result.nodes).filter(({ status }) => status === "ok")).toHaveLength(101);
});

describe("LIM-06: agents that start agents", () => {
  const start = (...names: string[]) => ({
    calls: names.map((name, n) => ({
      name: "task",
      input: { agent: name, tasks: [{ id: `T${n}`, assignment: "go" }] },
    })),
  });
  const starter = (name: string, other: string) => agent({ name, tools: ["task"], spawns: [other], model: name });

  test.each([
    ["agents that start themselves", "a", "a"],
    ["two agents that start each other", "a", "b"],
  ])("%s stop at the configured depth", async (_, one, other) => {
    const endless = (name: string): Model =>
      async function* ({ messages }) {
        const last = messages.at(-1);
        if (last?.role === "tool") yield { type: "text", text: "done" };
        else yield { type: "call", call: { id: "1", ...start(name).calls[0]! } };
        yield { type: "end", usage: { input: 1, output: 1 }, cost: 0 };
      };
    const agents = one === other ? [starter(one, one)] : [starter(one, other), starter(other, one)];
    const models = { [one]: endless(other), [other]: endless(one) };
    const { result, events } = await play(
      { agents, models, env: { SUBCREW_MAX_DEPTH: "99", PI_BLOCKED_AGENT: "" } },
      { mode: "single", agent: one, task: "go" },
      { maxDepth: 2 },
    );
    const depths = Object.keys(result.nodes).map((path) => path.split("/").length - 1);
    expect(Math.max(...depths)).toBeLessThanOrEqual(2);
    expect(events.some(({ type }) => type === "tool.denied")).toBe(true);
  });

  test("a hundred helpers stay within the limit of the run", async () => {
    const lead = scripted(start(...Array.from({ length: 100 }, () => "b")), "done");
    const { result } = await play(
      {
        agents: [starter("a", "b"), agent({ name: "b", tools: [], model: "b" })],
        models: { a: lead, b: scripted(...Array.from({ length: 100 }, () => "x")) },
      },
      { mode: "single", agent: "a", task: "go" },
      { budget: { maxSpawns: 5 } },
    );
    expect(Object.keys(result.nodes).filter((path) => /^a(?:\.\d+)?\//.test(path))).toHaveLength(5);
  });
});

test.each([
  ["single", single({})],
  ["parallel", { mode: "parallel", agent: "worker", tasks: [{ task: "a" }, { task: "b" }, { task: "c" }] }],
  ["race", { mode: "race", race: { task: "a", agents: ["worker", "worker"] } }],
  [
    "team",
    {
      mode: "team",
      team: {
        members: [{ role: "one", agent: "worker" }],
        tasks: [
          { id: "a", task: "a", assignee: "one" },
          { id: "b", task: "b", assignee: "one", depends: ["a"] },
        ],
      },
    },
  ],
])("LIM-07: a token budget is exceeded by one call at most: %s", async (_, input) => {
  let n = 0;
  const model: Model = async function* () {
    yield { type: "call", call: { id: "1", name: "look", input: { n: (n += 1) } } };
    yield { type: "end", usage: { input: 3_000, output: 1_000 }, cost: 0 };
  };
  const { result } = await play({ models: { m: model } }, input, { budget: { maxTokens: 40_000 } });
  expect(result.status).toBe("failed");
  expect(result.usage.input + result.usage.output).toBeLessThanOrEqual(44_000);
});

test.each<[fault: FaultName, attempts: number]>([
  ["broken", 3],
  ["bad-request", 1],
  ["unauthorized", 1],
  ["forbidden", 1],
])("LIM-08: a retry rule of three attempts against %s makes %i", async (fault, attempts) => {
  const server = await provider(() => ({ fault }));
  const { result } = await play(
    { env: server.env, model: "ollama/m" },
    single({ retry: { maxAttempts: 3, backoffMs: 1 } }),
  );
  expect(result.status).toBe("failed");
  expect(server.requests).toHaveLength(attempts);
});

test.each<[what: string, turn: ProviderTurn, code: string]>([
  ["429", { fault: "rate-limit" }, "MODEL_RATE_LIMIT"],
  ["500", { fault: "broken" }, "MODEL_OVERLOADED"],
  ["503", { fault: "unavailable" }, "MODEL_OVERLOADED"],
  ["a reset in the middle", { fault: "dropped", text: "half" }, "MODEL_NETWORK"],
  ["a stream that is cut off", { fault: "cut", text: "half" }, "MODEL_NETWORK"],
  ["HTML", { fault: "html" }, "MODEL_BAD_ANSWER"],
  ["204", { fault: "no-content" }, "MODEL_BAD_ANSWER"],
  ["JSON of another form", { fault: "wrong-shape" }, "MODEL_BAD_ANSWER"],
  ["events that are not JSON", { fault: "not-json" }, "MODEL_BAD_ANSWER"],
  ["silence", { fault: "hang" }, "TIMEOUT"],
])("LIM-09: %s ends with its own code, and an incomplete answer never counts as complete", async (_, turn, code) => {
  const server = await provider([turn, turn]);
  const silent = code === "TIMEOUT";
  const limits = {
    retry: { maxAttempts: 1, backoffMs: 1 },
    ...(silent && { resourceLimits: { maxIdleMs: 200 } }),
  };
  const { result } = await play({ env: server.env, model: "ollama/m" }, single(limits));
  expect(result).toMatchObject({ status: "failed", fault: { code } });
  // A request that was aborted may not have reached the server.
  if (silent) expect(server.requests.length).toBeLessThanOrEqual(1);
  else expect(server.requests).toHaveLength(1);
});

test("LIM-10: the same call with the same result is noticed long before the turns are used up", async () => {
  const model = scripted(...Array.from({ length: 50 }, () => call("look")));
  const { result } = await play({ models: { m: model } }, single({ resourceLimits: { maxTurns: 60 } }));
  expect(result).toMatchObject({ status: "failed", fault: { code: "STUCK" } });
  expect(model.requests.length).toBeLessThan(10);
});

test("LIM-11: searching the results of eight tools with 50 MB each for secrets does not block the process", async () => {
  const text = "All work and no play makes a dull log. ".repeat((6.25 * 1_024 * 1_024) / 39);
  const model: Model = async function* ({ messages }) {
    if (messages.length === 1) yield { type: "call", call: { id: "1", name: "look", input: {} } };
    else yield { type: "text", text: "done" };
    yield { type: "end", usage: { input: 1, output: 1 }, cost: 0 };
  };
  const tasks = Array.from({ length: 8 }, (_, n) => ({ task: `Task ${n}` }));
  let turns = 0;
  let ticking: NodeJS.Immediate;
  const tick = (): void => {
    turns += 1;
    ticking = setImmediate(tick);
  };
  tick();
  const ended: number[] = [];
  const told = (event: Event): void => {
    if (event.type === "tool.ended") ended.push(turns);
  };
  const { result } = await play(
    { home: tempFolder(), models: { m: model }, tools: [tool("look", () => text)] },
    { mode: "parallel", agent: "worker", tasks },
    {},
    told,
  );
  clearImmediate(ticking!);
  expect(result.status).toBe("ok");
  expect(new Set(ended).size).toBeGreaterThan(1);
});
