import { answerKind } from "../../core/plan/answer-kind.ts";
import { isActive } from "../../core/run/run-status.ts";
import { messageOf } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { createLook, type Look } from "../../core/view/look.ts";
import type { ShownRun, TopRow } from "../../core/view/run-rows.ts";
import { counted } from "../../core/view/words.ts";
import type { Crew } from "../../crew/crew-type.ts";
import { followRuns, type RunFeed } from "../../crew/follow-runs.ts";
import type { Key } from "../../tui/input/keys.ts";
import { FieldScreen } from "../../tui/top/field-screen.ts";
import { listedRows, listHeight, partsOf, topFrame, type TopState } from "../../tui/top/frame.ts";
import {
  type Act,
  firstView,
  keepSelection,
  press,
  selectedRow,
  type TopView,
  withoutOldNote,
} from "../../tui/top/view.ts";
import { askedCall } from "../terminal/asked-call.ts";
import { LiveScreen } from "../terminal/live-screen.ts";
import { questionLines } from "../terminal/questions.ts";
import { carryOut, notification } from "./act.ts";
import { openChanges, openSteps } from "./open-row.ts";
import { isBelowFolder } from "./project.ts";

export type TopOptions = Readonly<{
  look: Look;
  /** Shows only the tasks of this run. */
  run?: string | undefined;
  everywhere: boolean;
  notify?: "bell" | "osc9" | undefined;
}>;

const plain = createLook({ color: false, unicode: true });
/** How often ages are updated. When no shown text changes, nothing is written. */
const TICK_MS = 1_000;
const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Shows the screen until the person quits. Returns the exit code. */
export async function showTop(crew: Crew, options: TopOptions): Promise<number> {
  const over = new AbortController();
  const top: { screen?: TopScreen } = {};
  const changed = (): void => top.screen?.changed();
  const feed = await followRuns(crew, { only: options.run, signal: over.signal, changed });
  top.screen = new TopScreen(crew, feed, { ...options, signal: over.signal });
  return top.screen.show().finally(() => over.abort());
}

class TopScreen {
  readonly #crew: Crew;
  readonly #feed: RunFeed;
  readonly #options: TopOptions & Readonly<{ signal: AbortSignal }>;
  readonly #screen = new FieldScreen((text) => process.stderr.write(text));
  readonly #live: LiveScreen;
  #view: TopView;
  /** The rows on the screen. */
  #rows: readonly TopRow[] = [];
  /** The question in the selected row, with the tool call that it is about. */
  #asked: (NonNullable<TopState["asked"]> & Readonly<{ at: number }>) | undefined;
  /** How many rows needed the person at the last drawing. */
  #needing = 0;
  /** For each folder, whether a run in it belongs to the project: every frame needs this for every run. */
  readonly #ofProject = new Map<string, boolean>();
  #leave: (code: number) => void = () => {};

