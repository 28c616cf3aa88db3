import { expect, test } from "vitest";
import { noUsage } from "../../core/outcome/usage.ts";
import type { Event } from "../../core/run/event.ts";
import { runStatusOf } from "../../core/run/run-status.ts";
import { emptyState, reduce, type State } from "../../core/run/state.ts";
import { createLook } from "../../core/view/look.ts";
import type { ShownRun } from "../../core/view/run-rows.ts";
import { topFrame, type TopState } from "./frame.ts";
import { firstView, type TopView } from "./view.ts";

type Fact = Readonly<{ type: string; path?: string; [field: string]: unknown }>;
/** The input of the screen besides events. */
type Beside = Readonly<{ owned?: boolean; diffs?: ShownRun["diffs"]; now?: number; hidden?: readonly string[] }>;
type Case = Readonly<{ before?: readonly Fact[]; change: Fact | Beside; one?: false; view?: Partial<TopView> }>;

const started = (path: string, more: object = {}): Fact => ({
  type: "node.started",
  path,
  kind: "task",
  attempt: 1,
  agent: "explore",
  label: `task ${path}`,
  ...more,
});
const ended = (path: string, outcome: object = { status: "ok", output: "fine" }): Fact => ({
  type: "node.ended",
  path,
  outcome,
});
const failure = (message: string) => ({ status: "failed", fault: { code: "CRASHED", message, retryable: false } });
const turn = (more: object = {}): Fact => ({
  type: "turn.started",
  path: "a",
  turn: 1,
  model: "anthropic/claude-haiku-4-5",
  ...more,
});
const spent = (usage: object, usd = 0, path = "a"): Fact => ({
  type: "turn.ended",
  path,
  text: "",
  usage: { ...noUsage(), ...usage },
  cost: { usd, unpriced: 0 },
});
const tool = (preview: string): Fact => ({ type: "tool.started", path: "a", call: "1", tool: "bash", preview });
const asks = (question: string, more: object = {}): Fact => ({
  type: "gate.opened",
  path: "a",
  question,
  call: "1",
  ...more,
});
const resumed = (task?: string): Fact => ({
  type: "run.resumed",
  path: "",
  after: 2,
  limits: {},
  ...(task && { task }),
});
const parked = (more: object): Fact => ({ type: "node.parked", path: "a", waitsFor: "provider", helps: "", ...more });
const AT_NINE = new Date(2026, 0, 1, 9).getTime();
const AT_TEN = new Date(2026, 0, 1, 10).getTime();

