import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Answer } from "../../../src/core/plan/gate.ts";
import { type Crew, createCrew, defineAgent, type Event, type Result } from "../../../src/index.ts";
import { type Script, type ScriptedModel, scripted } from "../../../src/models/scripted/scripted.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const write = (content: string): Script => ({ calls: [{ name: "write_file", input: { path: "a.txt", content } }] });

type Approved = Readonly<{
  result: Result;
  model: ScriptedModel;
  events: readonly Event[];
  questions: readonly string[];
  cwd: string;
}>;

/** A team with one task that needs approval, and the answers that it gets. */
async function approve(
  turns: readonly Script[],
  answers: readonly Answer[],
  { tools = ["read_file", "write_file"], home = false, task = {}, reviewer = [] as readonly Script[] } = {},
): Promise<Approved> {
  const cwd = tempFolder();
  const model = scripted(...turns);
  const crew = createCrew({
    cwd,
    home: home ? tempFolder() : false,
    discover: false,
    env: {},
    agents: [
      defineAgent({ name: "dev", description: "d", instructions: "i", model: "m", tools }),
      defineAgent({ name: "rev", description: "d", instructions: "i", model: "r", tools: [] }),
    ],
    models: { m: model, r: scripted(...reviewer) },
    permissions: { mode: "acceptEdits" },
    unattended: false,
  });
  const run = crew.run({
    mode: "team",
    team: {
      members: [
        { role: "dev", agent: "dev" },
        { role: "rev", agent: "rev" },
      ],
      tasks: [{ id: "build", task: "Build it.", assignee: "dev", requiresApproval: true, ...task }],
    },
  });
  const events: Event[] = [];
  const questions: string[] = [];
  for await (const event of run) {
    events.push(event);
    if (event.type !== "gate.opened") continue;
    questions.push(event.question);
    expect(existsSync(join(cwd, "a.txt"))).toBe(false); // no file was changed before the approval
    await run.answer(event.path, answers[questions.length - 1]!, event.call);
  }
  return { result: await run, model, events, questions, cwd };
}

const toolsOf = (model: ScriptedModel, turn: number): readonly string[] =>
  model.requests[turn]!.tools.map(({ name }) => name);

test.each([false, true])(
  "a plan is approved first, and the same conversation continues with all tools (kept: %s)",
  async (home) => {
    const turns = ["My plan: write a.txt.", write("done\n"), "Wrote it."];
    const { result, model, questions, cwd } = await approve(turns, [{ approve: true, text: "go ahead" }], { home });
    expect(result).toMatchObject({ status: "ok", output: "Wrote it." });
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("done\n");
    expect(questions).toEqual([expect.stringContaining("My plan: write a.txt.")]);
    expect(toolsOf(model, 0)).toEqual(["read_file"]);
    expect(toolsOf(model, 1)).toEqual(["read_file", "write_file"]);
    const [first, second] = [model.requests[0]!.messages, model.requests[1]!.messages];
    expect(second.slice(0, first.length)).toEqual(first);
    expect(second.slice(first.length)).toMatchObject([
      { role: "assistant", text: "My plan: write a.txt." },
      { role: "user", text: expect.stringContaining("go ahead") },
    ]);
  },
);

test("a call that writes before the plan is approved is denied", async () => {
  const { result, events, cwd } = await approve([write("early\n"), "My plan.", "Done."], [{ approve: true }]);
  expect(events.find(({ type }) => type === "tool.denied")).toMatchObject({ tool: "write_file", path: "build.1/plan" });
  expect(result).toMatchObject({ status: "ok", output: "Done." });
  expect(existsSync(join(cwd, "a.txt"))).toBe(false);
});

test("a plan that is rejected with a reason is revised; a rejection without a reason ends the task", async () => {
  const again = await approve(
    ["Plan A.", "Plan B.", write("b\n"), "Did B."],
    [{ approve: false, text: "smaller" }, { approve: true }],
  );
  expect(again.result).toMatchObject({ status: "ok", output: "Did B." });
  expect(JSON.stringify(again.model.requests[1]!.messages)).toContain("smaller");
  const never = await approve(["Plan A."], [{ approve: false }]);
  expect(never.result.nodes["build"]).toMatchObject({
    status: "failed",
    fault: { code: "REJECTED" },
    output: "Plan A.",
  });
  expect(existsSync(join(never.cwd, "a.txt"))).toBe(false);
});

test("if the agent has no writing tools, the approved plan is the result, and no further turn is taken", async () => {
  const { result, model } = await approve(["The report."], [{ approve: true }], { tools: ["read_file"] });
  expect(result).toMatchObject({ status: "ok", output: "The report." });
  expect(model.requests).toHaveLength(1);
});

test("approved work is reviewed, and the reviewer reads the task", async () => {
  const { result } = await approve(
    ["Plan.", write("one\n"), "First.", write("two\n"), "Second."],
    [{ approve: true }],
    { task: { review: { reviewer: "rev" } }, reviewer: ["more\nREVISION_NEEDED", "APPROVED"] },
  );
  expect(result).toMatchObject({ status: "ok", output: "Second." });
  expect(result.nodes["build.1/work"]).toMatchObject({ approved: true, reviews: [{}, {}] });
});

const lastText = (model: ScriptedModel, request: number): string => {
  const last = model.requests[request]!.messages.at(-1);
  return last?.role === "user" ? last.text : "";
};

test("a revision after the approval is asked for with the task, the work, the findings and the changed files", async () => {
  const { model } = await approve(["Plan.", write("one\n"), "First.", write("two\n"), "Second."], [{ approve: true }], {
    home: true,
    task: { review: { reviewer: "rev" } },
    reviewer: ["no tests\nREVISION_NEEDED", "APPROVED"],
  });
  const asked = lastText(model, 3);
  for (const part of ["Build it.", "First.", "no tests", "a.txt (created)"]) expect(asked).toContain(part);
  expect(asked).not.toContain("The decision about your plan");
});

