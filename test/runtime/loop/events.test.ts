import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { createCrew, defineAgent, defineTool, type Event, type Run } from "../../../src/index.ts";
import { type Script, scripted } from "../../../src/models/scripted/scripted.ts";
import { JOURNAL_FILE } from "../../../src/runtime/store/layout.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const call = (name: string, input: object): Script => ({ calls: [{ name, input, id: "c1" }] });
const done: string[] = [];
const leave = defineTool({
  name: "leave",
  description: "leaves",
  input: z.object({ line: z.string() }),
  effect: "write",
  run: ({ line }) => {
    done.push(line);
    return "left";
  },
});

async function eventsOf(run: Run): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const event of run) events.push(event);
  return events;
}

test("a call with invalid arguments is an event with the reason, and is not run", async () => {
  done.splice(0);
  const worker = defineAgent({ name: "worker", description: "d", instructions: "i", model: "m" });
  const m = scripted(call("leave", { line: 4 }), "gave up");
  const crew = createCrew({ home: false, discover: false, env: {}, agents: [worker], tools: [leave], models: { m } });
  const events = await eventsOf(crew.run({ mode: "single", agent: "worker", task: "Go." }));
  const rejected = events.filter(({ type }) => type === "tool.rejected");
  expect(rejected).toEqual([
    expect.objectContaining({ call: "c1", tool: "leave", reason: expect.stringContaining("line") }),
  ]);
  expect(events.some(({ type }) => type === "tool.started")).toBe(false);
  expect(done).toEqual([]);
});

test("a writing call that a crash interrupted is an event of the resumed run, once", async () => {
  const home = tempFolder();
  const worker = defineAgent({ name: "worker", description: "d", instructions: "i", model: "m" });
  const crewWith = (...turns: readonly Script[]) =>
    createCrew({
      home,
      discover: false,
      env: {},
      agents: [worker],
      tools: [leave],
      models: { m: scripted(...turns) },
      permissions: { mode: "bypass" },
    });
  const first = crewWith(call("leave", { line: "x" }), "ended");
  const { id } = await first.run({ mode: "single", agent: "worker", task: "Go." });
  const file = join(home, "runs", id, JOURNAL_FILE);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const started = lines.findIndex((line) => line.includes('"tool.started"'));
  writeFileSync(file, `${lines.slice(0, started + 1).join("\n")}\n`);
  const events = await eventsOf(crewWith("checked").resume(id));
  expect(events.filter(({ type }) => type === "tool.unknown")).toEqual([
    expect.objectContaining({ call: "c1", tool: "leave", path: "worker" }),
  ]);
  expect(await crewWith().resume(id)).toMatchObject({ status: "ok", output: "checked" });
  const whole = readFileSync(file, "utf8");
  expect(whole.match(/"tool\.unknown"/g)).toHaveLength(1);
});

test("a helper with fewer tools than its file names reports them with the reason", async () => {
  const lead = defineAgent({
    name: "lead",
    description: "d",
    instructions: "i",
    model: "lead",
    tools: ["task", "read_file", "glob"],
    spawns: ["scribe"],
  });
  const scribe = defineAgent({
    name: "scribe",
    description: "d",
    instructions: "i",
    model: "scribe",
    tools: ["read_file", "write_file", "glob"],
  });
  const models = {
    lead: scripted(
      {
        calls: [{ name: "task", input: { agent: "scribe", tasks: [{ id: "a", description: "d", assignment: "w" }] } }],
      },
      "ok",
    ),
    scribe: scripted("looked"),
  };
  const crew = createCrew({
    home: false,
    cwd: tempFolder(),
    discover: false,
    env: {},
    agents: [lead, scribe],
    models,
    permissions: { mode: "plan" },
  });
  const events = await eventsOf(crew.run({ mode: "single", agent: "lead", task: "Go." }));
  const reduced = events.filter((event) => event.type === "rights.reduced");
  expect(reduced).toEqual([expect.objectContaining({ agent: "scribe", lost: ["write_file"] })]);
});

test("an agent from a file that had to be repaired reports that it may only read", async () => {
  const cwd = tempFolder();
  mkdirSync(join(cwd, ".subcrew", "agents"), { recursive: true });
  writeFileSync(
    join(cwd, ".subcrew", "agents", "odd.md"),
    "---\n? [\nname: odd\ndescription: d\nmodel: m\n---\nBody\n",
  );
  const m = scripted("looked");
  const crew = createCrew({ cwd, home: tempFolder(), userHome: tempFolder(), trusted: true, env: {}, models: { m } });
  const events = await eventsOf(crew.run({ mode: "single", agent: "odd", task: "Go.", model: "m" }));
  expect(events.find((event) => event.type === "rights.reduced")).toMatchObject({ agent: "odd", path: "odd" });
});
