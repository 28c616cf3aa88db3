import type { Writable } from "node:stream";
import type { KeptEvent } from "../../core/run/event.ts";
import { isKept } from "../../core/run/kept-event.ts";
import type { State } from "../../core/run/state.ts";
import { crashAt } from "../../core/task/crash.ts";
import { defined } from "../../core/text/defined.ts";
import type { Look } from "../../core/view/look.ts";
import { terminalLine } from "../../core/view/words.ts";
import type { Run } from "../../runtime/run/run.ts";
import { outputOfRun } from "../../sinks/output.ts";
import { lineFor } from "../../sinks/plain.ts";
import { endedTaskLines, summaryOf } from "../../sinks/summary.ts";
import type { TextSink } from "../../sinks/text.ts";
import { chatRows } from "../../tui/chat/chat-rows.ts";
import { createHighlight } from "../../tui/markdown/highlight.ts";
import type { Highlight } from "../../tui/markdown/options.ts";
import { footRows } from "../../tui/run/run-rows.ts";
import { createRunView } from "../../tui/run/run-view.ts";
import { boxesOn, delegates } from "../terminal/helper-boxes.ts";
import type { OpenQuestions } from "../terminal/questions.ts";
import { restoreOnEnd } from "../terminal/restore-terminal.ts";
import { stderrScreen } from "../terminal/stderr-screen.ts";

/** A run on a terminal that can redraw: the answer in the scrollback, and at most 12 rows below it. */
export type RunScreen = TextSink &
  Readonly<{
    /** Prints lines above the rows. */
    print(lines: readonly string[]): void;
    redraw(): void;
    /** Asks these questions in the rows at the bottom. */
    ask(questions: OpenQuestions): void;
    /** Hands the terminal over to another screen; events that arrive meanwhile are printed afterwards. */
    lend<T>(work: () => Promise<T>): Promise<T>;
  }>;

export type RunScreenOptions = Readonly<{
  look: Look;
  out: Writable;
  /** Events before this time are not shown, because a resumed run repeats its earlier events. */
  since: number;
  clock?: (() => number) | undefined;
  /** The text about what Ctrl-C does while the run is parked (waits for a provider). */
  interrupt?: string | undefined;
  /** The text about the keys in the last row. */
  keys?: string | undefined;
}>;

const FRAME_MS = 100;
/** The maximum number of rows at the bottom: with more rows, too little of the earlier output would stay visible. */
const MOST_ROWS = 12;

export function createRunScreen({
  look,
  out,
  since,
  clock = Date.now,
  interrupt,
  keys = "",
}: RunScreenOptions): RunScreen {
  const { stderr } = process;
  const screen = stderrScreen();
  const prints = out === process.stdout && process.stdout.isTTY;
  let highlight: Highlight | undefined;
  if (look.colors.isColorSupported) void createHighlight(look).then((made) => (highlight = made));
  let shown: Run | undefined;
  let questions: OpenQuestions | undefined;
  let tick = 0;
  let hint = keys;
  let lent = 0;
  let asleep = false;
  const held: string[] = [];
  const named = new Set<string>();
  const columns = (): number => Math.max(20, screen.columns - 1);
  const view = createRunView({
    look,
    columns,
    highlight: () => highlight,
    boxes: boxesOn(look),
    delegates,
    prints,
    told: (event, state) => (TOLD.has(event.type) ? lineFor(event, state, look, named) : undefined),
    ended: endedTaskLines,
  });
  const rowsOf = (state: State): Readonly<{ rows: string[]; cursor?: { row: number; column: number } }> => {
    const height = screen.rows;
    const now = clock();
    const most = Math.max(2, Math.min(MOST_ROWS, height - 1));
    if (questions?.open()) {
      const asked = questions;
      return chatRows({
        look,
        columns: screen.columns,
        height,
        prompt: asked.prompt(),
        queue: [],
        hint: asked.hint(),
        working: (room) => {
          const about = asked.rows(room > 3 ? 2 : 1, columns());
          return [...(room > about.length ? view.rows(state, { now, tick, most: room - about.length }) : []), ...about];
        },
      });
    }
    const foot = footRows(state, { look, columns: screen.columns, now, hint, ...defined({ interrupt }) });
    return { rows: [...view.rows(state, { now, tick, most: Math.max(1, most - foot.length) }), ...foot].slice(-most) };
  };
  const draw = (print: readonly string[] = []): void => {
    held.push(...print);
    if (lent > 0 || asleep) return;
    const lines = held.splice(0);
    const state = shown?.state;
    if (state?.plan === undefined) return lines.length > 0 ? screen.frame({ print: lines, rows: [] }) : undefined;
    screen.frame({ print: lines, ...rowsOf(state) });
  };
  const close = (): void => screen.close();
  let withdraw: (() => void) | undefined;
  return {
    follow: async (run) => {
      shown = run;
      withdraw = restoreOnEnd(close);
      const timer = setInterval(() => {
        tick += 1;
        draw();
      }, FRAME_MS);
      const resized = (): void => draw();
      stderr.on("resize", resized);
      let path = "";
      try {
        for await (const event of run) {
          path = event.path;
          if (isKept(event)) questions?.follow(event);
          if (event.at < since) continue;
          const lines = view.lines(event, run.state);
          if (lines.length > 0) draw(lines);
        }
      } catch (thrown) {
        throw crashAt(thrown, { run: run.id, path });
      } finally {
        clearInterval(timer);
        stderr.off("resize", resized);
        shown = undefined;
        questions?.close();
        screen.frame({ print: [...held.splice(0), ...view.end(run.state, outputOfRun(run.state))], rows: [] });
        close();
      }
    },
    end: ({ state }) => {
      if (!prints) out.write(outputOfRun(state));
      const lines = summaryOf(state, { look, columns: screen.columns, tasks: false });
      stderr.write(`\n${lines.join("\n")}\n`);
    },
    pause: () => {
      asleep = true;
      close();
    },
    resume: () => {
      asleep = false;
      draw();
    },
    say: (text) => draw([terminalLine(text)]),
    hint: (text) => {
      hint = text;
      draw();
    },
    close: () => {
      withdraw?.();
      close();
    },
    print: draw,
    redraw: () => draw(),
    ask: (open) => {
      questions = open;
    },
    lend: async (work) => {
      lent += 1;
      close();
      try {
        return await work();
      } finally {
        lent -= 1;
        draw();
      }
    },
  };
}

/** Events that are printed on a line of their own, because neither the answer nor the task rows show them. */
const TOLD: ReadonlySet<KeptEvent["type"]> = new Set(["node.retried", "turn.started", "gate.answered"]);
