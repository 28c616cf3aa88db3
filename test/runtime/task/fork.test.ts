import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type Agent,
  createCrew,
  defineAgent,
  type Crew,
  type CrewOptions,
  type Event,
  type Result,
  type Run,
} from "../../../src/index.ts";
import type { ProviderRequest, ProviderServer } from "../../../src/testing/provider-server.ts";
import type { ProviderTurn } from "../../../src/testing/provider-turn.ts";
import { collect } from "../../support/collect.ts";
import { killed } from "../../support/killed-run.ts";
import { provider } from "../../support/talk.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { until } from "../../support/until.ts";

/** About 5,000 tokens that the lead has read before it starts helpers. */
const notes = "The house has a green door.\n".repeat(720);
const text = (request: ProviderRequest): string => JSON.stringify(request.body);
const fork = (...prompts: readonly string[]): ProviderTurn => ({
  text: "I split the work.",
  calls: [
    {
      name: "task",
      input: {
        agent: "helper",
        tasks: prompts.map((assignment, n) => ({ id: `h${n}`, assignment, fork: true })),
      },
    },
  ],
});

const agents: readonly Agent[] = [
  defineAgent({
    name: "lead",
    description: "d",
    instructions: "You are the lead.",
    tools: ["read_file", "write_file", "task"],
    spawns: ["helper"],
  }),
  defineAgent({ name: "helper", description: "d", instructions: "You are the helper.", tools: ["read_file"] }),
];

function crewAt(server: ProviderServer, model: string, more: CrewOptions = {}): Crew {
  return createCrew({
    home: tempFolder(),
    cwd: tempFolder({ "notes.txt": notes }),
    discover: false,
    env: { ...server.env, HOME: tempFolder() },
    agents,
    model,
    permissions: { mode: "acceptEdits" },
    unattended: true,
    ...more,
  });
}

/** Runs to the end and returns the result and the events. */
async function listen(run: Run): Promise<{ result: Result; events: Event[] }> {
  const events = await collect(run);
  return { result: await run, events };
}

/** The lead reads and then forks helpers; a helper is recognised by its prompt. */
const lead =
  (helper: (request: ProviderRequest) => ProviderTurn, ...prompts: readonly string[]) =>
  (request: ProviderRequest, n: number): ProviderTurn => {
    if (text(request).includes("You are now the helper")) return helper(request);
    if (n === 1) return { text: "", calls: [{ name: "read_file", input: { path: "notes.txt" } }] };
    return n === 2 ? fork(...prompts) : { text: "All done." };
  };

/** A request as the parts that a provider's cache compares, without the cache marks. */
function parts(request: ProviderRequest): { head: string; messages: string[] } {
  const { body } = request;
  const list = (body["messages"] ?? body["input"]) as Record<string, unknown>[];
  const head = JSON.stringify([body["tools"], body["system"], body["instructions"], body["model"]]);
  const written = list.flatMap(({ role, content, ...rest }) =>
    Array.isArray(content)
      ? content.map(({ cache_control: _mark, ...block }: Record<string, unknown>) => JSON.stringify({ role, ...block }))
      : [JSON.stringify({ role, content, ...rest })],
  );
  return { head, messages: written };
}

const single = { mode: "single", agent: "lead", task: "Look after the house." } as const;

