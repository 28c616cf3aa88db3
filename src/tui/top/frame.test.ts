import { expect, test } from "vitest";
import { noUsage } from "../../core/outcome/usage.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { Event } from "../../core/run/event.ts";
import type { RunStatus } from "../../core/run/run-status.ts";
import { emptyState, reduce } from "../../core/run/state.ts";
import { createLook } from "../../core/view/look.ts";
import type { FieldFrame } from "./field-screen.ts";
import { topFrame, listedRows, type TopState } from "./frame.ts";
import { type ShownRun, shownEnd } from "../../core/view/run-rows.ts";
import { firstView, keepSelection, press, selectedRow, type TopView, withoutOldNote } from "./view.ts";

const look = createLook({ color: false, unicode: false });

/** A run from facts, as the journal keeps them. */
function runOf(
  id: string,
  plan: object,
  facts: readonly (readonly [path: string, fact: object])[],
  life: RunStatus = "running",
): ShownRun {
  const state = emptyState(id);
  const events = [["", { type: "run.started", plan: plan as Plan, cwd: "/w", version: "1" }] as const, ...facts];
  for (const [index, [path, fact]] of events.entries())
    reduce(state, { seq: index + 1, run: id, at: 1_000 * (index + 1), path, ...fact } as unknown as Event);
  return { id, state, life, problems: [] };
}

const task = (prompt: string, needs: string[] = []): object => ({
  kind: "task",
  needs,
  task: { agent: "explore", prompt },
});
const started = (more: object = {}): object => ({
  type: "node.started",
  kind: "task",
  attempt: 1,
  agent: "explore",
  ...more,
});

/** One run with a row in each group. */
const release = runOf(
  "run_1",
  {
    output: "notes",
    nodes: {
      build: task("Build it"),
      "explore-7": task("Find large files\nand more"),
      test: task("Test it"),
      ask: { kind: "gate", question: "Publish?" },
      notes: task("Write notes", ["build", "ask"]),
      idle: task("Idle"),
    },
  },
  [
    ["build", started({ prompt: "Build it" })],
    ["build", { type: "turn.started", turn: 1, model: "claude-sonnet-4-5", limits: { maxTurns: 30, maxTimeMs: 1 } }],
    [
      "build",
      {
        type: "turn.ended",
        turn: 1,
        text: "",
        calls: [],
        usage: { ...noUsage(), input: 40_000, contextTokens: 124_000, turns: 5 },
        cost: { usd: 0.25, unpriced: 0 },
      },
    ],
    ["build", { type: "tool.started", call: "1", tool: "bash", preview: "npm test", effect: "write" }],
    ["build/explore-1", started({ prompt: "Look into src\nplease" })],
    ["explore-7", started({ prompt: "Find large files\nand more" })],
    ["explore-7", { type: "node.ended", outcome: { status: "ok", output: "three files" } }],
    ["test", started()],
    [
      "test",
      {
        type: "node.ended",
        outcome: { status: "failed", fault: { code: "CRASHED", message: "it broke", retryable: false } },
      },
    ],
    ["ask", { type: "node.started", kind: "gate", attempt: 1 }],
    ["ask", { type: "gate.opened", question: "Publish 1.2.3?" }],
  ],
);

const oneRun: TopState = { title: "watch", runs: [release], one: true, hidden: [] };

function viewOf(state: TopState, more: Partial<TopView> = {}): TopView {
  const view = { ...firstView, ...more };
  return keepSelection(listedRows(state, view).rows, view);
}

/** The frame as lines of text. */
function linesOf({ rows }: FieldFrame): string[] {
  return rows.map((row) => {
    let text = "";
    for (const field of row) text = text.padEnd(field.column) + field.text;
    return text.trimEnd();
  });
}

const draw = (state: TopState, view: TopView, columns = 80, height = 24): string[] =>
  linesOf(topFrame(state, view, { columns, height, now: 60_000, look }));

test("top shows groups in reading order, and names rows by their task", () => {
  const lines = draw(oneRun, viewOf(oneRun));
  expect(lines.slice(0, 16)).toEqual([
    "watch                        1 needs you, 1 failed, 2 working, 2 waiting, 1 done",
    "    NAME                  AGENT      MODEL         DOING                 TURNS",
    "NEEDS YOU (1)",
    "> ? ask                                            Publish 1.2.3?",
    "FAILED (1)",
    "  x test                  explore                  it broke",
    "WORKING (2)",
    "  | build                 explore    claude-son... bash npm test         5/30",
    "  | + Look into src       explore                  starting",
    "WAITING (2)",
    "  z notes                 explore                  for build, ask",
    "  z idle                  explore                  for a free slot",
    "DONE (1)",
    "  + Find large files      explore                  three files",
    "",
    "",
  ]);
});

