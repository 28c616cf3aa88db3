import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { defineAgent } from "../../src/core/agent/agent.ts";
import type { Model, ModelRequest } from "../../src/core/model/model.ts";
import type { Event } from "../../src/core/run/event.ts";
import { defineTool } from "../../src/core/task/tool.ts";
import type { CrewOptions } from "../../src/crew/outfit/options.ts";
import { createCrew } from "../../src/crew.ts";
import type { Crew } from "../../src/crew/crew-type.ts";
import { never, type ScriptedTurn, scripted } from "../../src/models/scripted/scripted.ts";
import { deferred } from "../../src/runtime/async/deferred.ts";
import type { Run } from "../../src/runtime/run/run.ts";
import { tempFolder } from "../support/temp-folder.ts";

/** The last request that a model got. */
function asked({ messages }: ModelRequest): string {
  const last = messages.at(-1);
  return last?.role === "user" ? last.text : "";
}

/** A model that answers every request with the result of `say`. */
function speaker(
  say: (prompt: string, request: ModelRequest) => ScriptedTurn | Promise<ScriptedTurn>,
): Model & { prompts: string[] } {
  const prompts: string[] = [];
  const model: Model = (request, signal) => {
    prompts.push(asked(request));
    return scripted((given) => say(asked(given), given))(request, signal);
  };
  return Object.assign(model, { prompts });
}

const broken = (message: string): ScriptedTurn => ({ error: { code: "MODEL_OVERLOADED", message, retryable: true } });
const crewOf = (options: CrewOptions): Crew =>
  createCrew({
    cwd: tempFolder(),
    home: false,
    discover: false,
    env: {},
    random: () => 0,
    model: Object.keys(options.models ?? {})[0]!,
    ...options,
  });

async function eventsOf(run: Run): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of run) events.push(event);
  return events;
}