describe.each(["anthropic/claude-haiku-4-5", "openai-chat/gpt-4o", "openai/gpt-5.2"])("at %s", (model) => {
  test("forked helpers send the same bytes as their parent, and read them from the cache", async () => {
    const server = await provider(
      lead(() => ({ text: "Helped." }), "Count the doors.", "Count the windows."),
      {
        cache: true,
      },
    );
    const { result, events } = await listen(crewAt(server, model).run(single));
    expect(result).toMatchObject({ status: "ok", output: "All done." });
    expect(result.nodes["lead/h1"]).toMatchObject({ status: "ok", output: "Helped." });
    const helpers = server.requests.filter((request) => text(request).includes("You are now the helper"));
    const before = parts(server.requests[1]!);
    expect(helpers).toHaveLength(2);
    for (const helper of helpers) {
      const { head, messages } = parts(helper);
      expect(head).toBe(before.head);
      expect(messages.slice(0, before.messages.length)).toEqual(before.messages);
      expect(helper.body["prompt_cache_key"]).toBe(server.requests[0]!.body["prompt_cache_key"]);
      expect(messages.at(-1)).toMatch(/Count the (doors|windows)/);
      expect(messages.at(-1)).toContain("You are the helper.");
    }
    for (const path of ["lead/h0", "lead/h1"])
      expect(result.nodes[path]?.usage?.cacheRead).toBeGreaterThan(notes.length / 4);
    expect(events.filter(({ type }) => type === "conversation.forked")).toMatchObject([
      { path: "lead/h0", from: `${result.id}/lead`, turn: 2 },
      { path: "lead/h1", from: `${result.id}/lead`, turn: 2 },
    ]);
  });
});

test("the tasks of a delegated team fork with the same beginning, also tasks that wait for other tasks", async () => {
  const tasks = [
    { id: "doors", task: "Count the doors.", assignee: "dev", fork: true },
    { id: "windows", task: "Count the windows.", assignee: "dev", depends: ["doors"], fork: true },
  ];
  const team = { members: [{ role: "dev", agent: "helper" }], tasks };
  const server = await provider((request, n) => {
    if (text(request).includes("You are now the helper")) return { text: `Helped ${n}.` };
    if (n === 1) return { text: "", calls: [{ name: "read_file", input: { path: "notes.txt" } }] };
    return n === 2 ? { text: "A team.", calls: [{ name: "parallel", input: { team } }] } : { text: "All done." };
  });
  const coordinator = { ...agents[0]!, tools: ["read_file", "task"], delegation: ["parallel"] };
  const crew = crewAt(server, "anthropic/claude-haiku-4-5", { agents: [coordinator, agents[1]!] });
  expect(await crew.run(single)).toMatchObject({ status: "ok", output: "All done." });
  const before = parts(server.requests[1]!);
  const helpers = server.requests.filter((request) => text(request).includes("You are now the helper")).map(parts);
  expect(helpers).toHaveLength(2);
  for (const { head, messages } of helpers)
    expect([head, messages.slice(0, before.messages.length)]).toEqual([before.head, before.messages]);
  expect(helpers[1]!.messages.at(-1)).toContain("Helped 3.");
});

test("a task that a person adds to a team cannot fork, because no agent starts it", async () => {
  const server = await provider(() => ({ text: "Done.", delayMs: 50 }));
  const team = { members: [{ role: "dev", agent: "helper" }], tasks: [{ id: "a", task: "Look.", assignee: "dev" }] };
  const run = crewAt(server, "anthropic/claude-haiku-4-5").run({ mode: "team", team });
  let refusal: unknown;
  for await (const event of run)
    if (event.type === "node.started" && event.path === "a")
      try {
        run.change({ newTasks: { more: { kind: "task", task: { agent: "helper", prompt: "x", fork: true } } } });
      } catch (error) {
        refusal = error;
      }
  expect(refusal).toMatchObject({ code: "BAD_INPUT", message: expect.stringContaining("no agent starts the task") });
  expect((await run).status).toBe("ok");
});

test("at most four parts of a request are marked for Anthropic's cache, and one of them is the end of the parent's request", async () => {
  const server = await provider(
    lead(() => ({ text: "Helped." }), "Count."),
    { cache: true },
  );
  await crewAt(server, "anthropic/claude-haiku-4-5").run({ ...single, context: "Shared by all. ".repeat(300) });
  const marks = server.requests.map((request) => text(request).split("cache_control").length - 1);
  expect(marks).toEqual([4, 4, 4, 4]);
  const [asked, forked] = [server.requests[1]!, server.requests[2]!].map(
    ({ body }) => body["messages"] as { content: object[] }[],
  );
  expect(forked![asked!.length - 1]).toEqual(asked!.at(-1));
});

