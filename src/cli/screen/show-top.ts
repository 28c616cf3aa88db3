import { answerKind } from "../../core/plan/answer-kind.ts";
import { type Key } from "../../tui/input/keys.ts";
import { isBelowFolder } from "./project.ts";
import { FieldScreen, type FieldFrame } from "../../tui/top/field-screen.ts";
import { topFrame, listedRows, listHeight, partsOf, type TopState } from "../../tui/top/frame.ts";
import type { ShownRun, TopRow } from "../../core/view/run-rows.ts";
import { firstView, keepSelection, press, selectedRow, type TopView, withoutOldNote } from "../../tui/top/view.ts";
import { isActive } from "../../core/run/run-status.ts";
import { messageOf } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { createLook, type Look } from "../../core/view/look.ts";
import { counted } from "../../core/view/words.ts";
import type { Crew } from "../../crew/crew-type.ts";
import { askedCall } from "../terminal/asked-call.ts";
import { questionLines } from "../terminal/questions.ts";
import { createRawInput } from "../terminal/raw-input.ts";
import { restoreOnEnd } from "../terminal/restore-terminal.ts";
import { carryOut, notification } from "./act.ts";
import { followRuns } from "../../crew/follow-runs.ts";
import { openChanges, openSteps } from "./open-row.ts";

export type TopOptions = Readonly<{
  look: Look;
  /** Shows only the tasks of this run. */
  run?: string | undefined;
  everywhere: boolean;
  notify?: "bell" | "osc9" | undefined;
}>;