describe("modes", () => {
  test("a chain stops at the first failure, names it, and keeps earlier results", async () => {
    const model = speaker((prompt) => (prompt.startsWith("two") ? broken("no luck") : `done: ${prompt}`));
    const result = await crewOf({ models: { model } }).run({
      chain: [{ task: "one" }, { task: "two {previous}" }, { task: "three, without a reference" }],
    } as never);
    expect(result).toMatchObject({
      status: "failed",
      fault: { message: "no luck" },
      nodes: {
        step_1: { status: "ok", output: "done: one" },
        step_2: { status: "failed" },
        step_3: { status: "skipped", because: "step_2" },
      },
    });
    expect(model.prompts).toEqual(["one", "two done: one"]);
  });

  test("a race does not wait for a loser that ignores its signal", async () => {
    const deaf: Model = async function* () {
      await new Promise(() => {});
      yield { type: "end", usage: { input: 0, output: 0 } };
    };
    const result = await crewOf({ models: { deaf, quick: scripted("42") } }).run({
      race: { task: "6 x 7?", models: ["deaf", "quick"] },
    } as never);
    expect(result).toMatchObject({
      status: "ok",
      output: "42",
      nodes: { winner: { from: ["quick"] }, deaf: { status: "cancelled" } },
    });
  });

  test("only a task that refers to another task waits", async () => {
    const asksC = deferred<void>();
    const model = speaker(async (prompt) => {
      if (prompt === "c") asksC.resolve();
      if (prompt === "a") await asksC.promise; // this would hang if c waited for a
      return `<${prompt}>`;
    });
    const result = await crewOf({ models: { model } }).run({
      tasks: [
        { task: "a", name: "A" },
        { task: "b {task:A}", name: "B" },
        { task: "c", name: "C" },
      ],
    } as never);
    expect(result.nodes).toMatchObject({ A: { output: "<a>" }, B: { output: "<b <a>>" }, C: { output: "<c>" } });
  });

  test.each(["{task_0}", "{result_0}", "{task:A}", "{result:A}"])(
    "%s in a prompt is the output of the first task, which is called A",
    async (reference) => {
      const model = speaker((prompt) => `<${prompt}>`);
      const tasks = [
        { task: "a", name: "A" },
        { task: `b ${reference}`, name: "B" },
      ];
      const { nodes } = await crewOf({ models: { model } }).run({ tasks } as never);
      expect(nodes["B"]).toMatchObject({ status: "ok", output: "<b <a>>" });
    },
  );

  const retry = { maxAttempts: 3, backoffMs: 0 };
  test.each<[string, object]>([
    ["a task", { tasks: [{ task: "shaky", retry }] }],
    ["a step of a chain", { chain: [{ task: "shaky", retry }] }],
    ["a race", { race: { task: "shaky", models: ["model"], retry } }],
    [
      "a member of a team",
      { team: { members: [{ role: "dev", retry }], tasks: [{ id: "t", task: "shaky", assignee: "dev" }] } },
    ],
    [
      "a task of a team",
      {
        team: {
          members: [{ role: "dev", retry: { maxAttempts: 1, backoffMs: 0 } }],
          tasks: [{ id: "t", task: "shaky", assignee: "dev", retry }],
        },
      },
    ],
  ])("retry can be set on %s", async (_level, input) => {
    const model = speaker(() => (model.prompts.length < 3 ? broken("overloaded") : "held"));
    const run = crewOf({ models: { model } }).run(input as never);
    const events = await eventsOf(run);
    expect((await run).status).toBe("ok");
    expect(model.prompts.length).toBe(3);
    expect(events.flatMap((event) => (event.type === "node.retried" ? [event.attempt] : []))).toEqual([1, 2]);
  });

  test.each([
    ["only on network errors", { retryOn: ["network", "timeout"] }, "Network is down", 3],
    ["not on other errors", { retryOn: ["network", "timeout"] }, "The answer was cut off", 1],
    ["not on fatal errors", { skipOn: ["fatal", "syntax"] }, "Fatal: no such file", 1],
    ["on all errors except fatal ones", { skipOn: ["fatal", "syntax"] }, "The answer was cut off", 3],
  ])("a task is retried %s", async (_which, patterns, message, tries) => {
    const model = speaker(() => (model.prompts.length < 3 ? broken(message) : "held"));
    const input = { task: "x", retry: { maxAttempts: 3, backoffMs: 0, ...patterns } };
    const { status } = await crewOf({ models: { model } }).run(input as never);
    expect(model.prompts.length).toBe(tries);
    expect(status).toBe(tries === 3 ? "ok" : "failed");
  });

  test.each([1, 3, 8])("parallel tasks share %d slots, and all of them are done", async (places) => {
    let active = 0;
    let most = 0;
    let fill: () => void = () => {};
    const filled = new Promise<void>((resolve) => (fill = resolve));
    const model = speaker(async (prompt) => {
      active += 1;
      most = Math.max(most, active);
      if (active === places) fill();
      await filled; // the first tasks wait until every slot is taken
      for (let n = 0; n < 50; n += 1) await new Promise(setImmediate);
      active -= 1;
      return `did ${prompt}`;
    });
    const tasks = Array.from({ length: 10 }, (_, at) => ({ task: `t${at}`, name: `n${at}` }));
    const { status, nodes } = await crewOf({ models: { model } }).run({ tasks, maxConcurrency: places } as never);
    expect(status).toBe("ok");
    expect(most).toBe(places);
    for (const { task, name } of tasks) expect(nodes[name]).toMatchObject({ status: "ok", output: `did ${task}` });
  });
});