test("a forked helper is shown the tools of its parent and may use only its own", async () => {
  const write = { name: "write_file", input: { path: "a.txt", content: "x" } };
  const more = { name: "task", input: { agent: "helper", tasks: [{ id: "x", assignment: "x" }] } };
  let turn = 0;
  const server = await provider(
    lead(() => {
      turn += 1;
      return turn === 1 ? { text: "", calls: [write, more] } : { text: "I may not." };
    }, "Write a.txt."),
  );
  const cwd = tempFolder({ "notes.txt": notes });
  const { result, events } = await listen(crewAt(server, "anthropic/claude-haiku-4-5", { cwd }).run(single));
  expect(result.nodes["lead/h0"]).toMatchObject({ status: "ok", output: "I may not." });
  expect(events.filter(({ type }) => type === "tool.denied")).toMatchObject([
    { path: "lead/h0", tool: "write_file", rule: "tools of helper" },
    { path: "lead/h0", tool: "task" },
  ]);
  expect(existsSync(join(cwd, "a.txt"))).toBe(false);
  expect(text(server.requests[2]!)).toContain("you may use only these: read_file. Calls of other tools are refused.");
});

test("an agent whose file says `conversation: fork` starts from its parent's conversation, and from an empty one without a parent", async () => {
  const server = await provider((request, n) => {
    if (text(request).includes("You are now the helper")) return { text: "Helped." };
    return n === 1
      ? { text: "", calls: [{ name: "task", input: { agent: "forker", tasks: [{ id: "h", assignment: "Go." }] } }] }
      : { text: "Done." };
  });
  const cwd = tempFolder({
    ".subcrew/agents/forker.md": "---\nname: forker\ndescription: d\nconversation: fork\ntools: []\n---\nYou fork.\n",
    ".subcrew/agents/head.md": "---\nname: head\ndescription: d\ntools: [task]\nspawns: [forker]\n---\nYou lead.\n",
  });
  const crew = crewAt(server, "openai-chat/gpt-4o", { cwd, discover: true, trusted: true });
  const { result, events } = await listen(crew.run({ mode: "single", agent: "head", task: "Lead." }));
  expect(result.nodes["head/h"]).toMatchObject({ status: "ok", output: "Helped." });
  expect(events.some(({ type }) => type === "conversation.forked")).toBe(true);
  const alone = await listen(crew.run({ mode: "single", agent: "forker", task: "Go." }));
  expect(alone.result).toMatchObject({ status: "ok" });
  expect(alone.events.find(({ type }) => type === "note")).toMatchObject({
    text: '"forker" begins with an empty conversation: no agent started it.',
  });
});

test.each([
  ["a task", { mode: "single", agent: "helper", task: "Go.", fork: true }],
  ["a task of a team", { mode: "team", team: { tasks: [{ id: "a", task: "Go.", fork: true }] } }],
  ["a task in a loop of a team", { mode: "team", team: { tasks: [{ id: "a", task: "Go.", fork: true, review: {} }] } }],
] as const)("%s with `fork: true` that no agent starts is an error before anything runs", async (_what, input) => {
  const server = await provider([]);
  await expect(crewAt(server, "openai-chat/gpt-4o").run(input)).rejects.toMatchObject({
    code: "BAD_INPUT",
    message: expect.stringContaining("no agent starts the task, so no conversation can be forked"),
  });
  expect(server.requests).toHaveLength(0);
});

test.each(["anthropic/claude-haiku-4-5", "openai-chat/gpt-4o", "openai/gpt-5.2"])(
  "at %s a fork of an earlier task with context files begins with the same bytes, also when a file has changed since",
  async (model) => {
    const server = await provider(() => ({ text: "Done." }));
    const cwd = tempFolder({ "notes.txt": notes });
    const crew = crewAt(server, model, { cwd });
    const asked = { ...single, context: "Be brief.", contextFiles: ["notes.txt"] } as const;
    const first = await crew.run(asked);
    writeFileSync(join(cwd, "notes.txt"), "The house is gone.");
    const second = await crew.run({ ...single, task: "And the windows?", fork: `${first.id}/lead` });
    expect([first.status, second.status]).toEqual(["ok", "ok"]);
    const [before, after] = [parts(server.requests[0]!), parts(server.requests[1]!)];
    expect(before.messages.join("")).toContain("The house has a green door.");
    expect(after.head).toBe(before.head);
    expect(after.messages.slice(0, before.messages.length)).toEqual(before.messages);
    expect(server.requests[1]!.body["prompt_cache_key"]).toBe(server.requests[0]!.body["prompt_cache_key"]);
    const { plan, ...more } = await crew.continuing({ run: first.id, prompt: "Go on.", allowFailed: false });
    await crew.run(plan, more);
    expect(parts(server.requests[2]!).messages.slice(0, before.messages.length)).toEqual(before.messages);
  },
);

