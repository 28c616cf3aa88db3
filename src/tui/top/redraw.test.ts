import xterm from "@xterm/headless";
import fc from "fast-check";
import { expect, test } from "vitest";
import { noUsage } from "../../core/outcome/usage.ts";
import type { Event } from "../../core/run/event.ts";
import { runStatusOf } from "../../core/run/run-status.ts";
import { emptyState, reduce, type State } from "../../core/run/state.ts";
import { createLook } from "../../core/view/look.ts";
import type { ShownRun } from "../../core/view/run-rows.ts";
import { type FieldFrame, FieldScreen } from "./field-screen.ts";
import { listedRows, topFrame, type TopState } from "./frame.ts";
import { firstView, keepSelection, type TopView } from "./view.ts";

/** Texts that break rows: wide, combining, reordered, or with terminal sequences in them. */
const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.constantFrom(
    "日本語のテキスト ",
    "👩‍👩‍👧‍👦 family ",
    "\u001b[2J\u001b[H",
    "e\u0301 ",
    "a\u202eb",
    "\ttab\r\n",
    "words and more ",
    "\n",
  ),
);
const PATHS = ["a", "b", "c", "a/one", "a/one/two", "loop", "loop.1/x", "loop.2/x", "added"] as const;
const path = fc.constantFrom(...PATHS);
const usage = fc.record({ input: fc.nat(90_000), turns: fc.nat(3), contextTokens: fc.nat(90_000) });
const MODEL = "anthropic/claude-haiku-4-5";

/** Facts about nodes, with the frequencies of real runs. */
const fact = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("text.delta"), text }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("turn.started"),
      turn: fc.nat(9),
      model: fc.oneof(text, fc.constant(MODEL)),
      limits: fc.constantFrom(undefined, { maxTurns: 9, maxTimeMs: 1 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("turn.ended"),
      text,
      usage: usage.map((some) => ({ ...noUsage(), ...some })),
      cost: fc.constantFrom({ usd: 0.01, unpriced: 0 }, { usd: 0, unpriced: 0 }),
    }),
  },
  // A tool may have any name, also one that reads like a state.
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("tool.started"),
      tool: fc.constantFrom("bash", "waiting"),
      preview: fc.oneof(text, fc.constant("for x")),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("tool.ended") }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("turn.partial"), text }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("node.started"),
      kind: fc.constantFrom("task", "gate", "loop"),
      attempt: fc.constant(1),
      agent: text,
      label: text,
      prompt: text,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("node.waiting"), for: fc.constant([{ task: "b", files: ["src"] }]) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("node.retried"),
      attempt: fc.constant(1),
      outcome: fc.constant({ status: "ok", output: "" }),
      delayMs: fc.constant(1),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("node.parked"),
      why: text,
      waitsFor: fc.constantFrom("person", "provider"),
      helps: text,
      until: fc.constantFrom(undefined, 3_600_000, 7_200_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("node.unparked"), why: text }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("gate.opened"),
      question: text,
      call: fc.constantFrom("1", undefined),
      wants: fc.constantFrom(undefined, "words"),
      offersNetwork: fc.constantFrom(undefined, true),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("gate.answered"), answer: fc.constant({ approve: true }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("node.ended"),
      outcome: fc.oneof(
        text.map((output) => ({ status: "ok", output })),
        text.map((message) => ({ status: "failed", fault: { code: "CRASHED", message, retryable: false } })),
      ),
    }),
  },
);
const ofRun = fc.constantFrom(
  { type: "run.paused", reason: "later" },
  { type: "run.resumed", after: 0, limits: {} },
  { type: "run.resumed", after: 0, limits: {}, task: "b" },
  { type: "run.ended", outcome: { status: "ok", output: "all" } },
);

