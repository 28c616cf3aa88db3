import { terminalLine } from "../../core/view/words.ts";
import type { Transcript } from "../../core/view/transcript.ts";
import type { Run } from "../../runtime/run/run.ts";
import { AnswerView } from "../../tui/chat/answer-view.ts";
import { transcriptItems } from "../../tui/chat/transcript-items.ts";
import { emptyPrompt, type Prompt, promptKey, promptWith } from "../../tui/chat/prompt.ts";
import type { Key } from "../../tui/input/keys.ts";
import type { Terminal } from "../base/terminal.ts";
import { boxesOn, delegates } from "../terminal/helper-boxes.ts";
import { OpenQuestions } from "../terminal/questions.ts";
import { browseTranscripts } from "../screen/browse-transcripts.ts";
import { type OtherWork, RunScreen } from "../watch/run-screen.ts";
import { editText } from "./edit-text.ts";

export type ChatTerminalOptions = Readonly<{
  terminal: Terminal;
  history: readonly string[];
  /** Completions for the word before the cursor. */
  complete(word: string, text: string): readonly string[];
  /** Converts pasted text; the path of an image becomes a mention of it. */
  pasted(text: string): string;
  /** The transcripts of this conversation, answer by answer. */
  transcripts(): readonly (readonly Transcript[])[];
  /** Runs lines that need not wait for the current answer, such as `/cost`; `takes` selects them. */
  atOnce: Readonly<{ takes(line: string): boolean; run(line: string): Promise<void> }>;
}>;

/** Keys that keep their function while a question is open. */
const CONTROLS: ReadonlySet<string> = new Set(["ctrl-o", "ctrl-d", "ctrl-l"]);
/** A second Ctrl-C within this time exits. */
const LEAVE_MS = 2_000;

/** A conversation on a terminal: a prompt that stays at the bottom, and answers above it. */
export class ChatTerminal {
  readonly #options: ChatTerminalOptions;
  readonly #screen: RunScreen;
  #prompt: Prompt;
  /** Messages for later. */
  readonly #queue: string[] = [];
  /**
   * Messages for the agent that is working now. A message that arrives too late for this answer is sent as the person's
   * next message.
   */
  readonly #urgent: string[] = [];
  #run: Run | undefined;
  #other: OtherWork | undefined;
  #notice = "";
  #interruptedAt = Number.NEGATIVE_INFINITY;
  #isLeft = false;
  #wake = (): void => {};