test("a helper with a schema returns JSON as text where its parent has no finish tool", async () => {
  const schema = { type: "object", properties: { doors: { type: "number" } }, required: ["doors"] };
  const answers: ProviderTurn[] = [{ text: "three" }, { text: '{"doors": 3}' }];
  const server = await provider(lead(() => answers.shift()!, "Count."));
  const counted = agents.map((agent) => (agent.name === "helper" ? { ...agent, output: schema } : agent));
  const result = await crewAt(server, "openai-chat/gpt-4o", { agents: counted }).run(single);
  expect(result.nodes["lead/h0"]).toMatchObject({ status: "ok", data: { doors: 3 } });
  expect(parts(server.requests[2]!).head).toBe(parts(server.requests[1]!).head);
});

test("a forked helper whose run was killed continues where it was, with the same beginning", async () => {
  const [home, cwd] = [tempFolder(), tempFolder({ "notes.txt": notes, "more.txt": "two windows" })];
  let stuck = false;
  let isKilled = false;
  const work = lead((request) => {
    if (!text(request).includes("two windows"))
      return { text: "", calls: [{ name: "read_file", input: { path: "more.txt" } }] };
    stuck = true;
    return { text: "late", delayMs: 60_000 };
  }, "Count.");
  const server = await provider((request, n) => {
    if (!isKilled) return work(request, n);
    return text(request).includes("You are now the helper") ? { text: "Two." } : { text: "All done." };
  });
  const run = crewAt(server, "anthropic/claude-haiku-4-5", { home, cwd }).run(single);
  const seen: Event[] = [];
  const watched = (async () => {
    for await (const event of run) seen.push(event);
  })();
  // An event is published once it is in the journal.
  await until(
    () => stuck && seen.some((event) => event.type === "turn.started" && event.path === "lead/h0" && event.turn === 2),
  );
  const left = await killed(run, home);
  await watched;
  isKilled = true;
  const asked = server.requests.length;
  const next = crewAt(server, "anthropic/claude-haiku-4-5", { home: left, cwd });
  const { result, events } = await listen(next.resume(run.id));
  expect(result).toMatchObject({ status: "ok", output: "All done." });
  expect(result.nodes["lead/h0"]).toMatchObject({ output: "Two." });
  expect(server.requests).toHaveLength(asked + 2);
  const [before, after] = [server.requests[asked - 1]!, server.requests[asked]!];
  // the maximum number of tokens depends on prices, so it is not compared
  expect({ ...after.body, max_tokens: 0 }).toEqual({ ...before.body, max_tokens: 0 });
  expect(events.filter(({ type }) => type === "conversation.forked")).toHaveLength(1);
});