const plain = createLook({ color: false, unicode: true });
/** The shortest time between two frames. */
const FRAME_MS = 100;
/** How often ages are updated. When no shown text changes, nothing is written. */
const TICK_MS = 1_000;
const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Shows the screen until the person quits. Returns the exit code. */
export async function showTop(crew: Crew, { look, run, everywhere, notify }: TopOptions): Promise<number> {
  const { stderr } = process;
  const over = new AbortController();
  const screen = new FieldScreen((text) => stderr.write(text));
  let view: TopView = { ...firstView, everywhere };
  let seen: readonly TopRow[] = [];
  let timer: NodeJS.Timeout | undefined;
  let drawnAt = 0;
  let asleep = true; // nothing is drawn before the keyboard is read, while the process is suspended, and in a background job
  let needing = 0;
  let leave: (code: number) => void = () => {};
  const feed = await followRuns(crew, { only: run, signal: over.signal, changed: () => schedule() });

  const size = (): { columns: number; height: number } => ({
    columns: stderr.columns || 80,
    height: stderr.rows || 24,
  });
  const ofProject = new Map<string, boolean>(); // for each folder, whether a run in it belongs to the project; every frame needs this for every run
  const isHere = (folder: string): boolean => {
    const known = ofProject.get(folder) ?? isBelowFolder(folder, crew.cwd);
    ofProject.set(folder, known);
    return known;
  };
  /** A run whose start cannot be read may belong to any project, so it is shown in every project. */
  const isOfProject = ({ state, problems }: ShownRun): boolean =>
    isHere(state.cwd) || (state.cwd === "" && problems.length > 0);
  const stateNow = (): TopState => {
    const all = feed.runs();
    const runs = run !== undefined || view.everywhere ? all : all.filter(isOfProject);
    const elsewhere = all.length - runs.length;
    return {
      title:
        run === undefined
          ? `subcrew top${look.signs.dot}${view.everywhere ? "all projects" : "this project"}`
          : `subcrew watch ${run}${all.length === 0 ? `${look.signs.dot}the run was deleted` : ""}`,
      runs,
      one: run !== undefined,
      hidden: [
        ...(elsewhere > 0 ? [`${counted(elsewhere, "run")} of other projects`] : []),
        ...(feed.older() > 0 ? [counted(feed.older(), "older run")] : []),
      ],
    };
  };
  let asked: (NonNullable<TopState["asked"]> & Readonly<{ at: number }>) | undefined;
  /** Reads the tool call that the question in the selected row is about, once. */
  const readQuestion = ({ key, run: of, path, node }: TopRow): void => {
    const { question, call, wants, askedAt = 0 } = node ?? {};
    if (question === undefined || (asked?.key === key && asked.at === askedAt)) return;
    asked = { key, at: askedAt, lines: question.split("\n") };
    void askedCall(crew, { run: of.id, path, ...defined({ call }) }).then(
      (about) => {
        if (asked?.key !== key || asked.at !== askedAt) return;
        asked = {
          key,
          at: askedAt,
          lines: questionLines({ text: question, about, kind: answerKind({ call, wants }) }, plain),
        };
        schedule();
      },
      () => undefined, // if the tool call cannot be read, the text of the question is shown
    );
  };
  const frame = (): FieldFrame => {
    const canvas = { ...size(), now: Date.now(), look };
    const state: TopState = { ...stateNow(), asked };
    const listed = listedRows(state, view);
    const { rows, all } = listed;
    view = withoutOldNote(feed.runs(), keepSelection(rows, view));
    seen = rows;
    const selected = selectedRow(rows, view);
    if (selected) readQuestion(selected);
    const [count = 0] = partsOf(all).counts; // the first group contains the rows that wait for a person
    if (count > needing && notify) stderr.write(notification(notify, count));
    needing = count;
    const title = `${count > 0 ? `${count} need${count === 1 ? "s" : ""} you${look.signs.dot}` : ""}subcrew`;
    return { ...topFrame(state, view, canvas, listed), title };
  };
  const draw = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (asleep || over.signal.aborted) return;
    drawnAt = performance.now();
    screen.draw(frame());
  };
  function schedule(): void {
    if (asleep) return;
    timer ??= setTimeout(draw, Math.max(0, FRAME_MS - (performance.now() - drawnAt)));
  }
  const note = (text: string, of?: string): void => {
    view = { ...view, note: text, noteOf: of };
    schedule();
  };
  /** Hands the terminal to the steps or changes of a row until the person returns. */
  const open = async ({ run: { id }, path }: TopRow, page: "transcript" | "diff"): Promise<void> => {
    asleep = true;
    input.stop();
    screen.close();
    await (page === "diff" ? openChanges : openSteps)(crew, { run: id, path }, look).catch((error: unknown) =>
      note(messageOf(error)),
    );
    if (over.signal.aborted) return;
    asleep = false;
    input.start();
    draw();
  };
  const key = (pressed: Key): void => {
    const { columns, height } = size();
    const about = selectedRow(seen, view)?.run;
    const { view: next, act } = press(seen, view, pressed, listHeight(height, columns));
    view = next;
    if (act?.do === "quit") return leave(0);
    if (act?.do === "open") void open(act.row, act.page);
    else if (act) {
      if (act.do === "command") note(`subcrew ${act.words.join(" ")} ...`);
      carryOut(crew, act, { write: (text) => stderr.write(text), signal: over.signal }).then(
        (text) => note(text, about && about.life !== "damaged" && isActive(about.life) ? about.id : undefined),
        (error: unknown) => note(messageOf(error)),
      );
    }
    schedule();
  };

  const input = createRawInput({
    key,
    closed: () => leave(0),
    suspend: () => {
      asleep = true;
      screen.close();
    },
    resume: () => {
      asleep = false;
      draw();
    },
  });
  const restore = (): void => {
    input.stop();
    screen.close();
  };
  const tick = setInterval(schedule, TICK_MS);
  const signals = (Object.keys(codes) as (keyof typeof codes)[]).map(
    (name) => [name, () => leave(codes[name])] as const,
  );
  const withdraw = restoreOnEnd(restore);
  stderr.on("resize", draw);
  try {
    return await new Promise<number>((done) => {
      leave = done;
      for (const [name, act] of signals) process.on(name, act);
      asleep = false;
      input.start();
      draw();
    });
  } finally {
    over.abort();
    clearInterval(tick);
    clearTimeout(timer);
    for (const [name, act] of signals) process.off(name, act);
    stderr.off("resize", draw);
    restore();
    withdraw();
  }
}
