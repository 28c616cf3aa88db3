import { describe, expect, test } from "vitest";
import { z } from "zod";
import { eventsOf, recordedRun, storeOf } from "../../../test/support/recorded-runs.ts";
import { assignmentOf, callOf } from "../../../test/support/task-world.ts";
import type { Agent } from "../../core/agent/agent.ts";
import type { Roster } from "../../core/delegation/roster.ts";
import { noCost, noUsage } from "../../core/outcome/usage.ts";
import type { Task } from "../../core/plan/task.ts";
import type { Fact, KeptEvent } from "../../core/run/event.ts";
import type { KeptRecords, RunStore } from "../../core/run/run-store.ts";
import type { Call } from "../../core/task/engine.ts";
import { defineTool } from "../../core/task/tool.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import {
  openPreviousRuns,
  type PreviousConversation,
  type PreviousRuns,
  recordAgent,
  resumedMessages,
  withPreviousRun,
} from "./previous-runs.ts";
import { agentHash } from "./recorded-agent.ts";

const RUN = "run_aaaaaaaaaaaa";
const task = (more: object = {}) => ({ kind: "task", task: { prompt: "-", ...more } });
const started = (nodes: object, more: object = {}) => ({ type: "run.started", plan: { nodes, output: "a" }, ...more });
const began = (path: string, prompt: string, more: object = {}) => ({
  type: "node.started",
  path,
  attempt: 1,
  kind: "task",
  prompt,
  ...more,
});
const spent = { usage: noUsage(), cost: noCost() };
const turn = (path: string, number: number, text: string, ...calls: readonly string[]) => [
  { type: "turn.started", path, turn: number },
  {
    type: "turn.ended",
    path,
    turn: number,
    text,
    calls: calls.map((id) => ({ id, name: "look", input: {} })),
    ...spent,
  },
];
const ended = (path: string, output: string) => ({ type: "node.ended", path, outcome: { status: "ok", output } });

const worker: Agent = { name: "worker", description: "works", instructions: "Work.", tools: ["look"] };
const resolved = (path: string, more: object = {}) => ({
  type: "agent.resolved",
  path,
  agent: "worker",
  hash: agentHash(worker, ["look"]),
  model: "m",
  definition: worker,
  rights: ["look"],
  ...more,
});

async function talkIn(
  runs: Readonly<Record<string, readonly object[]>>,
  name = `${RUN}/a`,
): Promise<PreviousConversation | undefined> {
  return openPreviousRuns([], { store: await storeOf(runs) }).talkOf(name);
}

const textsOf = (talk: Pick<PreviousConversation, "messages"> | undefined): unknown =>
  talk?.messages.map((message) => (message.role === "tool" ? message.results.map(({ text }) => text) : message.text));

