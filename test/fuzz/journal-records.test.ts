import { expect, test } from "vitest";
import type { KeptEvent } from "../../src/core/run/event.ts";
import { budgetSpent } from "../../src/core/run/budget-spent.ts";
import { changedFiles } from "../../src/core/run/changed-files.ts";
import { hasEnded, historyOf } from "../../src/core/run/history.ts";
import { lastParking } from "../../src/core/run/parked-run.ts";
import { decisionsIn } from "../../src/core/run/past-decisions.ts";
import { resultOf } from "../../src/core/run/result.ts";
import { openQuestions, runStatusOf } from "../../src/core/run/run-status.ts";
import { emptyState, reduce, type State } from "../../src/core/run/state.ts";
import { isCrewError } from "../../src/core/schema/error.ts";
import { conversationsOf } from "../../src/core/view/conversations.ts";
import { layersOf } from "../../src/core/view/graph-layers.ts";
import { createLook } from "../../src/core/view/look.ts";
import { describe as describeState } from "../../src/core/view/nodes.ts";
import { planMermaid, planTree } from "../../src/core/view/plan-tree.ts";
import { cellOf, columns } from "../../src/core/view/row-cells.ts";
import { graphOfRun } from "../../src/core/view/run-graph.ts";
import { rowsOf, type ShownRun } from "../../src/core/view/run-rows.ts";
import { transcriptsOf } from "../../src/core/view/transcript.ts";
import { rebuildConversation } from "../../src/runtime/loop/rebuild-conversation.ts";
import { recordedAgents } from "../../src/runtime/resume/recorded-agent.ts";
import { lineFor } from "../../src/sinks/plain.ts";
import { githubAnnotations, resultJunit, resultMarkdown } from "../../src/sinks/result-formats.ts";
import { statusText } from "../../src/sinks/status-text.ts";
import { summaryOf } from "../../src/sinks/summary.ts";
import { diffCounts } from "../../src/tui/chat/diff-counts.ts";
import { transcriptItems } from "../../src/tui/chat/transcript-items.ts";
import { callDetails, logLines, transcriptPart } from "../../src/web/run-details.ts";
import { headOf, needRowsIn, runRowOf, taskRowsOf } from "../../src/web/rows.ts";
import { decodeLine, encodeLine } from "../support/encode-line.ts";

const RUN = "run_abcdefghijkl";
const usage = {
  input: 1,
  output: 1,
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
  contextTokens: 2,
  turns: 1,
  estimated: 1,
};
const cost = { usd: 0.1, unpriced: 0, estimated: 0.1, saved: 0.1 };
const limit = { kind: "turns", value: 2, run: true };
const file = { kind: "file", hash: "h", bytes: 1, mode: 420, kept: true };
const ok = {
  status: "ok",
  output: "done",
  usage,
  cost,
  model: "m",
  tools: { bash: 1 },
  ms: 5,
  limit,
  from: ["a"],
  approved: false,
  reviews: [{ approved: true, feedback: "good" }],
  changes: { files: ["a.txt"], applied: true, patch: { hash: "h", bytes: 1 } },
};
const task = {
  agent: "worker",
  model: ["m"],
  prompt: "Do {b}.",
  refs: { b: "b", c: { prompt: "b" } },
  label: "one",
  include: ["b"],
  tools: ["bash"],
  writes: ["a.txt"],
};

const small = { prompt: "Do.", label: "two", model: "m" };