test("a wide terminal shows every column, and a narrow terminal drops columns, the last column first", () => {
  const headings = (columns: number): string => draw(oneRun, viewOf(oneRun), columns)[1]!.trim().replace(/\s+/g, " ");
  expect(headings(200)).toBe("NAME AGENT MODEL DOING TURNS CTX TOKENS PRICE DIFF AGE");
  expect(headings(90)).toBe("NAME AGENT MODEL DOING TURNS CTX");
  expect(headings(60)).toBe("NAME AGENT MODEL");
  expect(headings(30)).toBe("NAME AGENT");
  const row = draw(oneRun, viewOf(oneRun), 200).find((line) => line.includes("npm test"))!;
  expect(row.trim().replace(/\s+/g, " ")).toBe(
    "| build explore claude-sonnet-4-5 bash npm test 5/30 62% 40k $0.2500 58s",
  );
});

test("top counts all hidden rows", () => {
  const short = draw(oneRun, viewOf(oneRun), 80, 10);
  const shown = short.slice(2, 7).filter((line) => /^[> ] [?x|z+] /.test(line)).length;
  expect(short.join("\n")).toContain(`hidden: ${7 - shown} below`);
  const filtered = draw({ ...oneRun, hidden: ["3 runs of other projects"] }, viewOf(oneRun, { filter: "is:failed" }));
  expect(filtered.join("\n")).toContain('hidden: 6 do not match "is:failed", 3 runs of other projects');
});

test.each([
  ["is:failed", ["test"]],
  ["agent:explore is:working", ["build", "Look into src"]],
  ["agent:explore is:waiting", ["notes", "idle"]],
  ["LARGE", ["Find large files"]],
  ["is:nonsense", []],
  ["publish is:needs", ["ask"]],
])("the filter %s keeps %j", (filter, names) => {
  expect(listedRows(oneRun, { ...firstView, filter }).rows.map(({ name }) => name)).toEqual(names);
});

test("the keys of the selected row are shown at every size, and help and quit always are", () => {
  for (const columns of [40, 80, 200]) {
    const keys = draw(oneRun, viewOf(oneRun), columns)
      .slice(columns < 160 ? -2 : -1)
      .join(" ");
    expect(keys).toMatch(/y allow {2}n deny/);
    expect(keys).toMatch(/\? help {2}q quit$/);
  }
  const failed = draw(oneRun, viewOf(oneRun, { selected: "run_1/test" }), 160).at(-1);
  expect(failed).toContain("r retry");
  expect(failed).not.toContain("y allow");
  expect(failed).not.toContain("everywhere"); // in the view of a single run there is no rule for the whole project
});

const key = (name: string) => ({ name, ...(name.length === 1 && { text: name }) });

test("the answer that a person types in top is sent together with the question that was shown", () => {
  const { rows } = listedRows(oneRun, firstView);
  expect(press(rows, viewOf(oneRun), key("y"), 10).act).toEqual({
    do: "answer",
    question: { run: "run_1", path: "ask", question: "Publish 1.2.3?", askedAt: 12_000 },
    answer: { approve: true },
  });
});

test("a terminal of 20 by 5 shows the selected row and its first keys", () => {
  const [, ...rows] = draw(oneRun, viewOf(oneRun), 20, 5);
  expect(rows).toEqual(["NEEDS YOU (1)", "> ? ask", "hidden: 6 below", "y allow  n deny"]);
});

test("a person who refuses a question in top can give a reason", () => {
  const { rows } = listedRows(oneRun, firstView);
  let view = press(rows, viewOf(oneRun), key("n"), 10).view;
  for (const name of ["t", "o", "o", " ", "b", "i", "g"]) view = press(rows, view, key(name), 10).view;
  expect(press(rows, view, key("enter"), 10).act).toMatchObject({
    do: "answer",
    answer: { approve: false, text: "too big" },
  });
});

test("cancelling a task in top lists the other tasks that end, and asks for a second key", () => {
  const { rows } = listedRows(oneRun, firstView);
  const asked = press(rows, viewOf(oneRun, { selected: "run_1/build" }), key("x"), 10);
  expect(asked.act).toBeUndefined();
  expect(draw(oneRun, asked.view, 160).at(-1)).toBe(
    'Cancel "build"? Also 1 helper will end; skipped as a result: notes, ask. [y] yes, any other key: no',
  );
  // The two keys are shown at any width.
  expect(draw(oneRun, asked.view, 80).slice(-2)).toEqual([
    'Cancel "build"? Also 1 helper will end; skipped as a result: notes, ask.',
    "[y] yes, any other key: no",
  ]);
  expect(draw(oneRun, asked.view, 40).slice(-2)).toEqual([
    'Cancel "build"? Also 1 helper will end;',
    "skipped a... [y] yes, any other key: no",
  ]);
  expect(press(rows, asked.view, key("y"), 10).act).toEqual({ do: "command", words: ["cancel", "run_1/build"] });
  expect(press(rows, asked.view, key("n"), 10).act).toBeUndefined();
});