describe("a run's end", () => {
  afterEach(() => void vi.useRealTimers());

  test("a run that takes too long is stopped, and keeps its results so far", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const run = crewOf({ models: { quick: scripted("first"), never } }).run(
      {
        tasks: [
          { task: "a", name: "a", model: "quick" },
          { task: "b", name: "b", model: "never" },
        ],
      } as never,
      { maxTimeMs: 5_000 },
    );
    const events: Event[] = [];
    for await (const event of run) {
      events.push(event);
      if (event.type === "node.ended" && event.path === "a") await vi.advanceTimersByTimeAsync(5_000);
      // ends the last turn of the task
      if (event.type === "limit.reached" && event.path === "b") await vi.advanceTimersByTimeAsync(60_000);
    }
    expect(await run).toMatchObject({
      status: "failed",
      fault: { code: "TIMEOUT" },
      nodes: {
        a: { status: "ok", output: "first" },
        b: { status: "failed", fault: { code: "TIMEOUT" }, limit: { kind: "time", value: 5_000, run: true } },
      },
    });
    expect((await run).output).toContain("first");
    expect(events.some(({ type }) => type === "limit.reached")).toBe(true);
    expect([...run.state.nodes.keys()]).not.toContain("");
  });

  test("a run that is cancelled before it began ends at once", async () => {
    const model = speaker(() => "never said");
    const run = crewOf({ models: { model } }).run({ mode: "single", task: "x" });
    run.cancel("changed my mind");
    expect(await run).toMatchObject({
      status: "cancelled",
      nodes: { task: { status: "cancelled", reason: "changed my mind" } },
    });
    expect(model.prompts).toEqual([]);
  });

  test("a task for an unknown agent cannot be added to a running plan", async () => {
    const run = crewOf({ models: { never } }).run({ tasks: [{ task: "x" }] } as never);
    const codes: unknown[] = [];
    for await (const event of run) {
      if (event.type !== "node.started") continue;
      try {
        run.change({ newTasks: { y: { kind: "task", task: { agent: "nobody", prompt: "y" } } } });
      } catch (error) {
        codes.push((error as { code?: unknown }).code);
      }
      run.cancel();
    }
    expect(codes).toEqual(["UNKNOWN_AGENT"]);
    expect(Object.keys((await run).nodes)).not.toContain("y");
  });

  test("an invalid change of a plan is refused", async () => {
    const run = crewOf({ models: { never } }).run({ mode: "single", task: "x" });
    const messages: string[] = [];
    for await (const event of run) {
      if (event.type !== "node.started") continue;
      try {
        run.change({ newTask: {} } as never);
      } catch (error) {
        messages.push(String(error));
      }
      run.cancel();
    }
    expect(messages).toEqual(['CrewError: The change has an unknown key "newTask".']);
  });
});

describe("resuming a run", () => {
  const steps = { chain: [{ task: "one" }, { task: "two after {previous}" }] } as never;
  const journalOf = (home: string, id: string): string => join(home, "runs", id, "journal.jsonl");

  test("a paused run continues where it stopped", async () => {
    const home = tempFolder();
    const first = crewOf({
      home,
      models: { model: speaker((prompt) => (prompt === "one" ? "1" : new Promise(() => {}))) },
    });
    const run = first.run(steps);
    for await (const event of run) if (event.type === "node.started" && event.path === "step_2") run.pause("Ctrl-C");
    expect((await run).status).toBe("paused");

    const model = speaker((prompt) => `<${prompt}>`);
    const again = crewOf({ home, models: { model } }).resume(run.id);
    expect(await again).toMatchObject({ status: "ok", output: "<two after 1>", nodes: { step_1: { output: "1" } } });
    expect(model.prompts).toEqual(["two after 1"]);
  });

  test("RES-07: resuming an ended run only repeats its recorded events", async () => {
    const home = tempFolder();
    const run = crewOf({ home, models: { model: speaker((prompt) => `<${prompt}>`) } }).run(steps);
    const result = await run;
    const model = speaker(() => "again?");
    expect(await crewOf({ home, models: { model } }).resume(run.id)).toEqual(result);
    expect(model.prompts).toEqual([]);
  });

  test("failed tasks are retried only on request", async () => {
    const home = tempFolder();
    const run = crewOf({ home, models: { model: speaker((prompt) => (prompt === "one" ? "1" : broken("down"))) } }).run(
      steps,
    );
    expect((await run).status).toBe("failed");
    const model = speaker((prompt) => `<${prompt}>`);
    expect((await crewOf({ home, models: { model } }).resume(run.id)).status).toBe("failed");
    expect(await crewOf({ home, models: { model } }).resume(run.id, { retryFailed: true })).toMatchObject({
      status: "ok",
      output: "<two after 1>",
    });
    expect(model.prompts).toEqual(["two after 1"]);
  });

  test("of two concurrent resumes one succeeds, and the error of the other names the owner of the run", async () => {
    const home = tempFolder();
    const stuck = crewOf({ home, models: { model: never } }).run(steps);
    for await (const event of stuck) if (event.type === "node.started") stuck.pause();
    await stuck;
    const model = speaker((prompt) => `<${prompt}>`);
    const crew = crewOf({ home, models: { model } });
    const came = await Promise.allSettled([crew.resume(stuck.id), crew.resume(stuck.id)]);
    expect(came.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(came.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "RUN_BUSY" } });
    expect(model.prompts).toEqual(["one", "two after <one>"]);
  });

  test("an incomplete last record is cut off and reported, and no complete record is lost", async () => {
    const home = tempFolder();
    const run = crewOf({ home, models: { model: speaker((prompt) => `<${prompt}>`) } }).run(steps);
    await run;
    const file = journalOf(home, run.id);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    const cut = lines.findIndex((text) => text.includes('"node.started"') && text.includes("step_2"));
    writeFileSync(file, `${lines.slice(0, cut + 1).join("\n")}\n${lines[cut + 1]!.slice(0, 25)}`);

    const model = speaker((prompt) => `<${prompt}>`);
    const again = crewOf({ home, models: { model } }).resume(run.id);
    const events = await eventsOf(again);
    expect((await again).output).toBe("<two after <one>>");
    expect(model.prompts).toEqual(["two after <one>"]);
    expect(events.flatMap((event) => (event.type === "warning" ? [event.text] : []))).toEqual([
      expect.stringContaining("incomplete after a crash"),
    ]);
    // The journal is complete again and can be read to its end.
    expect(await crewOf({ home, models: { model } }).resume(run.id)).toMatchObject({ status: "ok" });
  });

  test("damage in the middle is refused with its position, and nothing is performed", async () => {
    const home = tempFolder();
    const run = crewOf({ home, models: { model: speaker((prompt) => `<${prompt}>`) } }).run(steps);
    await run;
    const file = journalOf(home, run.id);
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace("step_1", "step_9"));
    const model = speaker(() => "?");
    await expect(crewOf({ home, models: { model } }).resume(run.id)).rejects.toMatchObject({
      code: "RUN_DAMAGED",
      message: expect.stringContaining("record 1"),
    });
    truncateSync(file, 3);
    await expect(crewOf({ home, models: { model } }).resume(run.id)).rejects.toMatchObject({ code: "RUN_DAMAGED" });
    expect(model.prompts).toEqual([]);
  });
});

