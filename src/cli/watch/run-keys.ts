import type { Writable } from "node:stream";
import type { Event, KeptEvent } from "../../core/run/event.ts";
import { isKept } from "../../core/run/kept-event.ts";
import type { Look } from "../../core/view/look.ts";
import { transcriptsOf } from "../../core/view/transcript.ts";
import type { Crew } from "../../crew/crew-type.ts";
import type { Run } from "../../runtime/run/run.ts";
import { transcriptItems } from "../../tui/chat/transcript-items.ts";
import type { Key } from "../../tui/input/keys.ts";
import type { AnswerHandlers } from "../terminal/gates.ts";
import { OpenQuestions, type QuestionOptions } from "../terminal/questions.ts";
import { runViewOn } from "./run-output.ts";
import { RunScreen } from "./run-screen.ts";

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
 * Shows a run and handles keys until it ends, is paused, or is moved to the background. True when the person moved it to
 * the background.
 */
export function followOnScreen(run: Run, options: OnScreenOptions): Promise<boolean> {
  return new FollowedRun(run, options).follow();
}

class FollowedRun {
  readonly #run: Run;
  readonly #options: OnScreenOptions;
  readonly #screen: RunScreen;
  readonly #questions: OpenQuestions;
  /** The events so far, for the transcript. */
  readonly #events: KeptEvent[] = [];
  /** False: keys that were meant for another program must not change where the result of this command goes. */
  readonly #steers: boolean;
  readonly #keys: string;
  #hint: string;
  #isConfirming = false;
  #isMoving = false;
  #lent: Promise<void> = Promise.resolve();

  constructor(run: Run, options: OnScreenOptions) {
    const { look, since, attended, interrupt, interruptText = "pauses", canMove } = options;
    this.#run = run;
    this.#options = options;
    this.#steers = attended && process.stdout.isTTY;
    const ctrlC = `Ctrl-C ${interruptText}`;
    this.#keys = this.#steers
      ? ["w screen", "o transcript", ...(canMove ? ["b background"] : []), ctrlC].join(", ")
      : attended
        ? ctrlC
        : "";
    this.#hint = this.#keys;
    this.#screen = new RunScreen({
      look,
      key: (key) => this.#key(key),
      closed: interrupt,
      hint: (asked) => asked?.hint() ?? this.#hint,
      interrupt: ctrlC,
      reads: attended,
    });
    this.#questions = new OpenQuestions({
      look,
      state: run.state,
      answer:
        options.answer ??
        (async ({ path, call }, answer) =>
          (await run.answer(path, answer, call)) ? undefined : `${path} no longer waits for an answer.`),
      print: (lines) => this.#screen.print(lines),
      changed: () => this.#screen.draw(),
      other: () => this.#screen.print([look.colors.dim("This question does not accept that answer.")]),
      takes: (event) => options.isOpen?.(event) ?? event.at >= since,
    });
    options.hints?.((text) => this.#setHint(text));
  }

  async follow(): Promise<boolean> {
    const { since, attended } = this.#options;
    this.#screen.open();
    try {
      await this.#screen.show(this.#run, {
        view: runViewOn(this.#screen, this.#options),
        ...(attended && { questions: this.#questions }),
        since,
        each: async (event) => this.#keep(event),
      });
      if (this.#run.state.outcome) await this.#lent; // the end is printed where the person sees it
    } finally {
      this.#screen.close();
    }
    return this.#isMoving;
  }

  #keep(event: Event): void {
    if (!isKept(event)) return;
    this.#events.push(event);
    if (this.#isMoving && event.type === "tool.ended") this.#move(false);
  }

  #setHint(text: string): void {
    this.#hint = text;
    this.#screen.draw();
  }

  #key(pressed: Key): void {
    const { interrupt, canMove } = this.#options;
    const held = `${pressed.ctrl ? "ctrl-" : ""}${pressed.alt ? "alt-" : ""}${pressed.name}`;
    if (held === "ctrl-c") return interrupt();
    if (this.#screen.asking()) {
      this.#isConfirming = false;
      if (held === "ctrl-o") return this.#lend(() => this.#browse());
      this.#questions.key(pressed);
      return this.#screen.draw();
    }
    if (!this.#steers) return;
    if (this.#isConfirming) {
      this.#isConfirming = false;
      return held === "y" ? this.#move(this.#isMoving) : this.#setHint(this.#keys);
    }
    if (held === "o" || held === "ctrl-o") this.#lend(() => this.#browse());
    else if (held === "w") this.#lend(() => this.#openTop());
    else if (held === "b" && canMove) setImmediate(() => this.#confirm()); // keys that were typed together with this one do not confirm it
  }

  #confirm(): void {
    this.#isConfirming = true;
    this.#setHint("Continue in the background? y: yes, any other key: no");
  }

  /**
   * Pauses the run to continue it in the background. Running commands are waited for first, because the background
   * process would start them again.
   */
  #move(isNow: boolean): void {
    this.#isMoving = true;
    const isBusy = [...this.#run.state.nodes.values()].some(
      ({ calling, status }) => calling > 0 && status === "running",
    );
    if (isBusy && !isNow)
      return this.#setHint(
        "the run moves to the background when its current calls end; press b and y again to move it now",
      );
    this.#setHint("moving to the background");
    this.#run.pause("sent to the background");
  }

  #lend(work: () => Promise<unknown>): void {
    this.#lent = this.#screen.lend(work).then(() => {});
  }

  async #browse(): Promise<void> {
    const { look } = this.#options;
    const { browseTranscripts } = await import("../screen/browse-transcripts.ts");
    await browseTranscripts(() => transcriptItems([transcriptsOf(this.#events)], look), {
      look,
      highlight: this.#screen.highlight(),
    });
  }

  async #openTop(): Promise<void> {
    const { crew, look } = this.#options;
    const { showTop } = await import("../screen/show-top.ts");
    await showTop(crew, { look, run: this.#run.id, everywhere: true });
  }
}