  constructor(crew: Crew, feed: RunFeed, options: TopOptions & Readonly<{ signal: AbortSignal }>) {
    this.#crew = crew;
    this.#feed = feed;
    this.#options = options;
    this.#view = { ...firstView, everywhere: options.everywhere };
    this.#live = new LiveScreen({
      draw: () => this.#draw(),
      clear: () => this.#screen.close(),
      key: (key) => this.#key(key),
      closed: () => this.#leave(0),
      everyMs: TICK_MS,
    });
  }

  /** Shows the screen until the person quits. */
  async show(): Promise<number> {
    const signals = (Object.keys(codes) as (keyof typeof codes)[]).map(
      (name) => [name, () => this.#leave(codes[name])] as const,
    );
    for (const [name, act] of signals) process.on(name, act);
    const left = new Promise<number>((done) => (this.#leave = done));
    this.#live.open();
    this.#live.move(true);
    const code = await left;
    for (const [name, act] of signals) process.off(name, act);
    this.#live.close();
    return code;
  }

  /** Draws the runs again, soon. */
  changed(): void {
    this.#live.drawSoon();
  }

  #size(): Readonly<{ columns: number; height: number }> {
    return { columns: process.stderr.columns || 80, height: process.stderr.rows || 24 };
  }

  #draw(): void {
    const { look, notify } = this.#options;
    const state: TopState = { ...this.#state(), asked: this.#asked };
    const listed = listedRows(state, this.#view);
    this.#view = withoutOldNote(this.#feed.runs(), keepSelection(listed.rows, this.#view));
    this.#rows = listed.rows;
    const selected = selectedRow(listed.rows, this.#view);
    if (selected) this.#readQuestion(selected);
    const [count = 0] = partsOf(listed.all).counts; // the first group contains the rows that wait for a person
    if (count > this.#needing && notify) process.stderr.write(notification(notify, count));
    this.#needing = count;
    const title = `${count > 0 ? `${count} need${count === 1 ? "s" : ""} you${look.signs.dot}` : ""}subcrew`;
    const canvas = { ...this.#size(), now: Date.now(), look };
    this.#screen.draw({ ...topFrame(state, this.#view, canvas, listed), title });
  }

  #state(): TopState {
    const { run, look } = this.#options;
    const all = this.#feed.runs();
    const runs = run !== undefined || this.#view.everywhere ? all : all.filter((each) => this.#isOfProject(each));
    const elsewhere = all.length - runs.length;
    const older = this.#feed.older();
    return {
      title:
        run === undefined
          ? `subcrew top${look.signs.dot}${this.#view.everywhere ? "all projects" : "this project"}`
          : `subcrew watch ${run}${all.length === 0 ? `${look.signs.dot}the run was deleted` : ""}`,
      runs,
      one: run !== undefined,
      hidden: [
        ...(elsewhere > 0 ? [`${counted(elsewhere, "run")} of other projects`] : []),
        ...(older > 0 ? [counted(older, "older run")] : []),
      ],
    };
  }

  /** A run whose start cannot be read may belong to any project, so it is shown in every project. */
  #isOfProject({ state: { cwd }, problems }: ShownRun): boolean {
    const is = this.#ofProject.get(cwd) ?? isBelowFolder(cwd, this.#crew.cwd);
    this.#ofProject.set(cwd, is);
    return is || (cwd === "" && problems.length > 0);
  }

  /** Reads the tool call that the question in the selected row is about, once. */
  #readQuestion({ key, run, path, node }: TopRow): void {
    const { question, call, wants, askedAt: at = 0 } = node ?? {};
    if (question === undefined || (this.#asked?.key === key && this.#asked.at === at)) return;
    this.#asked = { key, at, lines: question.split("\n") };
    void askedCall(this.#crew, { run: run.id, path, ...defined({ call }) }).then(
      (about) => {
        if (this.#asked?.key !== key || this.#asked.at !== at) return;
        const kind = answerKind({ call, wants });
        this.#asked = { key, at, lines: questionLines({ text: question, about, kind }, plain) };
        this.changed();
      },
      () => undefined, // if the tool call cannot be read, the text of the question is shown
    );
  }

  #note(text: string, of?: string): void {
    this.#view = { ...this.#view, note: text, noteOf: of };
    this.changed();
  }

  #key(pressed: Key): void {
    const { columns, height } = this.#size();
    const about = selectedRow(this.#rows, this.#view)?.run;
    const { view, act } = press(this.#rows, this.#view, pressed, listHeight(height, columns));
    this.#view = view;
    if (act?.do === "quit") return this.#leave(0);
    if (act?.do === "open") void this.#open(act);
    else if (act) this.#carryOut(act, about);
    this.changed();
  }

  /** Hands the terminal to the steps or changes of a row until the person returns. */
  async #open({ row: { run, path }, page }: Extract<Act, { do: "open" }>): Promise<void> {
    const open = page === "diff" ? openChanges : openSteps;
    await this.#live
      .lend(() => open(this.#crew, { run: run.id, path }, this.#options.look))
      .catch((error: unknown) => this.#note(messageOf(error)));
  }

  #carryOut(act: Exclude<Act, { do: "quit" | "open" }>, about: ShownRun | undefined): void {
    if (act.do === "command") this.#note(`subcrew ${act.words.join(" ")} ...`);
    const of = about && about.life !== "damaged" && isActive(about.life) ? about.id : undefined;
    const write = (text: string | Uint8Array): boolean => process.stderr.write(text);
    carryOut(this.#crew, act, { write, signal: this.#options.signal }).then(
      (text) => this.#note(text, of),
      (error: unknown) => this.#note(messageOf(error)),
    );
  }
}
