import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Agent } from "../../../../src/core/agent/agent.ts";
import type { KeptEvent } from "../../../../src/core/run/event.ts";
import { defineTool } from "../../../../src/core/task/tool.ts";
import { createCrew } from "../../../../src/crew.ts";
import type { Crew } from "../../../../src/crew/crew-type.ts";
import { type ScriptedModel, type ScriptedTurn, scripted } from "../../../../src/models/scripted/scripted.ts";
import { JOURNAL_FILE } from "../../../../src/runtime/store/layout.ts";
import { decodeLine } from "../../../support/encode-line.ts";
import { place, script } from "../../command.ts";
import { tempFolder } from "../../../support/temp-folder.ts";

const STEPS = ["one", "two", "three", "four", "five"];

/** A crew whose only tools write a line when they run: one that changes something, and one that is read-only. */
function crewAt(home: string, model: ScriptedModel, worker: Partial<Agent> = {}): { crew: Crew; done: string[] } {
  const done: string[] = [];
  const leaves = (name: string, effect: "read" | "write") =>
    defineTool({
      name,
      description: "Leaves a line.",
      input: z.object({ line: z.string() }),
      effect,
      run: ({ line }) => {
        done.push(line);
        return `done: ${line}`;
      },
    });
  const crew = createCrew({
    cwd: home,
    home,
    discover: false,
    env: {},
    models: { m: model },
    tools: [leaves("leave", "write"), leaves("look", "read")],
    agents: [{ name: "worker", description: "Works.", instructions: "Work.", tools: ["leave", "look"], ...worker }],
    permissions: { mode: "bypass" },
  });
  return { crew, done };
}

const uses = (tool: string, line: string): ScriptedTurn => ({ text: "", calls: [{ name: tool, input: { line } }] });
const chain = { mode: "chain", chain: STEPS.map((task) => ({ agent: "worker", task })) } as const;
const turns = STEPS.flatMap((line) => [uses("leave", line), `${line} is done`]);

/**
 * Cuts a journal after a record, as if the process had been killed then: the run still has an owner. Returns the number
 * of records that are left.
 */
function killedAfter(home: string, id: string, isLast: (event: KeptEvent) => boolean): number {
  const file = join(home, "runs", id, JOURNAL_FILE);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const last = lines.findIndex((line) => isLast(decodeLine(line)!.event));
  writeFileSync(
    file,
    lines
      .slice(0, last + 1)
      .map((line) => `${line}\n`)
      .join(""),
  );
  return last + 1;
}

test("RES-01: a run that is killed after the third of five steps performs the other two, each once", async () => {
  const home = tempFolder();
  const first = crewAt(home, scripted(...turns));
  const run = first.crew.run(chain);
  await run;
  expect(first.done).toEqual(STEPS);
  killedAfter(home, run.id, (event) => event.type === "node.ended" && event.path === "worker-3");
  const second = crewAt(home, scripted(...turns.slice(6)));
  expect(await second.crew.resume(run.id)).toMatchObject({ status: "ok", output: "five is done" });
  expect(second.done).toEqual(["four", "five"]);
});

test.for([
  ["leave", [], /OUTCOME UNKNOWN: leave was running/],
  ["look", ["x"], /^done: x$/],
] as const)(
  "RES-02: %s was running at the kill: a write is not repeated and its outcome is reported as unknown, a read is repeated",
  async ([tool, again, told]) => {
    const home = tempFolder();
    const { crew } = crewAt(home, scripted(uses(tool, "x"), "finished"));
    const run = crew.run({ mode: "single", agent: "worker", task: "Go." });
    await run;
    killedAfter(home, run.id, (event) => event.type === "tool.started");
    const model = scripted("finished");
    const after = crewAt(home, model);
    expect(await after.crew.resume(run.id)).toMatchObject({ status: "ok", output: "finished" });
    expect(after.done).toEqual(again);
    expect(model.requests[0]?.messages.at(-1)).toMatchObject({ results: [{ text: expect.stringMatching(told) }] });
  },
);