/** Each case is one change that a row, a count or a key of the screen shows; `a` has begun and is selected. */
const cases: Readonly<Record<string, Case>> = {
  "a task ends": { change: ended("a") },
  "a task begins": { change: started("b") },
  "the name": { change: started("a", { label: "renamed" }) },
  "the agent": { change: started("a", { agent: "write" }) },
  "the model": { before: [turn()], change: turn({ model: "openai/gpt-5" }) },
  "the first words": { before: [turn()], change: { type: "text.delta", path: "a", text: "words" } },
  "the last words": {
    before: [turn(), { type: "text.delta", path: "a", text: "words" }],
    change: { type: "text.delta", path: "a", text: " and more" },
  },
  "the recorded words": {
    before: [turn(), { type: "turn.partial", path: "a", text: "words" }],
    change: { type: "turn.partial", path: "a", text: " and more" },
  },
  "a tool": { before: [turn()], change: tool("make") },
  "the preview of the next tool": { before: [turn(), tool("make")], change: tool("make test") },
  "the end of the last tool, after which the words are shown": {
    before: [turn(), { type: "text.delta", path: "a", text: "I build." }, tool("make")],
    change: { type: "tool.ended", path: "a", call: "1" },
  },
  "the number of turns alone": { before: [turn()], change: spent({ turns: 1 }) },
  "the limit of turns": { before: [turn()], change: turn({ limits: { maxTurns: 30, maxTimeMs: 1 } }) },
  "the context alone": { before: [turn()], change: spent({ contextTokens: 50_000 }) },
  "the tokens alone": { before: [turn()], change: spent({ input: 5_000 }) },
  "the price alone": { before: [turn()], change: spent({}, 0.5) },
  "the tokens of the run, in its row": { one: false, before: [turn()], change: spent({ input: 5_000 }) },
  "the price of the run, in its row": { one: false, before: [turn()], change: spent({}, 0.5) },
  "the diff": { change: { diffs: new Map([["a", { added: 3, removed: 1 }]]) } },
  "the age": { change: { now: 65_000 } },
  "the age of the run, in its row": { one: false, change: { now: 65_000 } },
  "the number of hidden runs": { one: false, change: { hidden: ["3 older runs"] } },
  "a question": { change: asks("May I?") },
  "another question": { before: [asks("May I?")], change: asks("And now?") },
  "the same question, answered in words": { before: [asks("May I?")], change: asks("May I?", { wants: "words" }) },
  "the same question, which offers the network": {
    before: [asks("May I?")],
    change: asks("May I?", { offersNetwork: true }),
  },
  "the same question, about no call": { before: [asks("May I?")], change: asks("May I?", { call: undefined }) },
  "a question beside another one": { before: [started("b"), asks("Me?", { path: "b" })], change: asks("May I?") },
  "a turn after a question beside another one": {
    before: [started("b"), asks("Me?", { path: "b" }), asks("May I?")],
    change: turn(),
  },
  "an answer": {
    before: [asks("May I?")],
    change: { type: "gate.answered", path: "a", call: "1", answer: { approve: true } },
  },
  "a turn after a question that was not answered": { before: [asks("May I?")], change: turn() },
  "a task that others wait for ends": { before: [started("b")], change: ended("b") },
  "a task that others wait for is waited for again": { before: [started("b"), ended("b")], change: started("b") },
  "other dependencies of a task that has not begun": {
    change: { type: "plan.changed", path: "", change: { updateDependencies: { b: ["c"], c: [] } } },
  },
  "a task that is added to the plan": {
    change: {
      type: "plan.changed",
      path: "",
      change: { newTasks: { d: { kind: "task", task: { agent: "explore", prompt: "More" } } } },
    },
  },
  "a lease": { change: { type: "node.waiting", path: "a", for: [{ task: "b", files: ["src"] }] } },
  "another lease": {
    before: [{ type: "node.waiting", path: "a", for: [{ task: "b", files: ["src"] }] }],
    change: { type: "node.waiting", path: "a", for: [{ task: "c", files: ["src"] }] },
  },
  "the time until a parked task continues": {
    before: [parked({ why: "quota", until: AT_NINE })],
    change: parked({ why: "quota", until: AT_TEN }),
  },
  "why a task is parked": { before: [parked({ why: "quota" })], change: parked({ why: "no money" }) },
  "a parked task continues": {
    before: [parked({ why: "quota", until: AT_NINE })],
    change: { type: "node.unparked", path: "a", why: "tried again" },
  },
  "a task that is left out when another task is resumed": { change: resumed("loop") },
  "a task that is no longer left out": { before: [resumed("loop")], change: started("a") },
  "a retry": {
    change: { type: "node.retried", path: "a", attempt: 1, outcome: failure("once"), delayMs: 1 },
  },
  "the fault of a task": { before: [ended("a", failure("one"))], change: ended("a", failure("two")) },
  "the result of a task": { before: [ended("a")], change: ended("a", { status: "ok", output: "other" }) },
  "how a task ended": { before: [ended("a")], change: ended("a", { status: "cancelled", reason: "fine" }) },
  "a helper": { change: started("a/helper") },
  "a helper of a helper ends": {
    before: [started("a/helper"), started("a/helper/third")],
    change: ended("a/helper/third"),
  },
  "the place of a helper's helper, when the task above both is parked": {
    before: [started("a/helper"), started("a/helper/third")],
    change: parked({ why: "quota" }),
  },
  "the new name of a task in another group, in the row of its helper": {
    before: [started("a/helper"), asks("May I?")],
    change: started("a", { label: "renamed" }),
  },
  "a round of a loop": { before: [started("loop", { kind: "loop" })], change: started("loop.1/x") },
  "a loop that failed begins again": {
    before: [started("loop", { kind: "loop" }), started("loop.1/x"), ended("loop.1/x"), ended("loop", failure("both"))],
    change: started("loop", { kind: "loop" }),
  },
  "the process of the run is gone": { change: { owned: false } },
  "the process of the run is gone, in its row": { one: false, change: { owned: false } },
  "the run is paused": { change: { type: "run.paused", path: "", reason: "later" } },
  "why the run is paused, in its row": {
    one: false,
    before: [{ type: "run.paused", path: "", reason: "later" }],
    change: { type: "run.paused", path: "", reason: "much later" },
  },
  "the run ends": { change: { type: "run.ended", path: "", outcome: { status: "ok", output: "all" } } },
  "the run ends, in its row": {
    one: false,
    change: { type: "run.ended", path: "", outcome: { status: "ok", output: "all" } },
  },
  "how far the run is, in its row": { one: false, before: [started("b")], change: ended("b") },
  "how many tasks of the run are left out, in its row": {
    one: false,
    before: [started("b")],
    change: resumed("c"),
  },
  "the whole question, below the list": {
    view: { peek: true },
    before: [asks("May I?")],
    change: asks("May I?\nReally?"),
  },
  "the matches of a filter": { view: { filter: "is:done" }, before: [started("b")], change: ended("b") },
};

