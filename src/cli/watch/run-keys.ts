import type { Writable } from "node:stream";
import type { Answer } from "../../core/plan/gate.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import { isKept } from "../../core/run/kept-event.ts";
import type { Look } from "../../core/view/look.ts";
import { transcriptsOf } from "../../core/view/transcript.ts";
import type { Crew } from "../../crew/crew-type.ts";
import type { Run } from "../../runtime/run/run.ts";
import { transcriptItems } from "../../tui/chat/transcript-items.ts";
import type { Key } from "../../tui/input/keys.ts";
import type { AnswerHandlers } from "../terminal/gates.ts";
import { createQuestions, type QuestionOptions } from "../terminal/questions.ts";
import { createRawInput } from "../terminal/raw-input.ts";
import { createRunScreen, type RunScreen } from "./run-screen.ts";

/** The options for showing a run on a terminal that can redraw, and the handlers of its keys. */
export type OnScreenOptions = Readonly<{
  crew: Crew;
  look: Look;
  since: number;
  /**
   * False for a question that was answered before. By default, questions that were asked before the time `since` count
   * as answered.
   */
  isOpen?: AnswerHandlers["isOpen"];
  out: Writable;
  attended: boolean;
  /** Called for Ctrl-C. */
  interrupt(): void;
  /** The text about Ctrl-C in the last row. */
  interruptText?: string;
  /** Receives a function that replaces the text of the last row. */
  hints?(give: (text: string) => void): void;
  /** True when the run can be moved to the background. */
  canMove: boolean;
  /** Submits an answer. By default it goes to this run. */
  answer?: QuestionOptions["answer"];
}>;

/**
 * The result of showing a run: its screen, which prints the end, and whether the person moved the run to the
 * background.
 */
export type ShownOnScreen = Readonly<{ screen: RunScreen; moved: boolean }>;

/** Shows a run and handles keys until it ends, is paused, or is moved to the background. */
export async function followOnScreen(run: Run, options: OnScreenOptions): Promise<ShownOnScreen> {
  const { crew, look, since, out, attended, interrupt, interruptText = "pauses", canMove } = options;
  const events: KeptEvent[] = [];
  let moving = false;
  // Keys that were meant for another program must not change where the result of this command goes.
  const steers = attended && process.stdout.isTTY;
  let confirming = false;
  const keys = steers
    ? ["w screen", "o transcript", ...(canMove ? ["b background"] : []), `Ctrl-C ${interruptText}`].join(", ")
    : attended
      ? `Ctrl-C ${interruptText}`
      : "";
  const screen = createRunScreen({ look, out, since, interrupt: `Ctrl-C ${interruptText}`, keys });
  options.hints?.(screen.hint);
  const give =
    options.answer ??
    (async ({ path, call }, answer: Answer) =>
      (await run.answer(path, answer, call)) ? undefined : `${path} no longer waits for an answer.`);
  const questions = createQuestions({
    look,
    state: run.state,
    answer: give,
    print: screen.print,
    changed: screen.redraw,
    other: () => screen.print([look.colors.dim("This question does not accept that answer.")]),
    takes: (event) => options.isOpen?.(event) ?? event.at >= since,
  });
  if (attended) screen.ask(questions);
  const lend = async (work: () => Promise<unknown>): Promise<void> => {
    input.stop();
    try {
      await screen.lend(work);
    } finally {
      if (!over) input.start();
    }
  };
  let over = false;
  /**
   * Pauses the run to continue it in the background. Running commands are waited for first, because the background
   * process would start them again.
   */
  const move = (now: boolean): void => {
    moving = true;
    const busy = [...run.state.nodes.values()].some(({ calling, status }) => calling > 0 && status === "running");
    if (busy && !now)
      return screen.hint(
        "the run moves to the background when its current calls end; press b and y again to move it now",
      );
    screen.hint("moving to the background");
    run.pause("sent to the background");
  };
  const key = (pressed: Key): void => {
    if (pressed.ctrl && pressed.name === "c") return interrupt();
    if (questions.open()) {
      confirming = false;
      if (pressed.ctrl && pressed.name === "o") return void lend(transcript);
      questions.key(pressed);
      return screen.redraw();
    }
    if (!steers) return;
    if (confirming) {
      confirming = false;
      if (pressed.name === "y" && !pressed.ctrl && !pressed.alt) return move(moving);
      return screen.hint(keys);
    }
    if (pressed.name === "o") return void lend(transcript);
    if (pressed.ctrl || pressed.alt) return;
    if (pressed.name === "w") return void lend(watch);
    if (pressed.name === "b" && canMove) setImmediate(confirm); // keys that were typed together with this one do not confirm it
  };
  const confirm = (): void => {
    confirming = true;
    screen.hint("Continue in the background? y: yes, any other key: no");
  };
  const transcript = async (): Promise<void> => {
    const { browseTranscripts } = await import("../screen/browse-transcripts.ts");
    await browseTranscripts(() => transcriptItems([transcriptsOf(events)], look), { look, highlight: undefined });
  };
  const watch = async (): Promise<void> => {
    const { showTop } = await import("../screen/show-top.ts");
    await showTop(crew, { look, run: run.id, everywhere: true });
  };
  const input = createRawInput({ key, closed: interrupt, suspend: screen.pause, resume: screen.resume });
  if (attended) input.start();
  const collected = (async (): Promise<void> => {
    for await (const event of run) {
      if (!isKept(event)) continue;
      events.push(event);
      if (moving && event.type === "tool.ended") move(false);
    }
  })();
  try {
    await Promise.all([screen.follow(run), collected]);
  } finally {
    over = true;
    input.stop();
    screen.close();
  }
  return { screen, moved: moving };
}
