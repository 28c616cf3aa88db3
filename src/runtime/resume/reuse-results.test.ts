import { expect, test } from "vitest";
import { z } from "zod";
import { storeOf } from "../../../test/support/recorded-runs.ts";
import { assignmentOf, callOf, contextOf, forkOf } from "../../../test/support/task-world.ts";
import type { Agent } from "../../core/agent/agent.ts";
import { allowedTools } from "../../core/policy/permit.ts";
import { createPolicy, type Policy } from "../../core/policy/policy.ts";
import type { Assignment } from "../../core/task/runner.ts";
import type { TaskAccess } from "../../core/task/task-access.ts";
import { defineTool, type Tool } from "../../core/task/tool.ts";
import { createReuse, reuseKey } from "./reuse-results.ts";

const tool = (name: string, does: Tool["does"], run: () => string): Tool =>
  defineTool({ name, description: name, input: z.object({}), effect: "read", ...(does && { does }), run });
const tools = [tool("look", "read", () => "rain"), tool("fetch", "net", () => "sun"), tool("todo", "none", () => "ok")];
const cwd = "/work";
const settings = { cwd, env: {} };
const assigned = (agent: Partial<Agent> = {}): Promise<Assignment> => assignmentOf({ agent, tools, settings });

const usage = { turns: 1 };
const cost = { usd: 1, unpriced: 0 };
const done = { status: "ok", output: "It rains.", usage, cost };
const turn = (...names: readonly string[]): object => ({
  type: "turn.ended",
  path: "a",
  calls: names.map((name) => ({ id: name, name, input: {} })),
});
const called = (name: string, text: string): readonly object[] => [
  { type: "tool.started", path: "a", call: name, tool: name },
  { type: "tool.ended", path: "a", call: name, tool: name, text, error: false },
];

type Search = Readonly<{
  agent?: Partial<Agent>;
  /** What differs between the agent that searches and the one whose result is stored, besides the agent's key. */
  change?: (assignment: Assignment) => Assignment;
  work?: readonly object[];
  outcome?: object;
  /** What the run did after the task. */
  after?: readonly object[];
  always?: boolean;
  /** Time since the result, in milliseconds. */
  age?: number;
}>;

/** Searches for the result of a task that another run recorded: the outcome that is reused, and the recorded fact. */
async function search({
  agent = {},
  change = (assignment) => assignment,
  work = [],
  outcome = done,
  after = [],
  always = true,
  age = 0,
}: Search) {
  const assignment = change(await assigned(agent));
  const key = reuseKey(assignment);
  const events = [
    { type: "run.started", path: "" },
    { type: "node.started", path: "a", attempt: 1, kind: "task" },
    { type: "agent.resolved", path: "a", reuse: key },
    ...work,
    { type: "node.ended", path: "a", outcome },
  ];
  const store = await storeOf({ run_before: [...events, ...after] });
  const reuse = createReuse(store, { always, redact: (text) => text, clock: () => events.length + age });
  const { context, facts } = contextOf();
  return { found: await reuse.find(key, assignment, context), facts };
}
const output = async (given: Search): Promise<unknown> => {
  const { found } = await search(given);
  return found?.status === "ok" ? found.output : undefined;
};

test("a result is reported with its task, its time and its cost; without both usage and cost no saving is reported", async () => {
  const { found, facts } = await search({});
  expect(found).toEqual({ status: "ok", output: "It rains." });
  const reused = { type: "node.reused", from: "run_before/a", endedAt: 4 };
  expect(facts).toEqual([{ ...reused, saved: { usage, cost } }]);
  for (const spent of [{ usage }, { cost }, {}])
    expect((await search({ outcome: { status: "ok", output: "", ...spent } })).facts).toEqual([reused]);
});

test("a cached result is used until exactly the end of its time; the time of another task does not count", async () => {
  const agent = { cacheMs: 50 };
  const after = [{ type: "node.ended", path: "b", outcome: done, at: 60 }];
  expect(await output({ agent, always: false, age: 50, after })).toBe("It rains.");
  expect(await output({ agent, always: false, age: 51, after })).toBeUndefined();
});

test("an answer of the network is not repeated while the cache lasts; later it prevents reuse, also with --reuse", async () => {
  const work = [turn("fetch"), ...called("fetch", "snow")];
  const agent = { cacheMs: 50 };
  expect(await output({ agent, work, age: 50 })).toBe("It rains.");
  expect(await output({ agent, work, age: 51 })).toBeUndefined();
  expect(await output({ work })).toBeUndefined();
});