describe("the conversation of a task", () => {
  test("begins with the context of the run and the texts of the task, and has its turns and its agent", async () => {
    const image = { name: "a.png", type: "image/png", data: "iVBO" };
    const talk = await talkIn({
      [RUN]: [
        started({ a: task({ preface: "You look.", images: [image] }) }, { context: "About." }),
        began("a", "Look.", { agent: "worker" }),
        resolved("a"),
        ...turn("a", 1, "I looked."),
      ],
    });
    expect(talk).toMatchObject({
      messages: [
        { role: "user", text: "About.\n\nYou look.\n\nLook.", images: [image], shared: 6 },
        { role: "assistant", text: "I looked." },
      ],
      turns: 1,
      agent: { definition: worker, rights: ["look"] },
      begins: { context: "About.", task: { agent: "worker", preface: "You look.", prompt: "Look." }, attachments: [] },
      delegated: false,
    });
    expect(talk?.messages).toHaveLength(2);
    expect(talk?.open).toEqual(talk?.messages);
    for (const key of ["forked"]) expect(Object.keys(talk!)).not.toContain(key);
    for (const key of ["review", "resumes"]) expect(Object.keys(talk!.begins)).not.toContain(key);
  });

  test("has nothing but its prompt if it has no turn, no context and no images", async () => {
    const talk = await talkIn({ [RUN]: [started({ a: task() }), began("a", "Look.")] });
    expect(talk?.messages).toEqual([{ role: "user", text: "Look." }]);
    expect(Object.keys(talk!.messages[0]!)).toEqual(["role", "text"]);
    expect([talk?.turns, talk?.agent]).toEqual([0, undefined]);
  });

  test("does not exist for a run that is gone or did not begin, or for a task that did not begin", async () => {
    expect(await talkIn({})).toBeUndefined();
    expect(await talkIn({ [RUN]: [began("a", "Look.")] })).toBeUndefined();
    expect(await talkIn({ [RUN]: [started({ a: task() })] })).toBeUndefined();
  });

  test("of an agent that was started by another agent has the settings with which it was started", async () => {
    const given = { prompt: "-", preface: "You help." };
    const events = [started({ a: task() }), began("a", "Look."), began("a/h", "Help.", { task: given })];
    const talk = await talkIn({ [RUN]: events }, `${RUN}/a/h`);
    expect(talk).toMatchObject({ messages: [{ text: "You help.\n\nHelp." }], delegated: true });
  });

  test("of a task that was added to the plan later has the settings of the plan", async () => {
    const change = { newTasks: { b: task({ preface: "You came later." }) } };
    const events = [started({ a: task() }), { type: "plan.changed", change }, began("b", "Help.")];
    const talk = await talkIn({ [RUN]: events }, `${RUN}/b`);
    expect(talk).toMatchObject({ messages: [{ text: "You came later.\n\nHelp." }], delegated: false });
  });

  test("has the attached results as they were when the task began, and the verdict of a review", async () => {
    const events = [
      started({ b: task(), c: task(), a: task() }),
      began("b", "Find."),
      ended("b", "first"),
      began("c", "Find."),
      ended("c", "of another"),
      began("b", "Find again."),
      { type: "note", path: "b", text: "x" },
      began("a", "Look.", { attached: [{ title: "B", path: "b" }], review: true }),
      ended("b", "second"),
    ];
    const talk = await talkIn({ [RUN]: events });
    expect(textsOf(talk)).toEqual([expect.stringMatching(/<result of="B">\nfirst\n<\/result>[^]*exactly one word/)]);
    expect(talk?.begins).toMatchObject({ attachments: [{ title: "B", path: "b", text: "first" }], review: true });
  });

  test("includes the results of its last calls, and messages that were not read", async () => {
    const mail = { type: "message.sent", path: "a", from: "lead", text: "Hurry." };
    const answer = { type: "tool.ended", path: "a", call: "c1", tool: "look", text: "seen", error: false };
    const begin = [started({ a: task() }), began("a", "Look."), ...turn("a", 1, "Both.", "c1", "c2")];
    const talk = await talkIn({ [RUN]: [...begin, answer, mail] });
    expect(textsOf(talk)).toEqual(["Look.", "Both.", ["seen", "Received."], expect.stringContaining("Hurry.")]);
    expect(talk?.messages[2]).toMatchObject({ results: [{ error: false }, { id: "c2", name: "look", error: false }] });
    expect(textsOf({ messages: talk!.open })).toEqual(["Look.", "Both."]);
    const one = [started({ a: task() }), began("a", "Look."), ...turn("a", 1, "One.", "c1")];
    expect(textsOf(await talkIn({ [RUN]: one }))).toEqual(["Look.", "One.", ["Received."]]);
    const said = [started({ a: task() }), began("a", "Look."), ...turn("a", 1, "Done."), mail];
    expect(textsOf(await talkIn({ [RUN]: said }))).toEqual(["Look.", "Done.", expect.stringContaining("Hurry.")]);
  });

  test("follows the conversation that the task continues, without the context, as far as it still exists", async () => {
    const runs = {
      run_b: [started({ a: task() }, { context: "About." }), began("a", "One."), ...turn("a", 1, "1.")],
      run_c: [started({ a: task({ continues: "run_b/a" }) }, { context: "New." }), began("a", "Two.")],
      run_d: [started({ a: task() }), began("a", "Three.", { continues: "run_c/a" })],
      run_e: [started({ a: task({ continues: "run_gone/a" }) }, { context: "New." }), began("a", "Four.")],
    };
    expect(textsOf(await talkIn(runs, "run_d/a"))).toEqual(["About.\n\nOne.", "1.", "Two.", "Three."]);
    expect(textsOf(await talkIn(runs, "run_e/a"))).toEqual(["New.\n\nFour."]);
    const continued = await talkIn(runs, "run_c/a");
    expect(continued?.begins.context).toBe("");
    expect(Object.keys(continued!.messages[2]!)).not.toContain("shared");
  });

  test("follows the task of the same run that this task resumes: its conversation, or its prompt and result", async () => {
    const again = began("a", "And now?", { resumes: "b" });
    const nodes = { b: task(), a: task({ preface: "You look." }) };
    const talked = [started(nodes), began("b", "Find."), ...turn("b", 1, "Found."), ended("b", "Found."), again];
    const talk = await talkIn({ [RUN]: talked });
    expect(textsOf(talk)).toEqual(["Find.", "Found.", "And now?"]);
    expect(talk?.begins.resumes).toEqual({ path: "b", prompt: "", output: "" });
    const silent = [started(nodes), began("b", "Find."), ended("b", "Found it."), again];
    expect(textsOf(await talkIn({ [RUN]: silent }))).toEqual(["Find.", "Found it.", "And now?"]);
  });

  test("of a fork starts from the turn of the other conversation at which it was forked", async () => {
    const forked = { type: "conversation.forked", path: "a", from: "run_b/a", turn: 1 };
    const above = [
      started({ a: task() }),
      began("a", "Lead."),
      ...turn("a", 1, "I fork.", "c1"),
      { type: "tool.ended", path: "a", call: "c1", tool: "look", text: "later", error: false },
      ...turn("a", 2, "I go on."),
    ];
    const own = [started({ a: task() }, { context: "About." }), began("a", "Help."), forked];
    const talk = await talkIn({ run_b: above, [RUN]: own });
    expect(textsOf(talk)).toEqual(["Lead.", "I fork.", [expect.stringContaining("original conversation")], "Help."]);
    expect(talk?.forked).toEqual({ from: "run_b/a", turn: 1, first: 3 });
    const alone = await talkIn({ [RUN]: own });
    expect(textsOf(alone)).toEqual(["About.\n\nHelp."]);
    expect(alone?.forked).toEqual({ from: "run_b/a", turn: 1, first: 0 });
    const short = { type: "context.compacted", path: "a", summary: "All of it.", replaced: 1, ...spent };
    expect((await talkIn({ run_b: above, [RUN]: [...own, short] }))?.forked?.first).toBe(-1);
  });

  test("of a run that was read already is not read again", async () => {
    const continued = await recordedRun(RUN, [{ ...started({ a: task() }), format: 1 }, began("a", "Look.")]);
    const runs = openPreviousRuns([], { store: createMemoryStore(), continued });
    expect(textsOf(await runs.talkOf(`${RUN}/a`))).toEqual(["Look."]);
    expect(await runs.talkOf("run_b/a")).toBeUndefined();
  });

  test("goes back 1,000 runs at most, and two tasks that continue each other do not read forever", async () => {
    const reads: string[] = [];
    const before = (run: string): string =>
      run === "run_left" ? "run_right/a" : run === "run_right" ? "run_left/a" : `run_${Number(run.slice(4)) - 1}/a`;
    const readWhole = async (run: string): Promise<KeptRecords> => {
      reads.push(run);
      return {
        events: eventsOf(run, [started({ a: task({ continues: before(run) }) }), began("a", run)]),
        problems: [],
      };
    };
    const runs = openPreviousRuns([], { store: { readWhole } as RunStore });
    const talk = await runs.talkOf("run_2000/a");
    expect(talk?.messages).toHaveLength(1_001);
    expect(talk?.messages[0]).toMatchObject({ text: "run_1000" });
    reads.length = 0;
    await runs.talkOf("run_left/a");
    expect(reads).toEqual(["run_left", "run_right"]);
  });
});

