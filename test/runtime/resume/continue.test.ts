import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Agent } from "../../../src/core/agent/agent.ts";
import { createCrew } from "../../../src/crew.ts";
import type { Crew } from "../../../src/crew/crew-type.ts";
import { type Script, type ScriptedModel, scripted } from "../../../src/models/scripted/scripted.ts";
import { collect } from "../../support/collect.ts";

const root = mkdtempSync(join(tmpdir(), "subcrew-continue-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let number = 0;
const home = (): string => join(root, `home-${++number}`);

const scout: Agent = { name: "scout", description: "Looks.", instructions: "Look.", tools: ["list_files"] };

const crewOf = (
  model: ScriptedModel,
  where: string,
  { agent = scout, clock, usual }: { agent?: Agent; clock?: () => number; usual?: ScriptedModel } = {},
): Crew =>
  createCrew({
    cwd: root,
    home: where,
    userHome: root,
    discover: false,
    agents: [agent],
    models: { ...(usual && { usual }), m: model },
    env: {},
    ...(usual && { model: "usual" }),
    ...(clock && { clock }),
  });

async function ended(crew: Crew): Promise<string> {
  const run = crew.run({ mode: "single", agent: "scout", task: "What is there?" });
  await run;
  return run.id;
}

test("an ended task is continued in a new run with its conversation, agent and model", async () => {
  const where = home();
  const first = scripted({ text: "I look.", calls: [{ name: "list_files", input: {} }] }, "Two files.");
  const id = await ended(crewOf(first, where));

  const second = scripted("And a third.");
  const usual = scripted("The model of other tasks.");
  const crew = crewOf(second, where, { usual });
  const { plan, continues } = await crew.continuing({ run: id, prompt: "Now also hidden ones.", allowFailed: false });
  expect(continues).toBe(`${id}/scout`);
  const run = crew.run(plan, { continues });
  expect(await run).toMatchObject({ status: "ok", output: "And a third." });
  expect(run.state.continues).toBe(`${id}/scout`);
  const [asked] = second.requests;
  expect(asked?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
  expect(asked?.messages.at(0)).toMatchObject({ text: "What is there?" });
  expect(asked?.messages.at(-1)).toMatchObject({ text: "Now also hidden ones." });
  expect(asked?.tools.map(({ name }) => name)).toEqual(["list_files"]);
  expect(asked?.system).toContain("Look.");
  expect(run.state.nodes.get("scout")).toMatchObject({ agent: "scout", model: "m" });
  expect(usual.requests).toEqual([]);

  const third = scripted("Fourth.");
  const again = crewOf(third, where);
  const next = await again.continuing({ run: run.id, prompt: "More.", allowFailed: false });
  await again.run(next.plan, { continues: next.continues });
  expect(third.requests[0]?.messages).toHaveLength(7);
});

test("a changed agent is used as recorded, and this is reported; permissions never grow", async () => {
  const where = home();
  const id = await ended(crewOf(scripted("Two."), where));
  const wider: Agent = { ...scout, tools: ["list_files", "write_file", "bash"], instructions: "Write." };

  const model = scripted(
    { text: "", calls: [{ name: "write_file", input: { path: "x", content: "y" } }] },
    "Could not.",
  );
  const crew = crewOf(model, where, { agent: wider });
  const { plan, continues } = await crew.continuing({ run: id, prompt: "Write x.", allowFailed: false });
  const events = await collect(crew.run(plan, { continues }));
  expect(events).toContainEqual(expect.objectContaining({ type: "warning", code: "AGENT_CHANGED" }));
  expect(events).toContainEqual(expect.objectContaining({ type: "tool.denied", tool: "write_file" }));
  expect(model.requests[0]?.system).toContain("Look.");

  const fresh = scripted(
    { text: "", calls: [{ name: "write_file", input: { path: "x", content: "y" } }] },
    "Could not.",
  );
  const refreshed = crewOf(fresh, where, { agent: wider });
  const more = await refreshed.continuing({ run: id, prompt: "Write x.", allowFailed: false });
  const seen = await collect(refreshed.run(more.plan, { continues: more.continues, refreshAgent: true }));
  expect(seen).toContainEqual(
    expect.objectContaining({ type: "note", text: expect.stringContaining("uses its current definition") }),
  );
  expect(seen).toContainEqual(expect.objectContaining({ type: "tool.denied", tool: "write_file" }));
  expect(fresh.requests[0]?.system).toContain("Write.");
  expect(fresh.requests[0]?.tools.map(({ name }) => name)).toEqual(["list_files"]);
});

test("a failed task is continued only on request", async () => {
  const where = home();
  const failing = scripted({ error: { code: "MODEL_AUTH", message: "no key", retryable: false } });
  const id = await ended(crewOf(failing, where));
  const crew = crewOf(scripted("Better."), where);
  await expect(crew.continuing({ run: id, prompt: "Again.", allowFailed: false })).rejects.toMatchObject({
    code: "NOT_RESUMABLE",
    message: expect.stringMatching(/can only resume COMPLETED/i),
  });
  const { plan, continues } = await crew.continuing({ run: id, prompt: "Again.", allowFailed: true });
  expect(await crew.run(plan, { continues })).toMatchObject({ status: "ok", output: "Better." });
});

test("a task that is too old, or was continued too often, is refused", async () => {
  const where = home();
  let now = Date.parse("2026-01-01");
  const clock = (): number => now;
  const id = await ended(crewOf(scripted("Two."), where, { clock }));
  const crew = crewOf(scripted(...Array.from({ length: 9 }, () => "ok")), where, { clock });
  let from = id;
  for (let i = 0; i < 5; i++) {
    const { plan, continues } = await crew.continuing({ run: from, prompt: "More.", allowFailed: false });
    const run = crew.run(plan, { continues });
    await run;
    from = run.id;
  }
  await expect(crew.continuing({ run: id, prompt: "More.", allowFailed: false })).rejects.toMatchObject({
    message: "Resume quota exceeded (max 5).",
  });
  await expect(crew.continuing({ run: from, prompt: "More.", allowFailed: false })).rejects.toMatchObject({
    code: "NOT_RESUMABLE",
  });
  now += 7 * 24 * 60 * 60 * 1_000;
  await expect(crew.continuing({ run: id, prompt: "More.", allowFailed: false })).rejects.toMatchObject({
    message: "Resume quota exceeded (max 5).",
  });
  now += 1;
  await expect(crew.continuing({ run: id, prompt: "More.", allowFailed: false })).rejects.toMatchObject({
    message: "Session expired (>7 days old).",
  });
});

test("a run that does not exist cannot be continued, and the error names it", async () => {
  const crew = crewOf(scripted(), home());
  await expect(crew.continuing({ run: "run_nope", prompt: "More.", allowFailed: false })).rejects.toMatchObject({
    code: "UNKNOWN_RUN",
    message: 'Session not found: the run "run_nope" does not exist.',
  });
});

test("a run with several tasks needs a path", async () => {
  const where = home();
  const model = scripted("a", "b", "c");
  const crew = crewOf(model, where);
  const run = crew.run({
    mode: "parallel",
    tasks: [
      { agent: "scout", task: "x", name: "one" },
      { agent: "scout", task: "y", name: "two" },
    ],
  });
  await run;
  await expect(crew.continuing({ run: run.id, prompt: "More.", allowFailed: false })).rejects.toMatchObject({
    code: "BAD_INPUT",
  });
  await expect(
    crew.continuing({ run: run.id, path: "three", prompt: "More.", allowFailed: false }),
  ).rejects.toMatchObject({ code: "UNKNOWN_RUN", message: expect.stringMatching(/not found/i) });
  const { plan, continues } = await crew.continuing({ run: run.id, path: "two", prompt: "More.", allowFailed: false });
  await crew.run(plan, { continues });
  expect(model.requests[2]?.messages[0]).toMatchObject({ text: "y" });
});

test("a conversation that was summarised continues from the summary, and is not summarised again", async () => {
  const tooLong: Script = { error: { code: "MODEL_CONTEXT", message: "too long", retryable: false } };
  const model = scripted("one", "two", "three", "four", "five", tooLong, "the summary", "six", "seven");
  const crew = createCrew({
    cwd: root,
    home: home(),
    userHome: root,
    discover: false,
    env: {},
    agents: [{ name: "worker", description: "works", instructions: "Work." }],
    models: { m: model },
    model: "m",
  });
  let last = crew.run({ mode: "single", agent: "worker", task: "Message 1." });
  await last;
  for (const number of [2, 3, 4, 5, 6, 7]) {
    const limits = { maxContinuations: 99, expiresAfterDays: 99 };
    const next = { run: last.id, prompt: `Message ${number}.`, allowFailed: false, ...limits };
    const { plan, continues } = await crew.continuing(next);
    last = crew.run(plan, { continues });
    await last;
  }
  const texts = model.requests.at(-1)!.messages.map((message) => ("text" in message ? message.text : ""));
  expect(model.requests).toHaveLength(9);
  expect(texts).toEqual([
    "Message 1.",
    expect.stringContaining("the summary"),
    "three",
    "Message 4.",
    "four",
    "Message 5.",
    "five",
    "Message 6.",
    "six",
    "Message 7.",
  ]);
});
