import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventsOfPegasusLog } from "../../src/compat/pegasus/pegasus-log.ts";
import { nextState, type PegasusEvent, type PegasusState } from "../../src/compat/pegasus/pegasus-states.ts";
import { runStatusOf } from "../../src/core/run/run-status.ts";
import type { KeptEvent } from "../../src/core/run/event.ts";
import { emptyState, reduce, type State } from "../../src/core/run/state.ts";
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
  state?: PegasusState;
  event?: PegasusEvent;
  suspendedState?: PegasusState;
  plan_steps?: { type?: string; completed: boolean }[];
};
type Moved = { to?: PegasusState; reported?: string; throws?: string; canTransition?: boolean };

test.each(cases<Move, Moved>("001-pegasus", "task-fsm"))("task-fsm: $name", ({ input, want }) => {
  if (input.state === undefined || input.event === undefined) return expect(classesOf()).toEqual(want);
  const place = {
    ...(input.suspendedState && { suspendedState: input.suspendedState }),
    ...(input.plan_steps && { steps: input.plan_steps }),
  };
  const next = nextState(input.state, input.event, place);
  expect(next).toBe(want.to);
  const log = [...leadingTo[input.state], input.event].map((event) => ({ event, data: {} }));
  const warning = eventsOfPegasusLog("t1", log).find((event) => event.type === "warning");
  expect(warning === undefined).toBe(want.canTransition);
  // System 001 throws; subcrew only replays its logs, so it reports the record.
  if (want.throws === undefined) expect(warning?.text).toBe(want.reported);
  else expect({ throws: warning && "InvalidStateTransition" }).toEqual({ throws: want.throws });
});

/** The shortest log of a task in each state. */
const leadingTo: Readonly<Record<PegasusState, readonly PegasusEvent[]>> = {
  idle: [],
  reasoning: ["TASK_CREATED"],
  acting: ["TASK_CREATED", "REASON_DONE"],
  suspended: ["TASK_CREATED", "TASK_SUSPENDED"],
  completed: ["TASK_CREATED", "TASK_COMPLETED"],
  failed: ["TASK_CREATED", "TASK_FAILED"],
};

const states: readonly PegasusState[] = ["idle", "reasoning", "acting", "suspended", "completed", "failed"];
const eventNames: readonly PegasusEvent[] = [
  "TASK_CREATED",
  "REASON_DONE",
  "TOOL_CALL_COMPLETED",
  "TOOL_CALL_FAILED",
  "STEP_COMPLETED",
  "NEED_MORE_INFO",
  "MESSAGE_RECEIVED",
  "TASK_SUSPENDED",
  "TASK_RESUMED",
  "TASK_COMPLETED",
  "TASK_FAILED",
];

/** The final states, those that can be resumed, and those that can be suspended. */
const classesOf = () => ({
  terminal: states.filter((state) => eventNames.every((event) => nextState(state, event) === undefined)),
  resumable: states.filter((state) => state !== "suspended" && nextState(state, "TASK_RESUMED") !== undefined),
  suspendable: states.filter((state) => nextState(state, "TASK_SUSPENDED") !== undefined),
});

const folded = (lines: readonly unknown[]): State => eventsOfPegasusLog("t1", lines).reduce(reduce, emptyState("t1"));

type Restored = Readonly<{
  id?: string;
  description: string;
  inputText: string;
  source: string;
  taskType: string;
  messages: unknown[];
  finalResult: { response: string } | null;
  error: string | null;
  iteration: number;
  suspendedState?: string | null;
  plan?: object | null;
}>;

/** The state of a task after its log was read, in the words of the case. */
function restored(lines: readonly unknown[]): Required<Restored> {
  const events = eventsOfPegasusLog("t1", lines);
  const state = events.reduce(reduce, emptyState("t1"));
  const [view] = state.nodes.values();
  const started = events.find((event) => event.type === "node.started");
  const run = events.find((event) => event.type === "run.started");
  const { outcome } = state;
  const inputText = started?.prompt ?? "missing";
  return {
    id: run?.run ?? "missing",
    description: started?.label ?? "",
    inputText,
    source: run?.origin?.caller ?? "missing",
    taskType: view?.agent ?? "missing",
    messages: messagesIn(events, inputText),
    finalResult: outcome?.status === "ok" ? { response: outcome.output } : null,
    error: outcome?.status === "failed" ? outcome.fault.message : null,
    iteration: view?.usage.turns ?? 0,
    suspendedState: events.flatMap((event) => suspendedIn(event) ?? []).at(-1) ?? null,
    plan: events.find((event) => event.type === "plan.changed") ?? null,
  };
}

const suspendedIn = (event: KeptEvent): string | undefined =>
  event.type === "note" ? /^suspended while (\w+)/.exec(event.text)?.[1] : undefined;

/** The conversation in events: the prompt is the first message once the task has answered. */
function messagesIn(events: readonly KeptEvent[], prompt: string): unknown[] {
  const messages = events.flatMap((event): object[] => {
    if (event.type === "tool.ended") return [{ role: "tool", content: event.text, toolCallId: event.call }];
    if (event.type !== "turn.ended") return [];
    const toolCalls = event.calls.map(({ id, name, input }) => ({ id, name, arguments: input }));
    return [{ role: "assistant", content: event.text, ...(toolCalls.length > 0 && { toolCalls }) }];
  });
  return events.some(({ type }) => type === "turn.ended") ? [{ role: "user", content: prompt }, ...messages] : messages;
}

test.each(cases<{ jsonl: unknown[] }, Restored>("001-pegasus", "persistence-replay"))(
  "persistence-replay: $name",
  ({ input, want }) => {
    const { plan: _, ...task } = restored(input.jsonl);
    expect(task).toEqual(want);
  },
);

test.each([
  ["two tools of one round", "REASON_DONE TOOL_CALL_COMPLETED TOOL_CALL_FAILED REASON_DONE TASK_COMPLETED"],
  ["a tool after a pause while acting", "REASON_DONE TASK_SUSPENDED TASK_RESUMED TOOL_CALL_COMPLETED TASK_COMPLETED"],
  ["a last step and the end", "REASON_DONE STEP_COMPLETED TASK_COMPLETED TASK_RESUMED REASON_DONE TASK_COMPLETED"],
])("the log of a task is in order: %s", (_, events) => {
  const log = ["TASK_CREATED", ...events.split(" ")].map((event) => ({ event, data: {} }));
  expect(eventsOfPegasusLog("t1", log).filter(({ type }) => type === "warning")).toEqual([]);
});

test.each(cases<object, Restored>("001-pegasus", "task-context"))("task-context: $name", ({ want }) => {
  const { id: _id, suspendedState: _state, ...task } = restored([{ event: "TASK_CREATED", data: {} }]);
  expect(task).toEqual(want);
});

test.each(cases<{ pending?: { taskId: string }[]; taskId?: string }, object>("001-pegasus", "persistence-layout"))(
  "persistence-layout: $name",
  async ({ input, want }) => {
    if (input.pending) {
      const state = folded([{ event: "TASK_CREATED", data: {} }]);
      return expect({ status: runStatusOf(state, false) }).toEqual(want);
    }
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
      const words = { running: "in_progress", ok: "completed", failed: "failed" } as Record<string, string>;
      const listed = Object.entries(input.logs).map(([id, events]) => {
        const state = folded(events.map((event) => ({ event, data: {} })));
        return [id, words[runStatusOf(state, true)]];
      });
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
