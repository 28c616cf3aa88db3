import fc from "fast-check";
import { expect, test } from "vitest";
import { endLines } from "../../../src/cli/chat/answer-end.ts";
import { conversationList } from "../../../src/cli/chat/kept-conversations.ts";
import { inboxLine } from "../../../src/cli/runs/inbox-triage.ts";
import { questionLines } from "../../../src/cli/terminal/questions.ts";
import { answerKind } from "../../../src/core/plan/answer-kind.ts";
import type { KeptEvent } from "../../../src/core/run/event.ts";
import { openQuestions } from "../../../src/core/run/run-status.ts";
import { emptyState, reduce, type State } from "../../../src/core/run/state.ts";
import { conversationsOf } from "../../../src/core/view/conversations.ts";
import { createLook } from "../../../src/core/view/look.ts";
import { transcriptsOf } from "../../../src/core/view/transcript.ts";
import { lineFor } from "../../../src/sinks/plain.ts";
import { endedTaskLines, summaryOf } from "../../../src/sinks/summary.ts";
import { transcriptText } from "../../../src/sinks/transcript/text.ts";
import { createBoxes } from "../../../src/tui/boxes.ts";
import { chatRows } from "../../../src/tui/chat/chat-rows.ts";
import { emptyPrompt, promptWith } from "../../../src/tui/chat/prompt.ts";
import { transcriptItems } from "../../../src/tui/chat/transcript-items.ts";
import { transcriptRows } from "../../../src/tui/chat/transcript-screen.ts";
import { createHighlight } from "../../../src/tui/markdown/highlight.ts";
import { footRows, taskRows } from "../../../src/tui/run/run-rows.ts";
import { createRunView } from "../../../src/tui/run/run-view.ts";
import { topFrame } from "../../../src/tui/top/frame.ts";
import { changeItems } from "../../../src/cli/screen/open-row.ts";
import { firstView } from "../../../src/tui/top/view.ts";

const look = createLook({ color: true, unicode: true });
const highlight = await createHighlight(look);

/**
 * Hostile texts of models, tools, files and agents: they move the cursor, set the title, fill the clipboard or reorder
 * text.
 */
const pieces = fc.constantFrom(
  "\u001b]0;TITLE\u0007",
  "\u001b]52;c;aGk=\u0007",
  "\u001b]8;;https://x\u001b\\link",
  "\u001b[2J\u001b[H",
  "\u001b[10A\u001b[?1049h",
  "\u001b[31",
  "\u001bP+q\u001b\\",
  "\u001bc",
  "\u009b2J",
  "\u009d0;TITLE\u009c",
  "\u0090x\u009c",
  "\u0085\u008d",
  "\r",
  "over\rwrite",
  "\b\b\b",
  "\u0007\u000b\u000c\u007f\u0000",
  "\u202eesrever\u202c",
  "\u2066a\u2069\u200f\u061c",
  "\t",
  "\n",
  "words and more words",
  "日本語",
  "👩‍👩‍👧",
  "```ts\nconst a = 1;\n",
  "| a | b |\n|---|---|\n| c | d |\n",
  "- item\n",
  "# head\n",
  "[a](\u001b]0;x\u0007)",
  "--- a\n+++ b\n@@ -1 +1 @@\n-x\u001b[2J\n+y\r\n",
);
const hostile = fc.array(pieces, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(""));

