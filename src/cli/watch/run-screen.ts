import type { Event } from "../../core/run/event.ts";
import { isKept } from "../../core/run/kept-event.ts";
import type { State } from "../../core/run/state.ts";
import { crashAt } from "../../core/task/crash.ts";
import { defined } from "../../core/text/defined.ts";
import type { Look } from "../../core/view/look.ts";
import type { Run } from "../../runtime/run/run.ts";
import { outputOfRun } from "../../sinks/output.ts";
import type { LiveView } from "../../tui/chat/answer-view.ts";
import { chatRows } from "../../tui/chat/chat-rows.ts";
import type { Prompt } from "../../tui/chat/prompt.ts";
import type { Key } from "../../tui/input/keys.ts";
import { createHighlight } from "../../tui/markdown/highlight.ts";
import type { Highlight } from "../../tui/markdown/options.ts";
import { footRows } from "../../tui/run/run-rows.ts";
import type { ScreenFrame } from "../../tui/screen.ts";
import { LiveScreen } from "../terminal/live-screen.ts";
import type { OpenQuestions } from "../terminal/questions.ts";
import { stderrScreen } from "../terminal/stderr-screen.ts";

/** The input line below a run, and the messages that are sent later. */
export type InputLine = Readonly<{ prompt(): Prompt; queue(): readonly string[] }>;

export type RunScreenOptions = Readonly<{
  look: Look;
  key(key: Key): void;
  closed(): void;
  /** The text about the keys in the last row; `asked` is the question that is answered now. */
  hint(asked: OpenQuestions | undefined): string;
  /** Absent: the last row shows the progress of the run, and only questions have an input line. */
  input?: InputLine;
  /** The text about what Ctrl-C does while the run is parked (waits for a provider). */
  interrupt?: string;
  clock?: () => number;
  /** False: standard input is not read. */
  reads?: boolean;
}>;

/** How a run is shown. */
export type ShownRunOptions = Readonly<{
  view: LiveView;
  questions?: OpenQuestions;
  /** Events before this time are not shown, because a resumed run repeats its earlier events. */
  since?: number;
  /** Called after each event was shown. */
  each?(event: Event): Promise<void>;
}>;

/** Work other than a run, such as a shell command that the person typed. */
export type OtherWork = Readonly<{ rows(most: number, tick: number): string[]; stop(): void }>;

/** The maximum number of rows at the bottom: with more rows, too little of the earlier output would stay visible. */
const MOST_ROWS = 12;

/**
 * Runs on a terminal that can redraw: their answers in the scrollback and at most 12 rows below it, with or without an
 * input line. Lines that are printed while the terminal cannot be used are printed afterwards.
 */
export class RunScreen {
  readonly #options: RunScreenOptions;
  readonly #screen = stderrScreen();
  readonly #live: LiveScreen;
  readonly #held: string[] = [];
  #highlight: Highlight | undefined;
  #shown: (ShownRunOptions & Readonly<{ state: State }>) | undefined;
  #other: OtherWork | undefined;
  #tick = 0;