  constructor(options: ChatTerminalOptions) {
    this.#options = options;
    this.#prompt = emptyPrompt(options.history);
    this.#screen = new RunScreen({
      look: options.terminal.look,
      key: (key) => this.#key(key),
      closed: () => this.leave("the terminal was closed"),
      hint: (asked) => this.#hint(asked),
      input: { prompt: () => this.#prompt, queue: () => [...this.#urgent, ...this.#queue] },
    });
    this.#screen.open();
  }

  /** The next message, typed or queued; `undefined` when the person exits. */
  async next(): Promise<string | undefined> {
    this.#screen.draw();
    while (this.#queue.length === 0 && !this.#isLeft) await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#isLeft) return undefined;
    const text = this.#queue.shift()!;
    this.#screen.print(this.#messageLines(text));
    return text;
  }

  /** Shows an answer while it is generated. Messages typed meanwhile are queued. */
  async show(run: Run): Promise<void> {
    const { look } = this.#options.terminal;
    const view = new AnswerView({
      look,
      columns: () => this.#screen.columns(),
      highlight: () => this.#screen.highlight(),
      boxes: boxesOn(look),
      delegates,
      prints: true,
    });
    const questions = new OpenQuestions({
      look,
      state: run.state,
      answer: async ({ path, call }, answer) =>
        (await run.answer(path, answer, call)) ? undefined : `${path} no longer waits for an answer.`,
      print: (lines) => this.#screen.print(lines),
      changed: () => this.#screen.draw(),
      other: (text) => {
        if (text !== "") this.#enter(text);
      },
    });
    this.#run = run;
    this.#notice = "";
    try {
      await this.#screen.show(run, { view, questions, each: () => this.#deliver() });
    } finally {
      this.#run = undefined;
      this.#queue.unshift(...this.#urgent.splice(0));
      this.#notice = "";
      this.#screen.draw();
    }
  }

  /** Prints lines above the prompt. */
  print(text: string): void {
    this.#screen.print(text.split("\n"));
  }

  /** Shows the rows of other work until it ends. Ctrl-C and Esc stop it; typed messages are queued. */
  async during<T>(other: OtherWork, ended: Promise<T>): Promise<T> {
    this.#other = other;
    this.#notice = "";
    try {
      return await this.#screen.during(other, ended);
    } finally {
      this.#other = undefined;
      this.#notice = "";
      this.#screen.draw();
    }
  }

  /** Hands the terminal over to other code, such as a command that prints, until that code has finished. */
  lend<T>(work: () => Promise<T>): Promise<T> {
    return this.#screen.lend(work);
  }

  /** True while other code uses the terminal. */
  isLent(): boolean {
    return this.#screen.isLent();
  }

  /** Pauses the answer, stops other work, and makes `next` end the conversation. */
  leave(reason = "stopped with Ctrl-C"): void {
    this.#isLeft = true;
    this.#other?.stop();
    this.#run?.pause(reason);
    this.#wake();
  }

  /** The entered messages, the newest first. */
  history(): readonly string[] {
    return this.#prompt.history;
  }

  close(): void {
    this.#screen.close();
  }

  #hint(asked: OpenQuestions | undefined): string {
    if (this.#notice !== "") return this.#notice;
    if (asked) return asked.hint();
    if (this.#screen.hasQuestion()) return "a question waits; send or clear this line to answer it";
    if (this.#other) return "Enter queues, Esc or Ctrl-C stops the command";
    if (this.#run) return "Enter queues, Ctrl-S sends now, Esc stops, Ctrl-O transcript";
    return "/help lists the commands, Ctrl-O transcript, Ctrl-D exits";
  }

  #messageLines(text: string): string[] {
    const { bold } = this.#options.terminal.look.colors;
    return ["", ...text.split("\n").map((line, index) => bold(`${index === 0 ? "> " : "  "}${terminalLine(line)}`))];
  }

  #key(key: Key): void {
    const held = `${key.ctrl ? "ctrl-" : ""}${key.alt ? "alt-" : ""}${key.name}`;
    if (held === "ctrl-c" && this.#prompt.search === undefined) return this.#interrupt("Ctrl-C");
    this.#interruptedAt = Number.NEGATIVE_INFINITY; // another key was pressed, so the next Ctrl-C does not exit
    const asked = this.#screen.asking();
    const isAnswering = held === "ctrl-d" && asked && asked.prompt().editor.text !== "";
    if (asked && (!CONTROLS.has(held) || isAnswering)) asked.key(key);
    else if (!this.#control(held)) this.#type(key, held);
    this.#screen.draw();
  }

  /** Handles a key that does not edit the message. False: it has no function of its own now. */
  #control(held: string): boolean {
    const { editor, search } = this.#prompt;
    switch (held) {
      case "ctrl-d":
        if (editor.text !== "") return false;
        this.leave();
        return true;
      case "ctrl-o":
        void this.#browse();
        return true;
      case "ctrl-g":
        if (search !== undefined) return false;
        void this.lend(() => this.#edit());
        return true;
      case "ctrl-s":
        if (search !== undefined) return false;
        this.#sendNow();
        return true;
      case "ctrl-l":
        this.#screen.redraw();
        return true;
      case "up": {
        if (editor.text !== "" || this.#queue.length === 0) return false;
        this.#prompt = promptWith(this.#prompt, this.#queue.pop()!);
        return true;
      }
      default:
        return false;
    }
  }

  #type(key: Key, held: string): void {
    const { pasted, complete } = this.#options;
    const typed = key.name === "paste" ? { ...key, text: pasted(key.text ?? "") } : key;
    const step = promptKey(this.#prompt, typed, complete);
    if (!step) {
      if (held === "escape" && (this.#run || this.#other)) this.#interrupt("Esc");
      return;
    }
    this.#prompt = step.prompt;
    this.#notice = "";
    if (step.entered !== undefined && step.entered.trim() !== "") this.#enter(step.entered);
  }

  /** Handles Ctrl-C and Esc. */
  #interrupt(key: "Ctrl-C" | "Esc"): void {
    const isAgain = key === "Ctrl-C" && Date.now() - this.#interruptedAt < LEAVE_MS;
    if (isAgain) return this.leave();
    const isIdle = !this.#run && !this.#other;
    if (isIdle && key === "Ctrl-C" && this.#prompt.editor.text !== "") {
      this.#prompt = promptWith(this.#prompt, "");
      return this.#screen.draw();
    }
    if (key === "Ctrl-C") this.#interruptedAt = Date.now();
    if (!isIdle) this.#notice = "stopping; press Ctrl-C again within two seconds to leave";
    if (this.#other) this.#other.stop();
    else this.#run?.pause(`stopped with ${key}`);
    if (isIdle && key === "Ctrl-C") {
      this.#notice = "press Ctrl-C again to leave";
      setTimeout(() => {
        this.#notice = "";
        this.#screen.draw();
      }, LEAVE_MS).unref();
    }
    this.#screen.draw();
  }

  #enter(text: string): void {
    const { atOnce } = this.#options;
    if (this.#run && atOnce.takes(text.trim())) {
      this.#screen.print(this.#messageLines(text));
      void atOnce.run(text.trim());
      return;
    }
    this.#queue.push(text);
    this.#wake();
  }

  /** Sends the typed or the last queued message to the agent that is working now. */
  #sendNow(): void {
    const isTyped = this.#prompt.editor.text.trim() !== "";
    const text = isTyped ? this.#prompt.editor.text : this.#queue.pop();
    if (isTyped) this.#prompt = promptWith(this.#prompt, "");
    if (text === undefined) return;
    if (this.#run) this.#urgent.push(text);
    else this.#queue.push(text);
    this.#wake();
    void this.#deliver().then(() => this.#screen.draw());
  }

  async #deliver(): Promise<void> {
    const run = this.#run;
    const main = run && [...run.state.nodes.values()].find(({ kind, path }) => kind === "task" && !path.includes("/"));
    while (run && main && this.#urgent.length > 0) {
      const text = this.#urgent.shift()!;
      if (await run.send(main.path, text).catch(() => false)) continue;
      this.#urgent.unshift(text);
      return;
    }
  }

  #browse(): Promise<void> {
    const { transcripts, terminal } = this.#options;
    const items = () => transcriptItems(transcripts(), terminal.look);
    return this.lend(() => browseTranscripts(items, { look: terminal.look, highlight: this.#screen.highlight() }));
  }

  async #edit(): Promise<void> {
    const edited = await editText(this.#prompt.editor.text);
    if ("text" in edited) this.#prompt = promptWith(this.#prompt, edited.text);
    else this.#notice = edited.problem;
  }
}