/** A record of every type, with every optional field that a view reads. */
const facts: readonly object[] = [
  {
    type: "run.started",
    plan: {
      name: "n",
      nodes: {
        b: { kind: "task", task },
        a: { kind: "task", needs: ["b"], task: small },
        g: { kind: "gate", needs: ["a"], question: "Go on?", refs: { a: "a" } },
        l: {
          kind: "loop",
          needs: ["g"],
          body: { nodes: { x: { kind: "task", task: small } }, output: "x" },
          until: "x",
          max: 2,
          exhausted: "accept",
        },
        j: { kind: "join", needs: ["a", "b"], pick: "first", count: 1 },
      },
      output: "j",
      concurrency: 2,
      context: { context: "c", contextFiles: ["f"], gitContext: { diff: true } },
      notes: ["note"],
    },
    name: "n",
    cwd: "/w",
    version: "0",
    continues: "run_x/a",
    origin: { by: "a2a", caller: "c", agent: "worker", context: "x" },
    context: "c",
    permissions: { mode: "default", allow: ["bash"], deny: ["bash(rm *)"], writableRoots: ["/w"] },
    limits: { maxTokens: 5, maxUsd: 1, maxTimeMs: 1000 },
    settings: { model: "m", providers: { p: { address: "http://x", digest: "d" } }, sandbox: "off" },
    parks: { onLimit: "park", onProviderFault: "park" },
  },
  {
    type: "node.started",
    path: "b",
    attempt: 1,
    kind: "task",
    label: "one",
    agent: "worker",
    model: "m",
    prompt: "Do.",
    continues: "run_x/a",
    attached: [{ title: "t", path: "b" }],
    task: { prompt: "p", writes: ["a"] },
  },
  {
    type: "agent.resolved",
    path: "b",
    agent: "worker",
    hash: "h",
    model: "m",
    definition: { name: "worker", description: "d", instructions: "i", tools: ["bash"] },
    rights: ["bash"],
    reuse: "k",
  },
  { type: "node.waiting", path: "b", for: [{ task: "a", files: ["x"], run: "r" }] },
  { type: "rights.reduced", path: "b", agent: "worker", lost: ["bash"], reason: "r" },
  { type: "conversation.forked", path: "b", from: "run_x/a", turn: 1 },
  {
    type: "turn.started",
    path: "b",
    turn: 1,
    model: "m",
    why: "w",
    limits: { maxTurns: 5, maxTimeMs: 1000 },
    reserved: { input: 5, usd: 1, usdPerToken: 0.1 },
  },
  { type: "turn.partial", path: "b", turn: 1, text: "par" },
  { type: "turn.restarted", path: "b", turn: 1, reason: "r", delayMs: 1, usage: { input: 1 }, cost },
  {
    type: "turn.ended",
    path: "b",
    turn: 1,
    thinking: "hm",
    text: "t",
    calls: [
      { id: "c1", name: "bash", input: { command: "ls" } },
      { id: "c2", name: "edit_file", input: { path: "a", old: "x", new: "y" } },
    ],
    usage,
    cost,
    carry: { by: "anthropic", data: 1 },
    model: "m2",
  },
  { type: "gate.opened", path: "b", question: "bash: ls?", call: "c1", wants: "words", offersNetwork: true },
  { type: "gate.answered", path: "b", call: "c1", answer: { approve: true, text: "yes", by: "me", rule: "bash(ls)" } },
  { type: "tool.started", path: "b", call: "c1", tool: "bash", preview: "ls", effect: "write" },
  { type: "files.changed", path: "b", call: "c1", files: [{ file: "/w/a", before: { kind: "absent" }, after: file }] },
  {
    type: "tool.ended",
    path: "b",
    call: "c1",
    tool: "bash",
    error: false,
    text: "out",
    ms: 1,
    status: "denied",
    details: { a: 1 },
    files: ["/w/out"],
  },
  { type: "tool.denied", path: "b", call: "c2", tool: "edit_file", rule: "r", text: "t" },
  { type: "tool.rejected", path: "b", call: "c3", tool: "bash", reason: "r", text: "t" },
  { type: "tool.unknown", path: "b", call: "c4", tool: "bash", text: "t" },
  { type: "context.compacted", path: "b", before: 5, after: 2, summary: "s", replaced: 1 },
  { type: "limit.reached", path: "b", limit: "maxTurns", text: "t", enforced: true, reached: limit },
  { type: "remote.joined", path: "b", turn: 1, context: "c", task: "t" },
  { type: "below.ended", path: "b", below: "run_y", usage, cost, toolCalls: 1, spawns: 1 },
  { type: "message.sent", path: "b", from: "the user", text: "hello" },
  { type: "node.parked", path: "b", why: "w", waitsFor: "key", until: 5, nextTry: 5, helps: "h" },
  { type: "node.unparked", path: "b", why: "w" },
  {
    type: "node.retried",
    path: "b",
    attempt: 2,
    outcome: {
      status: "failed",
      fault: { code: "CRASHED", message: "m", retryable: true, hint: "h", retryAfterMs: 5 },
      usage,
      cost,
    },
    delayMs: 5,
  },
  { type: "node.won", path: "b" },
  { type: "node.ended", path: "b", outcome: ok },
  { type: "node.reused", path: "a", from: "run_x/a", endedAt: 5, saved: { usage, cost } },
  { type: "node.ended", path: "a", outcome: { status: "cancelled", reason: "r", output: "part" } },
  {
    type: "plan.changed",
    change: {
      newTasks: { z: { kind: "task", task: small } },
      into: "j",
      updateDependencies: { l: ["z"] },
      markFailed: { g: "no" },
    },
  },
  { type: "node.ended", path: "g", outcome: { status: "skipped", because: "a" } },
  { type: "note", path: "b", text: "n" },
  { type: "warning", code: "W", text: "w" },
  { type: "run.paused", reason: "r" },
  {
    type: "run.resumed",
    after: 5,
    retryFailed: true,
    task: "b",
    limits: { maxTokens: 9 },
    parks: { onLimit: "end", onProviderFault: "fail" },
  },
  {
    type: "run.ended",
    outcome: {
      status: "failed",
      fault: { code: "SOME_FAILED", message: "m", retryable: false, hint: "h" },
      output: "o",
      usage,
      cost,
    },
  },
];
const events = facts.map((fact, at) => ({ seq: at + 1, run: RUN, path: "", at: 1_000 + at, ...fact }) as KeptEvent);