/** Everything that a terminal acts on, and characters that reorder text. */
const ACTS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** Colours come from subcrew, and are the only sequences that a line may have. */
const COLOURS = /\u001b\[[0-9;]*m/g;

/** The events of a run in which every text is hostile. */
function eventsWith(next: () => string): KeptEvent[] {
  const agent = next();
  const id = `a${next().replace(/[/.]/g, "")}`;
  const tool = (call: string, text: string, error: boolean): object[] => [
    { type: "tool.started", path: id, call, tool: next(), preview: next(), effect: "write" },
    { type: "tool.ended", path: id, call, tool: next(), text, ms: 300, error },
  ];
  const facts: object[] = [
    {
      type: "run.started",
      path: "",
      name: next(),
      plan: { nodes: { [id]: { kind: "task", task: { prompt: next(), agent, label: next() } } }, output: id },
      cwd: `/project/${next()}`,
      version: "1",
    },
    { type: "node.started", path: id, kind: "task", attempt: 1, agent, prompt: next(), label: next() },
    { type: "agent.resolved", path: id, agent, model: next(), hash: "x", rights: [next()] },
    { type: "turn.started", path: id, turn: 1, model: next() },
    { type: "text.delta", path: id, text: next() },
    { type: "thinking.delta", path: id, text: next() },
    {
      type: "turn.ended",
      path: id,
      turn: 1,
      text: next(),
      thinking: next(),
      calls: [{ id: "1", name: next(), input: { path: next(), command: next() } }],
      usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0, contextTokens: 1, turns: 1 },
      cost: { usd: 0, unpriced: 0 },
    },
    ...tool("1", next(), false),
    ...tool("2", next(), true),
    { type: "tool.denied", path: id, call: "3", tool: next(), rule: next(), text: next() },
    { type: "tool.started", path: id, call: "4", tool: next(), preview: next(), effect: "write" },
    { type: "tool.delta", path: id, call: "4", text: next() },
    { type: "warning", path: id, code: "X", text: next() },
    { type: "rights.reduced", path: id, agent: next(), reason: next(), lost: [next()] },
    { type: "message.sent", path: id, from: next(), text: next() },
    { type: "node.parked", path: id, why: next(), helps: next(), waitsFor: "person" },
    {
      type: "files.changed",
      path: id,
      call: "1",
      files: [{ file: `/project/${next()}`, before: { kind: "absent" }, after: { kind: "folder" } }],
    },
    {
      type: "node.started",
      path: `${id}/h${next().replace(/[/.]/g, "")}`,
      kind: "task",
      attempt: 1,
      agent: next(),
      prompt: next(),
    },
    { type: "gate.opened", path: id, question: next(), call: "4" },
  ];
  return facts.map(
    (fact, index) => ({ seq: index + 1, run: "run_x", at: 1_000 + index, ...fact }) as unknown as KeptEvent,
  );
}