describe.each(["anthropic/claude-haiku-4-5", "openai-chat/gpt-4o", "openai/gpt-5.2"])(
  "every task of a team, at %s",
  (model) => {
    const team = {
      members: [
        { role: "worker", agent: "lead" },
        { role: "judge", agent: "helper" },
      ],
      tasks: [
        { id: "a", task: "Count the doors.", assignee: "judge" },
        {
          id: "b",
          task: "Paint them.",
          assignee: "worker",
          depends: ["a"],
          requiresApproval: true,
          review: { reviewer: "judge" },
        },
      ],
    };
    const answers = (request: ProviderRequest): ProviderTurn => {
      if (text(request).includes("You are now the")) return { text: "Forked." };
      return text(request).includes("REVISION_NEEDED") ? { text: "APPROVED" } : { text: "Done so far." };
    };

    test("is forked with the same bytes that it began with: attached results, plan, review, and forks of forks", async () => {
      const server = await provider(answers);
      const crew = crewAt(server, model, { unattended: false });
      const run = crew.run({ mode: "team", team, context: "It is a big house." }, { concurrency: 1 });
      const asked: string[] = [];
      for await (const event of run) {
        if (event.type === "turn.started") asked.push(event.path);
        if (event.type === "gate.opened") await run.answer(event.path, { approve: true }, event.call);
      }
      expect((await run).status).toBe("ok");
      expect(new Set(asked)).toEqual(new Set(["a", "b.1/plan", "b.1/work.1/work", "b.1/work.1/review"]));
      const sent = [...server.requests];
      const forks: string[] = [];
      for (const [at, path] of asked.entries()) {
        const forked = await crew.run({ ...single, task: "And then?", fork: `${run.id}/${path}` });
        forks.push(`${forked.id}/lead`);
        const [before, after] = [parts(sent[at]!), parts(server.requests.at(-1)!)];
        expect(after.head, path).toBe(before.head);
        expect(after.messages.slice(0, before.messages.length), path).toEqual(before.messages);
      }
      for (const fork of forks) {
        const before = parts(server.requests[sent.length + forks.indexOf(fork)]!);
        expect((await crew.run({ ...single, task: "Once more.", fork })).status).toBe("ok");
        const after = parts(server.requests.at(-1)!);
        expect(after.head).toBe(before.head);
        expect(after.messages.slice(0, before.messages.length)).toEqual(before.messages);
      }
    });
  },
);

describe("a fork from a task of an earlier run", () => {
  const model = "anthropic/claude-haiku-4-5";
  const first = (request: ProviderRequest): ProviderTurn => {
    if (text(request).includes("You are now the helper")) return { text: "Forked." };
    return text(request).includes("green door")
      ? { text: "There is a green door." }
      : { text: "", calls: [{ name: "read_file", input: { path: "notes.txt" } }] };
  };

  test("any number of tasks can start from an earlier run, which stays unchanged", async () => {
    const server = await provider(first, { cache: true });
    const crew = crewAt(server, model);
    const { id } = await crew.run(single);
    const asked = server.requests[1]!;
    const { result, events } = await listen(
      crew.run({
        mode: "parallel",
        fork: `${id}/lead`,
        tasks: [
          { agent: "lead", task: "Which colour?" },
          { agent: "helper", task: "How many?" },
        ],
      }),
    );
    expect(result.status).toBe("ok");
    expect(events.filter(({ type }) => type === "conversation.forked")).toMatchObject([
      { from: `${id}/lead`, turn: 2 },
      { from: `${id}/lead`, turn: 2 },
    ]);
    for (const request of server.requests.slice(2)) {
      const { head, messages } = parts(request);
      expect(head).toBe(parts(asked).head);
      expect(messages.slice(0, parts(asked).messages.length)).toEqual(parts(asked).messages);
      expect(messages.some((message) => message.includes("There is a green door."))).toBe(true);
    }
    expect(result.usage.cacheRead).toBeGreaterThan((2 * notes.length) / 4);
    expect((await crew.record(id)).nodes.size).toBe(1);
  });

  test("fails if that task does not exist, and cannot be requested by an agent", async () => {
    const server = await provider((request, n) =>
      n === 1
        ? {
            text: "",
            calls: [
              {
                name: "parallel",
                input: { tasks: [{ agent: "helper", task: "Go.", fork: "run_000000000000/lead" }] },
              },
            ],
          }
        : { text: text(request).includes("may only start from") ? "refused" : "started" },
    );
    const crew = crewAt(server, model, {
      agents: agents.map((agent) => (agent.name === "lead" ? { ...agent, tools: ["parallel"] } : agent)),
    });
    expect(await crew.run(single)).toMatchObject({ status: "ok", output: "refused" });
    const gone = await crew.run({ ...single, fork: "run_000000000000/lead" });
    expect(gone).toMatchObject({
      status: "failed",
      fault: {
        code: "BAD_INPUTS",
        message: '"run_000000000000/lead" has no conversation to start from.',
      },
    });
  });
});