const look = createLook({ color: true, unicode: true });

/** Everything that shows or continues a run; each by its name, so that a failure says where. */
const views: Readonly<Record<string, (state: State, events: readonly KeptEvent[]) => unknown>> = {
  describe: (state) => describeState(state),
  life: (state) => [runStatusOf(state, false), openQuestions(state), lastParking(state)],
  plan: ({ plan }) => plan && [planTree(plan, { columns: 80, unicode: true }), planMermaid(plan)],
  graph: (state) => layersOf(graphOfRun(state)),
  transcript: (_, all) =>
    transcriptItems([transcriptsOf(all)], look).map((item) => [item, item.body({ columns: 80, look })]),
  conversations: (state) => conversationsOf([state]),
  result: (state) => [resultOf(state), resultMarkdown(state), resultJunit(state), githubAnnotations(state)],
  status: (state) => statusText(state, runStatusOf(state, false), 9_000),
  summary: (state) => summaryOf(state, { look, columns: 80, tasks: true }),
  logs: (state, all) => all.map((event) => lineFor(event, state, look, new Set())),
  top: (state) =>
    [true, false].map((one) =>
      rowsOf([shown(state)], { one, shape: "tree" }).map((row) => columns.map((column) => cellOf(row, column, 9_000))),
    ),
  web: (state, all) => [
    runRowOf(shown(state)),
    headOf(shown(state)),
    needRowsIn([shown(state)]),
    taskRowsOf(shown(state), new Map()),
    logLines(all, 1e9),
    ["", "a", "b"].map((path) => transcriptPart(all, { run: RUN, path, before: undefined })),
    callDetails(all, "c1"),
  ],
  spent: (_, all) => budgetSpent(all),
  changes: (_, all) => [changedFiles(all), diffCounts(all)],
  decisions: (_, all) => decisionsIn(all, () => []),
  resume: (_, all) => [
    historyOf(all),
    hasEnded(all, { retryFailed: true }),
    recordedAgents(all),
    rebuildConversation(all.filter(({ path }) => path === "b")),
  ],
};

const shown = (state: State): ShownRun => ({ id: RUN, state, life: runStatusOf(state, false), problems: [] });

/** The views that do not end with a value or a sentence for the user. */
function brokenViews(all: readonly KeptEvent[]): string[] {
  const failing = (work: () => unknown): string | undefined => {
    try {
      JSON.stringify(work());
      return undefined;
    } catch (error) {
      return isCrewError(error) ? undefined : String(error);
    }
  };
  let state: State | undefined;
  const folded = failing(() => {
    state = all.reduce(reduce, emptyState(RUN));
  });
  if (state === undefined) return [`fold: ${folded}`];
  const whole = state;
  return Object.entries(views).flatMap(([name, view]) => {
    const problem = failing(() => view(whole, all));
    return problem === undefined ? [] : [`${name}: ${problem}`];
  });
}

const VALUES: readonly unknown[] = [null, -1, "s", {}, [{}]];
/** Fields that hold one of a few words: for these, another text is also of another form. */
const WORDS = /^(?:kind|status|cap|effect|pick|exhausted|mode|waitsFor|into)$/;

/** The ways to every value inside of another one. */
function waysIn(value: unknown, way: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [way];
  return [way, ...Object.entries(value).flatMap(([key, inner]) => waysIn(inner, [...way, key]))];
}

const valueAt = (value: unknown, way: readonly string[]): unknown =>
  way.reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], value);

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  const inner = (value as Record<string, unknown>)[key];
  if (Array.isArray(value)) return value.with(Number(key), replaced(inner, rest, by));
  return { ...(value as object), [key]: replaced(inner, rest, by) };
}

test("FUZZ-10: the records that the fuzzer starts from are valid, and every view shows them", () => {
  expect(events.filter((event) => decodeLine(encodeLine(event, 1).trimEnd()) === undefined)).toEqual([]);
  expect(brokenViews(events)).toEqual([]);
});

test("FUZZ-10: a record with a right checksum and any field of another type is damage, or every view shows it", () => {
  const broken = new Set<string>();
  let tried = 0;
  for (const [at, event] of events.entries())
    for (const way of waysIn(event).filter(([key]) => key !== undefined && key !== "type" && key !== "seq"))
      for (const value of VALUES) {
        if (typeof value === typeof valueAt(event, way) && typeof value !== "object" && !WORDS.test(way.at(-1)!))
          continue;
        tried += 1;
        const line = encodeLine(replaced(event, way, value) as KeptEvent, 1).trimEnd();
        const changed = decodeLine(line)?.event;
        if (changed === undefined) continue;
        for (const view of brokenViews(events.with(at, changed)))
          broken.add(`${event.type} ${way.join(".")} = ${JSON.stringify(value)}: ${view}`);
      }
  expect(tried).toBeGreaterThan(1_000);
  expect([...broken]).toEqual([]);
});
