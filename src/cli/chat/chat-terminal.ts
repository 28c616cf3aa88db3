import { terminalLine } from "../../core/view/words.ts";
import type { Transcript } from "../../core/view/transcript.ts";
import type { Run } from "../../runtime/run/run.ts";
import { createAnswerView } from "../../tui/chat/answer-view.ts";
import { chatRows } from "../../tui/chat/chat-rows.ts";
import { transcriptItems } from "../../tui/chat/transcript-items.ts";
import { emptyPrompt, promptKey, promptWith } from "../../tui/chat/prompt.ts";
import type { Key } from "../../tui/input/keys.ts";
import { createHighlight } from "../../tui/markdown/highlight.ts";
import type { Highlight } from "../../tui/markdown/options.ts";
import type { Terminal } from "../base/terminal.ts";
import { createRawInput } from "../terminal/raw-input.ts";
import { boxesOn, delegates } from "../terminal/helper-boxes.ts";
import { createQuestions, type OpenQuestions } from "../terminal/questions.ts";
import { restoreOnEnd } from "../terminal/restore-terminal.ts";
import { stderrScreen } from "../terminal/stderr-screen.ts";
import { browseTranscripts } from "../screen/browse-transcripts.ts";
import { editText } from "./edit-text.ts";

/** A conversation on a terminal: a prompt that stays at the bottom, and answers above it. */
export type ChatTerminal = Readonly<{
  /** The next message, typed or queued; `undefined` when the person exits. */
  next(): Promise<string | undefined>;
  /** Shows an answer while it is generated. Messages typed meanwhile are queued. */
  show(run: Run): Promise<void>;
  /** Prints lines above the prompt. */
  print(text: string): void;
  /** Shows the rows of other work until it ends. Ctrl-C and Esc stop it; typed messages are queued. */
  during<T>(other: OtherWork, work: Promise<T>): Promise<T>;
  /** Hands the terminal over to other code, such as a command that prints, until that code has finished. */
  lend<T>(work: () => Promise<T>): Promise<T>;
  /** True while other code uses the terminal. */
  isLent(): boolean;
  /** Pauses the answer, stops other work, and makes `next` end the conversation. */
  leave(reason: string): void;
  /** The entered messages, the newest first. */
  history(): readonly string[];
  /** True after Ctrl-C was pressed twice. */
  left(): boolean;
  close(): void;
}>;

/** Work other than an answer, such as a shell command that the person typed. */
export type OtherWork = Readonly<{ rows(most: number, tick: number): string[]; stop(): void }>;

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
/** The interval between redraws while an answer is generated. */
const FRAME_MS = 100;
/** A second Ctrl-C within this time exits. */
const LEAVE_MS = 2_000;