const plan = {
  output: "c",
  nodes: {
    a: { kind: "task", task: { agent: "explore", prompt: "Look into the sources" } },
    b: { kind: "task", needs: ["a"], task: { agent: "explore", prompt: "Then" } },
    c: { kind: "task", needs: ["a", "b"], task: { agent: "write", prompt: "Write" } },
    loop: { kind: "loop", body: { nodes: {}, output: "x" } },
  },
};
const begun: Fact = { type: "run.started", path: "", plan, cwd: "/w", version: "1", limits: {} };
const eventsOf = (facts: readonly Fact[]) =>
  facts.map((fact, at) => ({ seq: at + 1, run: "run_1", at: 1_000 + at, ...fact }) as unknown as Event);

/** A run in which nothing happens; it is listed first. */
const earlier: ShownRun = { id: "run_0", state: emptyState("run_0"), life: "starting", problems: [] };

test.each(Object.entries(cases))("the screen shows a change: %s", (_, { before = [], change, one, view: seen }) => {
  const facts = [begun, started("a"), ...before];
  const isFact = "type" in change;
  const all = eventsOf(isFact ? [...facts, change] : facts);
  const view: TopView = { ...firstView, selected: one === false ? "run_1" : "run_1/a", ...seen };
  const drawn = (
    run: ShownRun,
    { now = 5_000, hidden = [] }: Beside,
    look = createLook({ color: true, unicode: true }),
  ) => {
    const runs = one === false ? [earlier, run] : [run];
    const state: TopState = { title: "watch", runs, one: one !== false, hidden };
    const { rows } = topFrame(state, view, { columns: 200, height: 30, now, look });
    return rows.map((row) =>
      row.map(({ column, width, text, paint }) => [column, width, paint?.(text) ?? text].join(" ")).join("|"),
    );
  };
  const shownRun = (state: State, { owned = true, diffs }: Beside): ShownRun => ({
    id: "run_1",
    state,
    life: runStatusOf(state, owned),
    problems: [],
    ...(diffs && { diffs }),
  });
  const beside: Beside = isFact ? {} : change;
  const look = createLook({ color: true, unicode: true });
  const state = all.slice(0, facts.length).reduce(reduce, emptyState("run_1"));
  const run = shownRun(state, {});
  const first = drawn(run, {}, look);
  if (isFact) reduce(state, all.at(-1)!);
  // As in the feed, the run is the same object until its status or its diffs change.
  const next = shownRun(state, beside);
  const kept = drawn(next.life === run.life && next.diffs === undefined ? run : next, beside, look);
  const anew = drawn(shownRun(all.reduce(reduce, emptyState("run_1")), beside), beside);
  expect(anew).not.toEqual(first); // without a difference this case would prove nothing
  expect(kept).toEqual(anew);
});