test("after a rejected plan, the approved plan is carried out before anything is revised", async () => {
  const { model } = await approve(
    ["Plan A.", "Plan B.", write("b\n"), "Did B.", "Did B again."],
    [
      { approve: false, text: "smaller" },
      { approve: true, text: "go" },
    ],
    { task: { review: { reviewer: "rev" } }, reviewer: ["more\nREVISION_NEEDED", "APPROVED"] },
  );
  const texts = model.requests.map((_, at) => lastText(model, at));
  expect(texts[1]).toContain("Plan A.");
  expect(texts[2]).toContain("The decision about your plan: go");
  expect(texts[2]).not.toContain("Plan A.");
  expect(texts[4]).toContain("Did B.");
});

test.each([
  ["the answer was recorded", "gate.answered", "build.1/approval"],
  ["the approval had ended", "node.ended", "build.1/approval"],
  ["the work had begun", "node.started", "build.1/work"],
  ["the first turn of the work was requested", "turn.started", "build.1/work"],
])("a crash after %s: the approved plan is executed, and no person is asked again", async (_when, type, path) => {
  const [home, cwd] = [tempFolder(), tempFolder()];
  const crewWith = (model: ScriptedModel): Crew =>
    createCrew({
      cwd,
      home,
      discover: false,
      env: {},
      agents: [defineAgent({ name: "dev", description: "d", instructions: "i", model: "m", tools: ["write_file"] })],
      models: { m: model },
      permissions: { mode: "acceptEdits" },
      unattended: false,
    });
  const team = { tasks: [{ id: "build", task: "Build it.", agent: "dev", requiresApproval: true }] };
  const first = scripted("My plan: write a.txt.", write("never\n"), "Done.");
  const run = crewWith(first).run({ mode: "team", team });
  for await (const event of run)
    if (event.type === "gate.opened") await run.answer(event.path, { approve: true, text: "go ahead" }, event.call);
  const journal = join(home, "runs", run.id, "journal.jsonl");
  const lines = readFileSync(journal, "utf8").split("\n");
  const last = lines.findIndex((line) => line.includes(`"type":"${type}"`) && line.includes(`"path":"${path}"`));
  expect(last).toBeGreaterThan(0);
  writeFileSync(journal, `${lines.slice(0, last + 1).join("\n")}\n`);
  rmSync(join(cwd, "a.txt"));
  const model = scripted(write("done\n"), "Wrote it.");
  const resumed = crewWith(model).resume(run.id);
  const opened: string[] = [];
  for await (const event of resumed) if (event.type === "gate.opened") opened.push(event.path);
  expect(await resumed).toMatchObject({ status: "ok", output: "Wrote it." });
  expect(opened).toEqual(["build.1/approval"]); // the recorded event is published again, and no new question is asked
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("done\n");
  expect(toolsOf(model, 0)).toEqual(["write_file"]);
  expect(model.requests[0]!.messages).toEqual(first.requests[1]!.messages);
  expect(JSON.stringify(model.requests[0]!.messages)).toMatch(/Build it\..*My plan: write a\.txt\..*go ahead/);
});

test("after a crash during the second review, the revision is not done again", async () => {
  const [home, cwd] = [tempFolder(), tempFolder()];
  const crewWith = (dev: ScriptedModel, rev: ScriptedModel): Crew =>
    createCrew({
      cwd,
      home,
      discover: false,
      env: {},
      agents: [
        defineAgent({ name: "dev", description: "d", instructions: "i", model: "m", tools: ["write_file"] }),
        defineAgent({ name: "rev", description: "d", instructions: "i", model: "r", tools: [] }),
      ],
      models: { m: dev, r: rev },
      permissions: { mode: "acceptEdits" },
    });
  const members = [{ role: "rev", agent: "rev" }];
  const tasks = [{ id: "build", task: "Build it.", agent: "dev", review: { reviewer: "rev" } }];
  const dev = scripted(write("one\n"), "First.", write("two\n"), "Second.");
  const run = crewWith(dev, scripted("more\nREVISION_NEEDED", "APPROVED")).run({
    mode: "team",
    team: { members, tasks },
  });
  await run;
  const journal = join(home, "runs", run.id, "journal.jsonl");
  const lines = readFileSync(journal, "utf8").split("\n");
  const last = lines.findIndex((line) => line.includes('"node.started"') && line.includes('"build.2/review"'));
  expect(lines.find((line) => line.includes('"node.started"') && line.includes('"build.2/work"'))).toContain("a.txt");
  writeFileSync(journal, `${lines.slice(0, last + 1).join("\n")}\n`);
  const [never, reviewer] = [scripted(), scripted("APPROVED")];
  const result = await crewWith(never, reviewer).resume(run.id);
  expect(result).toMatchObject({ status: "ok", output: "Second." });
  expect(never.requests).toHaveLength(0);
  const asked = lastText(reviewer, 0);
  for (const part of ["a.txt (created)", "more", "Second."]) expect(asked).toContain(part);
});

test("an approved plan whose work no review approved is not approved, and its usage is that of all its tasks", async () => {
  const { result } = await approve(["Plan.", "First.", "Second."], [{ approve: true }], {
    task: { review: { reviewer: "rev", maxIterations: 2 } },
    reviewer: ["more\nREVISION_NEEDED", "more\nREVISION_NEEDED"],
  });
  expect(result.nodes["build"]).toMatchObject({ approved: false, reviews: [{}, {}], usage: { turns: 5 } });
  expect(result.approved).toBe(false);
});