  constructor(options: RunScreenOptions) {
    const { look, key, closed, reads = true } = options;
    this.#options = options;
    this.#live = new LiveScreen({
      draw: () => this.#draw(),
      clear: () => this.#screen.close(),
      tick: () => (this.#tick += 1),
      key,
      closed,
      reads,
    });
    if (look.colors.isColorSupported) void createHighlight(look).then((made) => (this.#highlight = made));
  }

  open(): void {
    this.#live.open();
  }

  /** Closes the screen; lines that could not be printed yet are printed. */
  close(): void {
    this.#live.close();
    if (this.#held.length > 0) this.#screen.frame({ print: this.#held.splice(0), rows: [] });
    this.#screen.close();
  }

  /** The width for text: the last column stays free. */
  columns(): number {
    return Math.max(20, this.#screen.columns - 1);
  }

  highlight(): Highlight | undefined {
    return this.#highlight;
  }

  /** The questions of the shown run, while one is answered. An input line is not interrupted by a question. */
  asking(): OpenQuestions | undefined {
    const { input } = this.#options;
    const questions = this.#shown?.questions;
    return questions?.open() && (!input || input.prompt().editor.text === "") ? questions : undefined;
  }

  /** True while a question waits, also one that is not answered now. */
  hasQuestion(): boolean {
    return this.#shown?.questions?.open() ?? false;
  }

  draw(): void {
    this.#live.draw();
  }

  /** Draws on an empty screen. */
  redraw(): void {
    process.stderr.write("\u001b[2J\u001b[H");
    this.#screen.clear();
    this.draw();
  }

  /** Prints lines above the rows. */
  print(lines: readonly string[]): void {
    this.#held.push(...lines);
    if (this.#live.isOpen()) this.#live.draw();
    else this.#screen.frame({ print: this.#held.splice(0), rows: [] });
  }

  lend<T>(work: () => Promise<T>): Promise<T> {
    return this.#live.lend(work);
  }

  isLent(): boolean {
    return this.#live.isLent();
  }

  /** Shows a run until it ends or is paused. */
  async show(run: Run, shown: ShownRunOptions): Promise<void> {
    const { view, questions, since = 0, each } = shown;
    this.#shown = { ...shown, state: run.state };
    this.#live.move(true);
    let path = "";
    try {
      for await (const event of run) {
        path = event.path;
        if (isKept(event)) questions?.follow(event);
        const lines = event.at < since ? [] : view.lines(event, run.state);
        if (lines.length > 0) this.print(lines);
        await each?.(event);
      }
    } catch (thrown) {
      throw crashAt(thrown, { run: run.id, path });
    } finally {
      this.#live.move(false);
      questions?.close();
      this.#shown = undefined;
      this.print(view.end(run.state, outputOfRun(run.state)));
    }
  }

  /** Shows the rows of other work until it ends. */
  async during<T>(other: OtherWork, ended: Promise<T>): Promise<T> {
    this.#other = other;
    this.#tick = 0;
    this.#live.move(true);
    this.draw();
    try {
      return await ended;
    } finally {
      this.#live.move(false);
      this.#other = undefined;
      this.draw();
    }
  }

  #draw(): void {
    const print = this.#held.splice(0);
    const frame = this.#rows();
    if (print.length > 0 || frame.rows.length > 0 || frame.cursor) this.#screen.frame({ print, ...frame });
  }

  #rows(): Omit<ScreenFrame, "print"> {
    const { look, input, hint } = this.#options;
    const asked = this.asking();
    if (!input && !asked) return { rows: this.#runRows() };
    return chatRows({
      look,
      columns: this.#screen.columns,
      height: this.#screen.rows,
      prompt: asked?.prompt() ?? input!.prompt(),
      queue: input?.queue() ?? [],
      hint: hint(asked),
      working: this.#other || this.#shown ? (most) => this.#workRows(most, asked) : undefined,
    });
  }

  /** The rows about the current work, and the question that is answered now. */
  #workRows(most: number, asked: OpenQuestions | undefined): string[] {
    if (this.#other) return this.#other.rows(most, this.#tick);
    const about = asked?.rows(most > 3 ? 2 : 1, this.columns()) ?? [];
    return [...(most > about.length ? this.#viewRows(most - about.length) : []), ...about];
  }

  #viewRows(most: number): string[] {
    const { clock = Date.now } = this.#options;
    return this.#shown?.view.rows(this.#shown.state, { now: clock(), tick: this.#tick, most }) ?? [];
  }

  /** The rows of a run without an input line. */
  #runRows(): string[] {
    const { look, hint, interrupt, clock = Date.now } = this.#options;
    const state = this.#shown?.state;
    if (state?.plan === undefined) return [];
    const { columns, rows } = this.#screen;
    const most = Math.max(2, Math.min(MOST_ROWS, rows - 1));
    const foot = footRows(state, { look, columns, now: clock(), hint: hint(undefined), ...defined({ interrupt }) });
    return [...this.#viewRows(Math.max(1, most - foot.length)), ...foot].slice(-most);
  }
}