test("a remote agent has no cache, since it may change something", async () => {
  const change = (assignment: Assignment): Assignment => ({
    ...assignment,
    agent: { ...assignment.agent, remote: { cardUrl: "https://example.org/card" } },
  });
  expect(await output({ agent: { cacheMs: 50 }, change, always: false })).toBeUndefined();
  expect(await output({ agent: { cacheMs: 50 }, change })).toBe("It rains.");
});

test("calls of reading tools are repeated and have to give the same text; a tool that only affects the task is not repeated", async () => {
  expect(await output({ work: [turn("look"), ...called("look", "rain")] })).toBe("It rains.");
  expect(await output({ work: [turn("look"), ...called("look", "snow")] })).toBeUndefined();
  expect(await output({ work: [turn("todo"), ...called("todo", "other")] })).toBe("It rains.");
});

test("a tool that the task does not have, and a call that was not recorded, prevent reuse", async () => {
  expect(await output({ work: [turn("gone"), ...called("gone", "rain")] })).toBeUndefined();
  expect(await output({ work: called("look", "rain") })).toBeUndefined();
});

test("a task that did not succeed, or that was started again, has no result to reuse", async () => {
  expect(await output({ outcome: { status: "cancelled", reason: "stopped" } })).toBeUndefined();
  const again = { type: "node.started", path: "a", attempt: 2, kind: "task" };
  expect(await output({ after: [again] })).toBeUndefined();
  const other = [again, { type: "agent.resolved", path: "a", reuse: "other" }];
  expect(await output({ after: [...other, { type: "node.ended", path: "a", outcome: done }] })).toBeUndefined();
});

test("the key of a result is the same for the same task, and changes with anything that the result depends on", async () => {
  const first = await assigned();
  const { call } = first;
  const withTask = (task: object): Assignment => ({ ...first, call: { ...call, task: { ...call.task, ...task } } });
  const withPolicy = (policy: Policy): Assignment => ({ ...first, access: { policy: () => policy } as TaskAccess });
  const image = { type: "image/png", data: "" } as const;
  const changed: readonly Assignment[] = [
    first,
    { ...first, agent: { ...first.agent, instructions: "Rest." } },
    { ...first, rights: { ...first.rights, ceiling: ["look"] } },
    { ...first, model: { ...first.model, ref: "other" } },
    { ...first, completion: "tool" },
    { ...first, schema: { type: "object" } },
    { ...first, prompt: "Another." },
    { ...first, projectInstructions: "Use tabs." },
    { ...first, limits: { ...first.limits, maxTurns: 1 } },
    { ...first, toolContext: { ...first.toolContext, cwd: "/elsewhere" } },
    { ...first, call: { ...call, before: "b" } as unknown as Assignment["call"] },
    { ...first, call: { ...call, fork: forkOf(["look"]) } },
    { ...first, call: { ...call, fork: forkOf([]) } },
    withTask({ images: [image] }),
    withTask({ inputs: { a: "b" } }),
    withTask({ acceptSchema: { type: "object" } }),
    withTask({ acceptCommand: "make" }),
    withPolicy(createPolicy("default")),
    withPolicy(createPolicy("plan")),
  ];
  const keys = changed.map(reuseKey);
  expect(new Set(keys).size).toBe(changed.length);
  const source = { kind: "user" } as const;
  const cached = { ...first, agent: { ...first.agent, cacheMs: 9, documentation: "x", source } };
  expect([reuseKey(await assigned()), reuseKey(cached)]).toEqual([keys[0], keys[0]]);
});

test("the texts of an agent, its tools and its policy are built once for all its tasks, and the key of a result once per task", async () => {
  const first = await assigned();
  const reads: string[] = [];
  const counted = <T extends object>(value: T, key: keyof T & string): T => {
    const was = value[key];
    return Object.defineProperty(value, key, { enumerable: true, get: () => (reads.push(key), was) });
  };
  counted(allowedTools(first.rights, first.tools), "tools");
  const agent = counted({ ...first.agent }, "instructions");
  const policy = counted({ ...createPolicy("default") }, "level");
  const access = { policy: () => (reads.push("key"), policy) } as unknown as TaskAccess;
  const keys = ["a", "b"].flatMap((path) => {
    const assignment = { ...first, agent, access, call: callOf({}, { path }) };
    return [reuseKey(assignment), reuseKey(assignment)];
  });
  expect(new Set(keys).size).toBe(1);
  expect(reads.toSorted()).toEqual(["instructions", "key", "key", "level", "tools"]);
});