export function createChatTerminal(options: ChatTerminalOptions): ChatTerminal {
  const { terminal, history, complete, pasted, transcripts, atOnce } = options;
  const { look } = terminal;
  const { stderr } = process;
  const screen = stderrScreen();
  let prompt = emptyPrompt(history);
  const queue: string[] = [];
  let wake = (): void => {};
  let leaving = false;
  let lent = 0;
  let asleep = false; // nothing is drawn while the process is suspended, and in a background job
  let interruptedAt = Number.NEGATIVE_INFINITY;
  let notice = "";
  let working: { run: Run; rows(most: number): string[]; questions: OpenQuestions } | undefined;
  let other: (OtherWork & { tick: number }) | undefined;
  let highlight: Highlight | undefined;
  if (process.stdout.isTTY) void createHighlight(look).then((made) => (highlight = made));

  /** The open questions of the run. A question is asked only when the input line is empty. */
  const asking = (): OpenQuestions | undefined =>
    working?.questions.open() && prompt.editor.text === "" ? working.questions : undefined;
  const hint = (): string => {
    if (notice !== "") return notice;
    if (asking()) return asking()!.hint();
    if (working?.questions.open()) return "a question waits; send or clear this line to answer it";
    if (other) return "Enter queues, Esc or Ctrl-C stops the command";
    if (working) return "Enter queues, Ctrl-S sends now, Esc stops, Ctrl-O transcript";
    return "/help lists the commands, Ctrl-O transcript, Ctrl-D exits";
  };
  const messageLines = (text: string): string[] => [
    "",
    ...text.split("\n").map((line, index) => look.colors.bold(`${index === 0 ? "> " : "  "}${terminalLine(line)}`)),
  ];
  const held: string[] = [];
  const draw = (lines: readonly string[] = []): void => {
    held.push(...lines);
    if (lent > 0 || asleep) return; // the lines are printed when the terminal can be used again
    const print = held.splice(0);
    const question = asking();
    const { rows, cursor } = chatRows({
      look,
      columns: screen.columns,
      height: screen.rows,
      prompt: question?.prompt() ?? prompt,
      queue: [...urgent, ...queue],
      working: other ? (most) => other!.rows(most, other!.tick) : working && ((most) => answerRows(most, question)),
      hint: hint(),
    });
    screen.frame({ print, rows, cursor });
  };
  const answerRows = (most: number, question: OpenQuestions | undefined): string[] => {
    if (!question) return working!.rows(most);
    const asked = question.rows(most > 3 ? 2 : 1, screen.columns - 1);
    return [...(most > asked.length ? working!.rows(most - asked.length) : []), ...asked];
  };
  const leave = (reason = "stopped with Ctrl-C"): void => {
    leaving = true;
    other?.stop();
    working?.run.pause(reason);
    wake();
  };
  /** Handles Ctrl-C and Esc. */
  const interrupt = (key: "Ctrl-C" | "Esc"): void => {
    const again = key === "Ctrl-C" && Date.now() - interruptedAt < LEAVE_MS;
    if (again) return leave();
    if (!working && !other && key === "Ctrl-C" && prompt.editor.text !== "") {
      prompt = promptWith(prompt, "");
      return draw();
    }
    if (key === "Ctrl-C") interruptedAt = Date.now();
    if (other) {
      notice = "stopping; press Ctrl-C again within two seconds to leave";
      other.stop();
    } else if (working) {
      notice = "stopping; press Ctrl-C again within two seconds to leave";
      working.run.pause(`stopped with ${key}`);
    } else if (key === "Ctrl-C") {
      notice = "press Ctrl-C again to leave";
      setTimeout(() => {
        notice = "";
        draw();
      }, LEAVE_MS).unref();
    }
    draw();
  };
  /**
   * Messages for the agent that is working now. A message that arrives too late for this answer is sent as the person's
   * next message.
   */
  const urgent: string[] = [];
  const deliver = async (): Promise<void> => {
    const run = working?.run;
    const main = run && [...run.state.nodes.values()].find(({ kind, path }) => kind === "task" && !path.includes("/"));
    while (run && main && urgent.length > 0) {
      const text = urgent.shift()!;
      if (await run.send(main.path, text).catch(() => false)) continue;
      urgent.unshift(text);
      return;
    }
  };
  const sendNow = (): void => {
    const typed = prompt.editor.text.trim() !== "";
    const text = typed ? prompt.editor.text : queue.pop();
    if (typed) prompt = promptWith(prompt, "");
    if (text === undefined) return;
    if (!working) queue.push(text);
    else urgent.push(text);
    wake();
    void deliver().then(() => draw());
    draw();
  };
  const enter = (text: string): void => {
    if (working && atOnce.takes(text.trim())) {
      draw(messageLines(text));
      void atOnce.run(text.trim());
      return;
    }
    queue.push(text);
    wake();
  };
  const act = (key: Key): void => {
    const held = `${key.ctrl ? "ctrl-" : ""}${key.alt ? "alt-" : ""}${key.name}`;
    if (held === "ctrl-c" && prompt.search === undefined) return interrupt("Ctrl-C");
    interruptedAt = Number.NEGATIVE_INFINITY; // another key was pressed, so the next Ctrl-C does not exit
    const asked = asking();
    const answering = held === "ctrl-d" && asked && asked.prompt().editor.text !== "";
    if (asked && (!CONTROLS.has(held) || answering)) {
      asked.key(key);
      return draw();
    }
    if (held === "ctrl-d" && prompt.editor.text === "") return leave();
    if (held === "ctrl-o")
      return void lend(() => browseTranscripts(() => transcriptItems(transcripts(), look), { look, highlight }));
    if (held === "ctrl-g" && prompt.search === undefined)
      return void lend(async () => {
        const edited = await editText(prompt.editor.text);
        if ("text" in edited) prompt = promptWith(prompt, edited.text);
        else notice = edited.problem;
      });
    if (held === "ctrl-s" && prompt.search === undefined) return sendNow();
    if (held === "ctrl-l") {
      stderr.write("\u001b[2J\u001b[H");
      screen.clear();
      return draw();
    }
    if (held === "up" && prompt.editor.text === "" && queue.length > 0) {
      prompt = promptWith(prompt, queue.pop()!);
      return draw();
    }
    const typed = key.name === "paste" ? { ...key, text: pasted(key.text ?? "") } : key;
    const step = promptKey(prompt, typed, complete);
    if (!step) {
      if (held === "escape" && (working || other)) interrupt("Esc");
      return;
    }
    prompt = step.prompt;
    notice = "";
    if (step.entered !== undefined && step.entered.trim() !== "") enter(step.entered);
    draw();
  };
  const input = createRawInput({
    key: act,
    closed: () => leave("the terminal was closed"),
    suspend: () => {
      asleep = true;
      screen.close();
    },
    resume: () => {
      asleep = false;
      draw();
    },
  });
  const lend = async <T>(work: () => Promise<T>): Promise<T> => {
    lent += 1;
    screen.close();
    input.stop();
    try {
      return await work();
    } finally {
      lent -= 1;
      input.start();
      draw();
    }
  };
  const resized = (): void => draw();
  stderr.on("resize", resized);
  const restore = (): void => {
    input.stop();
    screen.close();
  };
  const withdraw = restoreOnEnd(restore);
  input.start();
  draw();

  return {
    next: async () => {
      draw();
      while (queue.length === 0 && !leaving) await new Promise<void>((resolve) => (wake = resolve));
      if (leaving) return undefined;
      const text = queue.shift()!;
      draw(messageLines(text));
      return text;
    },
    during: async (work, ended) => {
      other = { ...work, tick: 0 };
      notice = "";
      const timer = setInterval(() => {
        if (other) other.tick += 1;
        draw();
      }, FRAME_MS);
      draw();
      try {
        return await ended;
      } finally {
        clearInterval(timer);
        other = undefined;
        notice = "";
        draw();
      }
    },
    show: async (run) => {
      const view = createAnswerView({
        look,
        columns: () => Math.max(20, screen.columns - 1),
        highlight: () => highlight,
        boxes: boxesOn(look),
        delegates,
        prints: true,
      });
      let tick = 0;
      const rows = (most: number): string[] => view.rows(run.state, { now: Date.now(), tick, most });
      const questions = createQuestions({
        look,
        state: run.state,
        answer: async ({ path, call }, answer) =>
          (await run.answer(path, answer, call)) ? undefined : `${path} no longer waits for an answer.`,
        print: (lines) => draw(lines),
        changed: () => draw(),
        other: (text) => {
          if (text !== "") enter(text);
        },
      });
      working = { run, rows, questions };
      notice = "";
      const timer = setInterval(() => {
        tick += 1;
        draw();
      }, FRAME_MS);
      try {
        for await (const event of run) {
          const lines = view.lines(event, run.state);
          if (lines.length > 0) draw(lines);
          if (!("seq" in event)) continue;
          questions.follow(event);
          if (urgent.length > 0) await deliver();
        }
      } finally {
        clearInterval(timer);
        questions.close();
        working = undefined;
        queue.unshift(...urgent.splice(0));
        notice = "";
        draw(view.end(run.state, outputIn(run.state)));
      }
    },
    print: (text) => draw(text.split("\n")),
    lend,
    isLent: () => lent > 0,
    leave,
    history: () => prompt.history,
    left: () => leaving,
    close: () => {
      withdraw();
      stderr.off("resize", resized);
      restore();
    },
  };
}

const outputIn = ({ outcome }: Run["state"]): string => (outcome && "output" in outcome ? (outcome.output ?? "") : "");
