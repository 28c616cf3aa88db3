import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import type { Agent } from "../../../src/core/agent/agent.ts";
import type { Event } from "../../../src/core/run/event.ts";
import { defineTool } from "../../../src/core/task/tool.ts";
import type { CrewOptions } from "../../../src/crew/outfit/options.ts";
import { createCrew } from "../../../src/crew.ts";
import type { Crew } from "../../../src/crew/crew-type.ts";
import { type ScriptedTurn, scripted } from "../../../src/models/scripted/scripted.ts";
import { collect } from "../../support/collect.ts";

const root = mkdtempSync(join(tmpdir(), "subcrew-reuse-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let number = 0;

const scout: Agent = {
  name: "scout",
  description: "Looks.",
  instructions: "Look.",
  tools: ["read_file", "list_files"],
};
const look: readonly ScriptedTurn[] = [
  { text: "", calls: [{ name: "read_file", input: { path: "a.txt" } }] },
  "It says one.",
];

/** A workspace with one file and a home folder, and a function that runs a task there. */
function fresh() {
  const place = join(root, String(++number));
  const [cwd, home] = [join(place, "work"), join(place, "home")];
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, "a.txt"), "one\n");
  let now = Date.parse("2026-01-01");
  const crew = (more: CrewOptions = {}): Crew =>
    createCrew({ cwd, home, userHome: place, discover: false, env: {}, ...more });
  const run = async ({
    agent = scout,
    task = "Read a.txt.",
    reuse = true,
    turns = look,
    name = "m",
  }: {
    agent?: Agent;
    task?: string;
    reuse?: boolean;
    turns?: readonly ScriptedTurn[];
    name?: string;
  } = {}) => {
    const model = scripted(...turns);
    const it = crew({ agents: [agent], models: { [name]: model }, clock: () => now }).run(
      { mode: "single", agent: "scout", task },
      { reuse },
    );
    const events: Event[] = await collect(it);
    return { ...(await it), reused: events.find(({ type }) => type === "node.reused"), asked: model.requests.length };
  };
  return { cwd, home, crew, run, pass: (ms: number) => (now += ms) };
}

test("the result of an earlier run is reused and reported when nothing has changed", async () => {
  const { run } = fresh();
  const first = await run();
  expect(first).toMatchObject({ status: "ok", asked: 2 });
  const second = await run({ turns: ["never asked"] });
  expect(second).toMatchObject({
    status: "ok",
    output: "It says one.",
    asked: 0,
    reused: { from: `${first.id}/scout` },
  });
});

test("without --reuse no result is reused", async () => {
  const { run } = fresh();
  await run();
  expect(await run({ reuse: false, turns: ["asked"] })).toMatchObject({ output: "asked", asked: 1 });
});

test.each([
  ["the input", { task: "Read a.txt twice." }],
  ["the instructions", { agent: { ...scout, instructions: "Look closely." } }],
  ["the tools", { agent: { ...scout, tools: ["read_file"] } }],
  ["a ban", { agent: { ...scout, disallowedTools: ["read_file"] } }],
  ["the model", { name: "other" }],
])("a result is not reused when %s changed", async (_, changed) => {
  const { run } = fresh();
  await run();
  const again = await run({ ...changed, turns: ["asked"] });
  expect(again).toMatchObject({ output: "asked", asked: 1 });
  expect(again.reused).toBeUndefined();
});

test("a result is not reused when a file that it read has changed, and is reused when the file is as before", async () => {
  const { run, cwd } = fresh();
  await run();
  writeFileSync(join(cwd, "a.txt"), "two\n");
  expect(await run({ turns: ["It says two."] })).toMatchObject({ output: "It says two.", asked: 1 });
  writeFileSync(join(cwd, "a.txt"), "one\n");
  expect((await run({ turns: ["never"] })).asked).toBe(0);
});

test("a result is not reused when a folder that it listed has another file", async () => {
  const { run, cwd } = fresh();
  const list: readonly ScriptedTurn[] = [{ text: "", calls: [{ name: "list_files", input: {} }] }, "One file."];
  await run({ turns: list });
  writeFileSync(join(cwd, "b.txt"), "two\n");
  expect((await run({ turns: ["Two files."] })).output).toBe("Two files.");
});

test("the result of a failed task is never reused", async () => {
  const { run } = fresh();
  await run({ turns: [{ error: { code: "MODEL_AUTH", message: "no", retryable: false } }] });
  expect((await run({ turns: ["asked"] })).asked).toBe(1);
});

test("a result is reused for a task at another position in the plan", async () => {
  const { run } = fresh();
  await run({ task: "a", turns: ["A"] });
  await run({ task: "b", turns: ["B"] });
  expect((await run({ task: "b", turns: [] })).output).toBe("B");
  expect((await run({ task: "a", turns: [] })).output).toBe("A");
});

test("an agent with a cache reuses its results for the configured time, and no longer", async () => {
  const { run, pass } = fresh();
  const cached: Agent = { ...scout, cacheMs: 600_000 };
  await run({ agent: cached, reuse: false });
  pass(300_000);
  expect((await run({ agent: cached, reuse: false, turns: ["never"] })).asked).toBe(0);
  pass(400_000);
  expect((await run({ agent: cached, reuse: false, turns: ["asked"] })).asked).toBe(1);
});