describe("rights", () => {
  const looked: string[] = [];
  const look = defineTool({
    name: "look",
    description: "looks",
    input: z.object({}),
    effect: "read",
    run: () => {
      looked.push("looked");
      return "seen";
    },
  });
  const ask = defineTool({
    name: "ask_child",
    description: "asks",
    input: z.object({}),
    effect: "read",
    run: async (_input, { delegate }) => {
      const outcome = await delegate({ mode: "single", agent: "child", task: "look for me" });
      return outcome.status === "ok" ? outcome.output : outcome.status;
    },
  });
  const agent = (name: string, tools: readonly string[]) =>
    defineAgent({ name, description: name, instructions: "Work.", tools });
  const calls = (name: string): ScriptedTurn => ({ calls: [{ name, input: {} }] });

  test("a tool that the agent does not have is neither shown nor executed, and the rule is reported", async () => {
    looked.length = 0;
    const model = scripted(calls("look"), "without it");
    const run = crewOf({ agents: [agent("worker", ["ask_child"])], tools: [look, ask], models: { model } }).run({
      mode: "single",
      agent: "worker",
      task: "x",
    });
    const events = await eventsOf(run);
    expect(await run).toMatchObject({ status: "ok", output: "without it" });
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["ask_child"]);
    expect(events.find(({ type }) => type === "tool.denied")).toMatchObject({ tool: "look", rule: "tools of worker" });
    expect(looked).toEqual([]);
  });

  test("with delegation: ceiling a child cannot use a tool that its parent may not use, whatever its own file says", async () => {
    looked.length = 0;
    const parent = scripted(calls("ask_child"), "parent done");
    const child = scripted(calls("look"), "child done");
    const run = crewOf({
      agents: [agent("parent", ["ask_child"]), { ...agent("child", ["look"]), model: "child" }],
      tools: [look, ask],
      models: { parent, child },
      model: "parent",
      config: { delegation: "ceiling" },
    }).run({ mode: "single", agent: "parent", task: "x" });
    const events = await eventsOf(run);
    expect((await run).status).toBe("ok");
    expect(looked).toEqual([]);
    expect(child.requests.flatMap(({ tools }) => tools.map(({ name }) => name))).not.toContain("look");
    const denied = events.find(({ type }) => type === "tool.denied");
    if (child.requests.length > 0)
      expect(denied).toMatchObject({ tool: "look", rule: "the parent of child may not use the tool" });
  });
});