test("calls of a turn that follow a call whose outcome is unknown are not carried out, and say so", async () => {
  const home = tempFolder();
  const [looks, leaves] = [(line: string) => uses("look", line), (line: string) => uses("leave", line)];
  const calls = [looks("a"), leaves("x"), looks("b"), leaves("y")].flatMap((one) =>
    typeof one === "string" ? [] : (one.calls ?? []),
  );
  const done = { name: "complete_task", input: { result: "all done" } };
  const script = [{ text: "", calls: [...calls, done] }, uses("leave", "z"), "checked"];
  const worker = { completion: "tool" } as const;
  const { crew } = crewAt(home, scripted(...script), worker);
  const run = crew.run({ mode: "single", agent: "worker", task: "Go." });
  await run;
  killedAfter(home, run.id, (event) => event.type === "tool.started" && event.tool === "leave");
  const model = scripted(...script.slice(1, 2), { calls: [done] });
  const after = crewAt(home, model, worker);
  expect(await after.crew.resume(run.id)).toMatchObject({ status: "ok" });
  expect(after.done).toEqual(["z"]);
  const answers = model.requests[0]?.messages.at(-1);
  const [look, left, ...behind] = answers?.role === "tool" ? answers.results : [];
  expect(look?.text).toBe("done: a");
  expect(left?.text).toMatch(/^OUTCOME UNKNOWN: leave/);
  expect(behind).toHaveLength(3);
  for (const { text } of behind)
    expect(text).toMatch(/^This call was not carried out: it follows a call of leave whose outcome is unknown\./);
});

test("RES-12: a run that is cancelled at any point of a resume ends once, and nothing starts afterwards", async () => {
  const origin = tempFolder();
  const run = crewAt(origin, scripted(...turns)).crew.run(chain);
  await run;
  const length = killedAfter(origin, run.id, (event) => event.type === "turn.ended" && event.path === "worker-4");
  for (let point = 0; point <= length; point += Math.ceil(length / 20)) {
    const home = tempFolder();
    cpSync(origin, home, { recursive: true });
    const { crew, done } = crewAt(home, scripted(...turns.slice(6)));
    const resumed = crew.resume(run.id);
    let seen = 0;
    let before = 0;
    for await (const _ of resumed) {
      if (seen++ !== point) continue;
      resumed.cancel("enough");
      before = done.length;
    }
    expect((await resumed).status).toBe("cancelled");
    expect(done).toHaveLength(before);
    const ends = readFileSync(join(home, "runs", run.id, JOURNAL_FILE), "utf8").match(/"type":"run\.ended"/g);
    expect(ends).toHaveLength(1);
  }
});

test("RES-08: a run is resumed in its own folder; when that is missing, it is reported and nothing runs", async () => {
  const at = place({
    "a.json": script({ calls: [{ name: "list_files", input: {} }] }, { text: "done", delayMs: 60 }),
  });
  const args = ["run", "general", "x", "--model", "scripted:a.json"];
  const killed = await at.run(args, { env: { SUBCREW_FAULT: "kill@journal.synced:1" } });
  expect(killed.signal).toBe("SIGKILL");
  const [id = ""] = readdirSync(join(at.home, "state/runs"));
  const moved = `${at.workspace}-moved`;
  renameSync(at.workspace, moved);
  const lost = await at.run(["resume", id], { cwd: at.home });
  expect(lost.code).toBe(2);
  expect(lost.stderr).toContain(`The folder of the run no longer exists: ${at.workspace}`);
  expect(existsSync(at.workspace)).toBe(false);
  renameSync(moved, at.workspace);
  expect(await at.run(["resume", id], { cwd: at.home })).toMatchObject({ code: 0, stdout: "done\n" });
  renameSync(at.workspace, moved); // showing the result of an ended run needs no workspace
  expect(await at.run(["resume", id], { cwd: at.home })).toMatchObject({ code: 0, stdout: "done\n" });
});