test("a conversation without an answer is replaced by the prompt and the result", () => {
  const [user, assistant] = [
    { role: "user", text: "Hi." },
    { role: "assistant", text: "Ho.", calls: [] },
  ] as const;
  expect(resumedMessages("Go.", "done", { messages: [user, assistant] })).toEqual([user, assistant]);
  for (const talk of [undefined, { messages: [user] }])
    expect(resumedMessages("Go.", "done", talk)).toEqual([
      { role: "user", text: "Go." },
      { role: "assistant", text: "done", calls: [] },
    ]);
  expect(resumedMessages(undefined, "done", undefined)[0]).toEqual({ role: "user", text: "" });
});

describe("a task of a resumed or continued run", () => {
  const past = eventsOf(RUN, [resolved("worker", { model: "m2" })]);
  const rosterOf = (found: Agent | undefined): Roster => ({ find: () => found, names: () => ["worker", "other"] });

  type Resumed = Readonly<{
    call?: Call;
    roster?: Roster;
    agent?: Agent | undefined;
    refused?: string;
    facts: readonly Fact[];
    earlier: PreviousRuns;
  }>;

  /** The call with its recorded data, the agent that is used, and the reported events. */
  async function resuming({
    task: given = {},
    more = {},
    now = worker,
    ...options
  }: {
    task?: Partial<Task>;
    more?: Partial<Call>;
    now?: Agent | null;
    runs?: Readonly<Record<string, readonly object[]>>;
    events?: readonly KeptEvent[];
    refresh?: boolean;
    attempt?: readonly KeptEvent[];
    earlier?: PreviousRuns;
  } = {}): Promise<Resumed> {
    const facts: Fact[] = [];
    const { refresh = false, events = past, runs = {}, attempt = past } = options;
    const earlier = options.earlier ?? openPreviousRuns(events, { store: await storeOf(runs), refresh });
    const roster = rosterOf(now ?? undefined);
    const emit = (fact: Fact): void => void facts.push(fact);
    const found = await withPreviousRun(callOf(given, more), { roster, earlier }, { emit, past: async () => attempt });
    if ("status" in found) return { refused: `${found.fault.code}: ${found.fault.message}`, facts, earlier };
    return { ...found, agent: found.roster.find("worker"), facts, earlier };
  }

  test("has the rights and the model with which it began", async () => {
    const { call, agent, facts } = await resuming({ task: { prompt: "Hi." } });
    expect(call).toMatchObject({ ...callOf({ prompt: "Hi." }), recordedRights: ["look"], recordedModel: "m2" });
    expect([agent, facts]).toEqual([worker, []]);
    expect(Object.keys(call!)).not.toContain("before");
    expect(Object.keys(call!)).not.toContain("images");
  });

  test("chooses its model again if this attempt did not begin, or if the agent is refreshed; its rights stay", async () => {
    for (const again of [await resuming({ attempt: [] }), await resuming({ refresh: true })]) {
      expect(again.call?.recordedRights).toEqual(["look"]);
      expect(Object.keys(again.call!)).not.toContain("recordedModel");
    }
  });

  test("that begins now has no recorded rights, but the recorded definition of its agent", async () => {
    const { call, agent, facts } = await resuming({ more: { path: "new" }, now: { ...worker, instructions: "New." } });
    expect(Object.keys(call!)).not.toContain("recordedRights");
    expect(Object.keys(call!)).not.toContain("recordedModel");
    expect(agent).toEqual(worker);
    expect(facts).toMatchObject([{ type: "warning", code: "AGENT_CHANGED" }]);
    const fresh = await resuming({ events: [], attempt: [] });
    expect([fresh.agent, Object.keys(fresh.call!).includes("recordedRights")]).toEqual([worker, false]);
  });

  test("uses the recorded agent, or with a refresh the current agent, and reports that once", async () => {
    const now = { ...worker, instructions: "New.", tools: ["look", "change"] };
    const kept = await resuming({ now });
    expect(kept.agent).toEqual(worker);
    expect(kept.facts).toMatchObject([{ type: "warning", code: "AGENT_CHANGED" }]);
    expect((await resuming({ now, earlier: kept.earlier })).facts).toEqual([]);
    const fresh = await resuming({ now, refresh: true });
    expect(fresh.agent).toBe(now);
    expect(fresh.facts).toMatchObject([{ type: "note", text: expect.stringContaining("uses its current definition") }]);
    expect((await resuming({ now, earlier: fresh.earlier })).facts).toEqual([]);
    const deleted = await resuming({ now: null });
    expect([deleted.agent, deleted.facts]).toEqual([worker, []]);
    const same = { ...worker };
    expect((await resuming({ now: same })).agent).toBe(same);
  });

  test("finds all other agents as before", async () => {
    const now = { ...worker, instructions: "New." };
    const { roster } = await resuming({ now });
    expect(roster?.find("other")).toBe(now);
    expect(roster?.names()).toEqual(["worker", "other"]);
  });

  test("gets its images from where its run stores them", async () => {
    const images = [{ name: "a.png", type: "image/png" as const, data: "iVBO" }];
    expect((await resuming({ task: { images } })).call?.images).toEqual(images);
  });

  const talked = [
    started({ a: task() }),
    began("a", "One."),
    resolved("a", { rights: ["peek"] }),
    ...turn("a", 1, "1."),
  ];

  test("continues a conversation with the rights that its agent had there", async () => {
    const { call } = await resuming({ task: { continues: "run_b/a" }, runs: { run_b: talked } });
    expect(call?.recordedRights).toEqual(["peek"]);
    expect(textsOf({ messages: call!.before! })).toEqual(["One.", "1."]);
    expect((await resuming({ task: { continues: "run_gone/a" } })).refused).toBe(
      'BAD_INPUTS: "run_gone/a" no longer exists, so it cannot be continued.',
    );
  });

  test("that an agent started continues only tasks of the same parent in the same run", async () => {
    const helper = { run: RUN, path: "lead/two", depth: 1 };
    const below = [started({}), began("lead/one", "One."), ...turn("lead/one", 1, "1."), began("other/one", "x")];
    const runs = { [RUN]: below, run_b: [...below, began("lead/one", "One.")] };
    const continuing = async (continues: string, more: Partial<Call> = helper): Promise<string> =>
      (await resuming({ task: { continues }, more, runs })).refused ?? "it goes on";
    const denied = 'DENIED: "lead/two" may not continue a conversation of another run or agent.';
    expect(await continuing(`${RUN}/lead/one`)).toBe("it goes on");
    expect(await continuing(`${RUN}/other/one`)).toBe(denied);
    expect(await continuing("run_b/lead/one")).toBe(denied);
    expect(await continuing("run_b/lead/one", { run: RUN, path: "two" })).toBe("it goes on");
  });
});