type Size = Readonly<{ columns: number; height: number }>;
const step = fc.oneof(
  { weight: 20, arbitrary: fc.record({ path, fact }) },
  { weight: 1, arbitrary: fc.record({ path: fc.constant(""), fact: ofRun }) },
  { weight: 2, arbitrary: fc.record({ later: fc.integer({ min: 1, max: 70_000 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      size: fc.constantFrom<Size>(
        { columns: 80, height: 24 },
        { columns: 33, height: 9 },
        { columns: 20, height: 5 },
        { columns: 200, height: 16 },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      view: fc.oneof(
        fc.record({ selected: path.map((each) => `run_1/${each}`) }),
        fc.record({ shape: fc.constantFrom<TopView["shape"]>("tree", "flat") }),
        fc.record({ peek: fc.boolean() }),
        fc.record({ filter: fc.constantFrom("", "is:working", "a") }),
      ),
    }),
  },
);

const plan = {
  output: "c",
  nodes: {
    a: { kind: "task", task: { agent: "explore", prompt: "Look into the sources" } },
    b: { kind: "task", needs: ["a"], task: { agent: "explore", prompt: "Then 日本語" } },
    c: { kind: "task", needs: ["a", "b"], task: { agent: "write", prompt: "Write" } },
    loop: { kind: "loop", body: { nodes: {}, output: "x" } },
  },
};
const begun = {
  seq: 1,
  run: "run_1",
  at: 1_000,
  path: "",
  type: "run.started",
  plan,
  cwd: "/w",
  version: "1",
  limits: {},
};

/** A terminal in memory, and what it shows. */
function virtualTerminal({ columns, height }: Size) {
  const terminal = new xterm.Terminal({ cols: columns, rows: height, allowProposedApi: true });
  return {
    terminal,
    screen: new FieldScreen((written) => terminal.write(written)),
    shown: async (): Promise<string[]> => {
      await new Promise<void>((done) => terminal.write("", done));
      const { active } = terminal.buffer;
      return Array.from({ length: terminal.rows }, (_, row) => active.getLine(row)?.translateToString(true) ?? "");
    },
  };
}

const shownRun = (state: State): ShownRun => ({ id: "run_1", state, life: runStatusOf(state, true), problems: [] });
const topOf = (run: ShownRun, one: boolean): TopState => ({ title: "watch", runs: [run], one, hidden: [] });
/** The text that is written for each field, including colours. */
const paintedRows = ({ rows, cursor }: FieldFrame) => ({
  cursor,
  rows: rows.map((row) => row.map(({ column, width, text: shown, paint }) => [column, width, paint?.(shown) ?? shown])),
});
const newLook = () => createLook({ color: true, unicode: true });

test("after any sequence of events, the screen equals a new screen that has read all of them", {
  timeout: 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), fc.boolean(), async (steps, one) => {
      const events: Event[] = [begun as unknown as Event];
      const state = reduce(emptyState("run_1"), events[0]!);
      let run = shownRun(state);
      let view: TopView = firstView;
      let size: Size = { columns: 80, height: 24 };
      let now = 5_000;
      const frames: Readonly<{ frame: FieldFrame; seen: number; view: TopView; canvas: Size & { now: number } }>[] = [];
      const [kept, look] = [virtualTerminal(size), newLook()];
      for (const each of steps) {
        if ("size" in each) {
          size = each.size;
          kept.terminal.resize(size.columns, size.height);
        } else if ("later" in each) now += each.later;
        else if ("view" in each) view = { ...view, ...each.view };
        else {
          const event = { seq: events.length + 1, run: "run_1", at: now, path: each.path, call: "1", ...each.fact };
          events.push(event as unknown as Event);
          reduce(state, event as unknown as Event);
          if (runStatusOf(state, true) !== run.life) run = shownRun(state);
        }
        view = keepSelection(listedRows(topOf(run, one), view).rows, view);
        const frame = topFrame(topOf(run, one), view, { ...size, now, look });
        kept.screen.draw(frame);
        frames.push({ frame, seen: events.length, view, canvas: { ...size, now } });
      }
      // The comparison runs at the end, so that it does not replace the state that is kept from frame to frame.
      const anew = frames.map(({ seen, view: looked, canvas }) => {
        const folded = events.slice(0, seen).reduce(reduce, emptyState("run_1"));
        return topFrame(topOf(shownRun(folded), one), looked, { ...canvas, look: newLook() });
      });
      for (const [at, { frame }] of frames.entries()) expect(paintedRows(frame)).toEqual(paintedRows(anew[at]!));
      const fresh = virtualTerminal(size);
      fresh.screen.draw(anew.at(-1)!);
      expect(await kept.shown()).toEqual(await fresh.shown());
    }),
    { numRuns: 100 },
  );
});