test("a key that is pressed twice in top answers only one question", () => {
  const { rows } = listedRows(oneRun, firstView);
  const once = press(rows, viewOf(oneRun), key("y"), 10);
  expect(once.act).toMatchObject({ do: "answer" });
  const shown = keepSelection(rows, once.view);
  expect(press(rows, shown, key("y"), 10).act).toBeUndefined();
  expect(shown.selected).toBe("run_1/ask");
  const moved = press(rows, press(rows, shown, key("down"), 10).view, key("up"), 10).view;
  expect(press(rows, moved, key("y"), 10).act).toMatchObject({ do: "answer" });
});

test("a filter selects the first row that matches while it is typed", () => {
  const typing = press(listedRows(oneRun, firstView).rows, viewOf(oneRun), key("/"), 10).view;
  const filtered = "is:failed".split("").reduce((view, letter) => press([], view, key(letter), 10).view, typing);
  const { rows } = listedRows(oneRun, filtered);
  expect(selectedRow(rows, keepSelection(rows, filtered))?.group).toBe("failed");
});

test("in top, no key acts on another row when the selected row is gone", () => {
  const view = keepSelection(listedRows(oneRun, firstView).rows, { ...firstView, selected: "run_1/gone", at: 2 });
  const { rows } = listedRows(oneRun, view);
  expect(selectedRow(rows, view)).toBeUndefined();
  expect(press(rows, view, key("y"), 10).act).toBeUndefined();
  expect(press(rows, view, key("down"), 10).view.selected).toBe("run_1/build");
});

test("in the list of all runs, an ended run is one row, and a running run has its tasks below it", () => {
  const ended = runOf("run_2", { output: "b", nodes: { a: task("One"), b: task("Two", ["a"]) } }, [], "ok");
  const all: TopState = { title: "top", runs: [release, ended], one: false, hidden: [] };
  const { rows } = listedRows(all, firstView);
  expect(rows.map(({ key: each, group, depth }) => [each, group, depth])).toEqual([
    ["run_1/ask", "needs you", 0],
    ["run_1/test", "failed", 0],
    ["run_1", "working", 0],
    ["run_1/build", "working", 1],
    ["run_1/build/explore-1", "working", 2],
    ["run_1/notes", "waiting", 0],
    ["run_1/idle", "waiting", 0],
    ["run_1/explore-7", "done", 0],
    ["run_2", "done", 0],
  ]);
  expect(press(rows, viewOf(all), key("t"), 10).view.shape).toBe("flat");
});

test("a task at its provider's limit shows when it continues, and one without a key shows that a person must act", () => {
  const until = new Date(2026, 0, 2, 14, 5).getTime();
  const parked = (more: object): ShownRun =>
    runOf("run_3", { output: "a", nodes: { a: task("A") } }, [
      ["a", started()],
      ["a", { type: "node.parked", why: "The quota is used up.", helps: "", ...more }],
    ]);
  const rowOf = (run: ShownRun) => listedRows({ ...oneRun, runs: [run] }, firstView).rows[0]!;
  expect(rowOf(parked({ waitsFor: "quota", until }))).toMatchObject({
    group: "waiting",
    waitsFor: "provider until 14:05: The quota is used up.",
  });
  expect(rowOf(parked({ waitsFor: "key" })).group).toBe("needs you");
});

test("in top, an answer is typed in the row of its question, where the cursor is", () => {
  const state: TopState = { title: "t", runs: [release], one: true, hidden: [] };
  const { rows } = listedRows(state, firstView);
  const asking = rows.find(({ group }) => group === "needs you")!;
  let view: TopView = { ...firstView, selected: asking.key };
  for (const key of [{ name: "n" }, ...Array.from("too long", (text) => ({ name: text, text }))])
    view = press(rows, view, key, 10).view;
  const frame = topFrame(state, view, { columns: 80, height: 24, now: 0, look });
  const at = frame.rows.findIndex((row) => row.some(({ text }) => text === "deny: too long"));
  expect(frame.rows[at]!.map(({ text }) => text)).toContain(asking.name);
  const field = frame.rows[at]!.find(({ text }) => text === "deny: too long")!;
  expect(frame.cursor).toEqual({ row: at, column: field.column + "deny: too long".length });
});

test("a message about a run disappears when the run is no longer active, and its clock stops", () => {
  const view = { ...firstView, note: "The run is being paused.", noteOf: release.id };
  expect(withoutOldNote([{ ...release, life: "running" }], view)).toBe(view);
  expect(withoutOldNote([{ ...release, life: "paused" }], view).note).toBe("");
  const node = release.state.nodes.get("build");
  const ends = (life: typeof release.life) => [shownEnd({ ...release, life }), shownEnd({ ...release, life }, node)];
  expect(ends("running")).toEqual([undefined, undefined]);
  expect(ends("interrupted")).toEqual([release.state.lastAt, release.state.lastAt]);
  expect(release.state.lastAt).toBeGreaterThan(release.state.startedAt);
});
