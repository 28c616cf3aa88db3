import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { emptyTask, pegasusStatus, readPegasusLog } from "../../src/core/run/pegasus-log.ts";
import {
  nextState,
  stateClasses,
  type TaskEvent,
  type TaskState,
  taskStatesOf,
} from "../../src/core/run/task-states.ts";
import { createCrew } from "../../src/crew.ts";
import { type Script, scripted } from "../../src/models/scripted/scripted.ts";
import { cases } from "./harness.ts";

const root = mkdtempSync(join(tmpdir(), "subcrew-001-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const agent = { name: "scout", description: "Looks.", instructions: "Look.", tools: ["list_files"] };
const crewWith = (...turns: readonly Script[]) =>
  createCrew({
    cwd: root,
    home: join(root, "home"),
    userHome: root,
    discover: false,
    agents: [agent],
    models: { m: scripted(...turns) },
    env: {},
  });

type Move = {
  state?: TaskState;
  event?: TaskEvent;
  suspendedState?: TaskState;
  plan_steps?: { type?: string; completed: boolean }[];
};
type Moved = { to?: TaskState; throws?: string; canTransition?: boolean };

test.each(cases<Move, Moved>("001-pegasus", "task-fsm"))("task-fsm: $name", ({ input, want }) => {
  if (input.state === undefined || input.event === undefined) return expect(stateClasses).toEqual(want);
  const place = {
    ...(input.suspendedState && { suspendedState: input.suspendedState }),
    ...(input.plan_steps && { steps: input.plan_steps }),
  };
  const next = nextState(input.state, input.event, place);
  expect(next !== undefined).toBe(want.canTransition);
  expect(next).toBe(want.to);
});

test("the states of a run's tasks are a view of its events", async () => {
  const run = crewWith({ text: "", calls: [{ name: "list_files", input: {} }] }, "Done.").run({
    mode: "single",
    agent: "scout",
    task: "x",
  });
  const seen: (TaskState | undefined)[] = [];
  const events = [];
  for await (const event of run) {
    events.push(event);
    const now = taskStatesOf(events).get("scout");
    if (now !== undefined && seen.at(-1) !== now) seen.push(now);
  }
  expect(seen).toEqual(["idle", "reasoning", "acting", "reasoning", "completed"]);
});

test.each(cases<{ jsonl: unknown[] }, object>("001-pegasus", "persistence-replay"))(
  "persistence-replay: $name",
  ({ input, want }) => {
    expect(readPegasusLog("t1", input.jsonl)).toEqual(want);
  },
);

test.each(cases<object, Record<string, unknown>>("001-pegasus", "task-context"))("task-context: $name", ({ want }) => {
  const { plan: _plan, ...rest } = want; // ours has its plan in the run
  expect(emptyTask("t1")).toMatchObject(rest);
});

test.each(cases<{ pending?: { taskId: string }[]; taskId?: string }, object>("001-pegasus", "persistence-layout"))(
  "persistence-layout: $name",
  async ({ input, want }) => {
    if (input.pending) return expect({ status: pegasusStatus(["TASK_CREATED"], false) }).toEqual(want);
    const run = crewWith("Done.").run({ mode: "single", agent: "scout", task: "x" });
    await run;
    const home = join(root, "home");
    const [journal = ""] = readdirSync(home, { recursive: true, encoding: "utf8" }).filter(
      (name) => name.includes(run.id) && name.endsWith(".jsonl"),
    );
    const [line = ""] = readFileSync(join(home, journal), "utf8").split("\n");
    expect({ journal: journal.replace(run.id, "<id>"), line_fields: Object.keys(JSON.parse(line) as object) }).toEqual(
      want,
    );
  },
);

test.each(cases<{ logs?: Record<string, string[]> }, Record<string, string>>("001-pegasus", "resume"))(
  "resume: $name",
  async ({ input, want }) => {
    if (input.logs) {
      const listed = Object.entries(input.logs).map(([id, events]) => [id, pegasusStatus(events, true)]);
      return expect(Object.fromEntries(listed)).toEqual(want);
    }
    const crew = crewWith({ error: { code: "MODEL_AUTH", message: "no", retryable: false } });
    const run = crew.run({ mode: "single", agent: "scout", task: "x" });
    await run;
    const asked = { run: run.id, prompt: "more", allowFailed: false };
    const pattern = (text: string | undefined): RegExp => new RegExp((text ?? "").replace(/^\/|\/i$/g, ""), "i");
    await expect(crew.continuing({ ...asked, path: "none" })).rejects.toThrow(pattern(want["unknown_task"]));
    await expect(crew.continuing(asked)).rejects.toThrow(pattern(want["failed_task"]));
  },
);