test("an answer from the network is reused only by an agent with a cache, whose files must still be the same", async () => {
  const { crew, cwd } = fresh();
  const weather = defineTool({
    name: "weather",
    description: "Tells the weather.",
    input: z.object({}),
    effect: "read",
    does: "net",
    run: () => "sun",
  });
  const asks = async (more: Partial<Agent>): Promise<number> => {
    const turn = { text: "", calls: ["weather", "read_file"].map((name) => ({ name, input: { path: "a.txt" } })) };
    const model = scripted(turn, "Sun.");
    const agents = [{ ...scout, tools: ["weather", "read_file"], ...more }];
    const options = { tools: [weather], permissions: { allow: ["weather"] }, clock: () => 0 };
    await crew({ agents, models: { m: model }, ...options }).run(
      { mode: "single", agent: "scout", task: "Weather?" },
      { reuse: true },
    );
    return model.requests.length;
  };
  expect([await asks({}), await asks({})]).toEqual([2, 2]);
  const cached = { cacheMs: 600_000 };
  expect(await asks(cached)).toBe(0);
  writeFileSync(join(cwd, "a.txt"), "two\n");
  expect(await asks(cached)).toBe(2);
});

test("a cache is not used for an agent that can change something", async () => {
  const { run } = fresh();
  const writer: Agent = { ...scout, tools: ["read_file", "write_file"], cacheMs: 600_000 };
  await run({ agent: writer, reuse: false });
  expect((await run({ agent: writer, reuse: false, turns: ["asked"] })).asked).toBe(1);
});

test("results of two agents with the same prompt are stored separately", async () => {
  const { run } = fresh();
  const other: Agent = { ...scout, instructions: "Other." };
  await run({ turns: ["first"] });
  await run({ agent: other, turns: ["second"] });
  expect((await run({ turns: [] })).output).toBe("first");
  expect((await run({ agent: other, turns: [] })).output).toBe("second");
});

test("the result of a run without reuse can be reused by later runs, and needs no file besides the journal", async () => {
  const { run, home } = fresh();
  const first = await run({ reuse: false });
  expect(readdirSync(home)).not.toContain("results.jsonl");
  expect(await run({ turns: ["never asked"] })).toMatchObject({ asked: 0, reused: { from: `${first.id}/scout` } });
});

test("a reused result is traced to the task that created it, and is not used once a file that this task read has changed", async () => {
  const { run, cwd } = fresh();
  const first = await run();
  await run({ turns: [] });
  expect((await run({ turns: [] })).reused).toMatchObject({ from: `${first.id}/scout` });
  writeFileSync(join(cwd, "a.txt"), "two\n");
  expect(await run({ turns: ["It says two."] })).toMatchObject({ output: "It says two.", asked: 1 });
});

test("the result of a deleted run is not found", async () => {
  const { run, crew } = fresh();
  const [first] = [await run(), await run({ task: "Read it again." })];
  await crew().kept.remove(first.id);
  expect(await run({ turns: ["asked"] })).toMatchObject({ asked: 1 });
  expect(await run({ task: "Read it again.", turns: ["never asked"] })).toMatchObject({ asked: 0 });
});

test("an answer from a run with a denied call is not reused once the denial is gone", async () => {
  const { crew } = fresh();
  const ask = async (turns: readonly ScriptedTurn[], deny: string[]) => {
    const model = scripted(...turns);
    const it = crew({ agents: [scout], models: { m: model }, permissions: { deny } }).run(
      { mode: "single", agent: "scout", task: "Read a.txt." },
      { reuse: true },
    );
    return { ...(await it), asked: model.requests.length };
  };
  const refused = [look[0]!, "I could not read it."];
  expect(await ask(refused, ["read_file(a.txt)"])).toMatchObject({ output: "I could not read it." });
  expect(await ask(look, [])).toMatchObject({ output: "It says one.", asked: 2 });
  expect(await ask(["never"], [])).toMatchObject({ output: "It says one.", asked: 0 });
  expect((await ask(refused, ["read_file(a.txt)"])).asked).toBe(2);
});

test("a call with invalid arguments prevents the reuse of a result", async () => {
  const { run } = fresh();
  await run({ turns: [{ calls: [{ name: "read_file", input: { path: 7 } }] }, "It failed."] });
  expect(await run()).toMatchObject({ output: "It says one.", asked: 2 });
});

test("a reused result reports the saved cost", async () => {
  const { run } = fresh();
  await run();
  const { reused } = await run({ turns: ["never"] });
  expect(reused).toMatchObject({ saved: { usage: { turns: 2 } } });
});

test("a reused result keeps its data and its model", async () => {
  const { run } = fresh();
  const agent = { ...scout, output: { type: "object", properties: { n: { type: "number" } } } };
  const turns = [{ text: "", calls: [{ name: "complete_task", input: { result: { n: 1 } } }] }];
  const first = await run({ agent, turns });
  expect(first.nodes["scout"]).toMatchObject({ status: "ok", data: { n: 1 }, model: expect.stringContaining("m") });
  const { data, model } = first.nodes["scout"] as { data: unknown; model: string };
  const second = await run({ agent, turns: [] });
  expect(second.asked).toBe(0);
  expect(second.nodes["scout"]).toMatchObject({ data, model });
});

test("the result of a task that failed is not reused", async () => {
  const { run } = fresh();
  const fault = { code: "MODEL_REFUSED", message: "no", retryable: false } as const;
  expect((await run({ turns: [{ error: fault }] })).status).toBe("failed");
  expect(await run()).toMatchObject({ status: "ok", output: "It says one.", asked: 2, reused: undefined });
});