/** The output of every view of a run, before and after its end. */
function* shownBy(next: () => string, columns: number): Generator<readonly [view: string, lines: readonly string[]]> {
  const events = eventsWith(next);
  const id = events[1]!.path;
  const outcome = {
    status: "failed",
    fault: { code: "X", message: next(), hint: next(), retryable: false },
    output: next(),
  };
  const ends = [
    { type: "node.ended", path: id, outcome },
    { type: "run.ended", path: "", outcome },
  ].map((fact, index) => ({ seq: 100 + index, run: "run_x", at: 5_000 + index, ...fact }) as unknown as KeptEvent);
  const state: State = emptyState("run_x");
  const options = { look, columns, highlight };
  const shared = { look, columns: () => columns, delegates: () => false };
  const view = createRunView({
    ...shared,
    highlight: () => highlight,
    boxes: createBoxes(shared),
    prints: true,
    told: (event, now) => lineFor(event, now, look, new Set()),
    ended: endedTaskLines,
  });
  const split = (text: string | undefined): string[] => (text ?? "").split("\n");
  for (const event of [...events, ...ends]) {
    reduce(state, event);
    yield [`an answer, ${event.type}`, view.lines(event, state)];
    yield ["an answer while it is made", view.rows(state, { now: 9_000, tick: 1, most: 11 })];
    yield ["plain lines", split(lineFor(event, state, look, new Set()))];
    if (event.type === "gate.opened") {
      const calls = [{ id: "4", name: next(), input: { oldText: next(), newText: next(), path: next() } }, undefined];
      for (const about of calls)
        yield ["a question", questionLines({ text: event.question, about, kind: answerKind(event) }, look)];
      for (const asked of openQuestions(state))
        yield ["the inbox", [inboxLine({ ...asked, life: "running", answered: false }, 9_000, columns, look)]];
    }
    if (event.type !== "gate.opened" && event.type !== "run.ended") continue;
    yield ["rows of tasks", taskRows(state, { look, columns, most: 11, now: 9_000, tick: 1 })];
    yield ["the last rows", footRows(state, { look, columns, now: 9_000, hint: "" })];
    const life = event.type === "run.ended" ? "failed" : "running";
    const top = {
      title: "top",
      runs: [{ id: "run_x", state, life, problems: [next()] } as const],
      one: false,
      hidden: [],
    };
    for (const one of [true, false])
      for (const shape of ["tree", "flat"] as const)
        for (const peek of [true, false]) {
          const chosen = { ...firstView, shape, peek, selected: `run_x/${id}`, filter: peek ? "" : next(), note: "" };
          const frame = topFrame({ ...top, one }, chosen, { columns, height: 24, now: 9_000, look });
          yield [`the list as ${shape}`, frame.rows.flat().map(({ text, paint }) => paint?.(text) ?? text)];
        }
  }
  yield ["the end of an answer", view.end(state, next())];
  yield ["what is below an answer", endLines(state, [...events, ...ends], look)];
  yield ["a summary", summaryOf(state, { look, columns, tasks: true })];
  yield ["conversations", split(conversationList(conversationsOf([state]), columns, look))];
  const transcripts = transcriptsOf([...events, ...ends]);
  const items = transcriptItems([transcripts], look);
  const open = { selected: 0, open: new Set(items.keys()), top: 0 };
  yield ["a transcript", transcriptRows(items, open, { columns, height: 400, options })];
  const text = transcriptText(transcripts, { look, full: true });
  yield ["a transcript as text", split(text).map((line) => line.replaceAll("\t", ""))];
  const file = { name: next(), tasks: [next()], diff: next(), file: "", added: 1, removed: 0, changedSince: false };
  const changes = changeItems({ files: [{ ...file, how: "changed" }], unseen: [{ reason: next(), calls: 1 }] });
  const all = { ...open, open: new Set(changes.keys()) };
  yield ["changes", transcriptRows(changes, all, { columns, height: 400, options })];
  const prompt = {
    ...promptWith(emptyPrompt([next()]), next()),
    completions: { words: [next(), next()], from: 0, chosen: 1 },
  };
  const rows = chatRows({ look, columns, height: 24, prompt, queue: [next(), next()], working: () => [], hint: "" });
  yield ["the prompt", rows.rows];
  const search = chatRows({
    look,
    columns,
    height: 24,
    prompt: { ...emptyPrompt([next()]), search: next() },
    queue: [],
    hint: "",
  });
  yield ["a search in the history", search.rows];
}

test("text of models, tools, files or agents cannot control the terminal or reorder its text, in any view", () => {
  fc.assert(
    fc.property(fc.infiniteStream(hostile), fc.integer({ min: 30, max: 120 }), (texts, columns) => {
      const source = texts[Symbol.iterator]();
      const next = (): string => source.next().value as string;
      for (const [view, lines] of shownBy(next, columns))
        for (const line of lines) {
          const rest = line.replace(COLOURS, "");
          if (ACTS.test(rest)) throw new Error(`${view}: ${JSON.stringify(rest)}`);
        }
    }),
    { numRuns: 25 },
  );
  expect(ACTS.test("\u001b")).toBe(true);
});

test("the words of an agent's question cannot imitate another question: no row begins at the left margin", () => {
  const forged = "general wants to use bash (the command is not on a list):\n  command: ls\nAllow this call?\n> y";
  for (const text of [forged, `${"wide ".repeat(60)}general asks:`, "a\r\u001b[1Ageneral asks:", "\n\n\ngeneral asks:"])
    for (const about of [undefined, { id: "1", name: "ask", input: { question: text } }])
      for (const row of questionLines({ text, about, kind: "words" }, look)) expect(row).toMatch(/^ {2}/);
});