describe("the record of an agent contains", () => {
  const tool = (name: string) =>
    defineTool({ name, description: name, input: z.object({}), effect: "read", run: () => "" });
  const tools = [tool("look"), tool("change")];
  const auth = { type: "apiKey", key: "$TOKEN" };

  async function recorded(
    earlier: PreviousRuns,
    { definition = worker, reuse, more = {} }: { definition?: Agent; reuse?: string; more?: Partial<Call> } = {},
  ): Promise<Fact[]> {
    const facts: Fact[] = [];
    const roster: Roster = { find: () => definition, names: () => [] };
    const assignment = await assignmentOf({ tools, agent: definition, roster }, {}, more);
    recordAgent(assignment, { roster, earlier, reuse }, (fact) => void facts.push(fact));
    return facts;
  }
  const open = (...parts: readonly object[]): PreviousRuns =>
    openPreviousRuns(eventsOf(RUN, parts), { store: createMemoryStore() });
  const fact = { type: "agent.resolved", agent: "worker", hash: agentHash(worker, ["look"]), model: "m" };

  test("its definition and rights, once, and the key of its result", async () => {
    const earlier = open();
    expect(earlier.refresh).toBe(false);
    expect(await recorded(earlier)).toEqual([{ ...fact, definition: worker, rights: ["look"] }]);
    const [again] = await recorded(earlier, { reuse: "k" });
    expect(again).toEqual({ ...fact, reuse: "k" });
    expect(Object.keys((await recorded(open()))[0]!)).not.toContain("reuse");
  });

  test("nothing new, unless the rights, the model or the key have changed", async () => {
    const before = resolved("worker", { reuse: "k" });
    expect(await recorded(open(before), { reuse: "k" })).toEqual([]);
    expect(await recorded(open(before), { reuse: "other" })).toHaveLength(1);
    expect(await recorded(open({ ...before, model: "m2" }), { reuse: "k" })).toHaveLength(1);
    const wider = { ...worker, tools: ["look", "change"] };
    expect(await recorded(open(before), { definition: wider, reuse: "k" })).toMatchObject([
      { rights: ["look", "change"] },
    ]);
  });

  test("no credentials of a remote agent", async () => {
    const remote = { cardUrl: "https://a.example/card" };
    const [first] = await recorded(open(), { definition: { ...worker, remote: { ...remote, auth } } });
    expect(first).toMatchObject({ definition: { ...worker, remote } });
    expect(JSON.stringify(first)).not.toContain("TOKEN");
  });
});
