import { join } from "node:path";
import type { KeptEvent } from "../../core/run/event.ts";
import { isKept } from "../../core/run/kept-event.ts";
import type { CrewError } from "../../core/schema/error.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { transcriptsOf } from "../../core/view/transcript.ts";
import type { Crew } from "../../crew/crew-type.ts";
import type { Run } from "../../runtime/run/run.ts";
import type { Flags } from "../base/flags.ts";
import { mentionPasted } from "../base/images.ts";
import { report } from "../base/report.ts";
import type { Terminal } from "../base/terminal.ts";
import { endLines } from "./answer-end.ts";
import { ChatTerminal, type ChatTerminalOptions } from "./chat-terminal.ts";
import { completions } from "./completions.ts";
import { lastExchange } from "./kept-conversations.ts";
import { pipedLines } from "./lines.ts";
import { keepHistory, keptHistory } from "./message-history.ts";
import { createCommandView, type PersonCommands, personCommands } from "./person-command.ts";
import { watch } from "./watch.ts";

/** Input and output of a conversation: a terminal that can redraw, or plain lines. */
export type ChatSurface = PersonCommands &
  Readonly<{
    next(): Promise<string | undefined>;
    show(run: Run): Promise<void>;
    print(text: string): void;
    report(error: CrewError): number;
    /** Clears the prompt while other code prints to the terminal. */
    lend<T>(work: () => Promise<T>): Promise<T>;
    /** All events of the answers in the conversation. */
    events(): readonly KeptEvent[];
    /** Shows the end of an earlier conversation that is continued. Without answers, a new conversation begins. */
    recall(answers: readonly (readonly KeptEvent[])[]): void;
    /** Pauses the answer and makes `next` end the conversation. */
    leave(reason: string): void;
    /**
     * True when SIGINT is meant for another program at the terminal, or only for the answer, so that the conversation
     * must not end.
     */
    keepsInterrupt(): boolean;
    close(): Promise<void>;
  }>;

type SurfaceOptions = Readonly<{
  crew: Crew;
  flags: Flags;
  place: Terminal;
  home: string;
  slashNames: readonly string[];
  /** Runs lines that need not wait for the current answer. */
  atOnce: ChatTerminalOptions["atOnce"];
}>;

export async function openSurface(options: SurfaceOptions): Promise<ChatSurface> {
  const { place } = options;
  return place.attended && place.live && process.stdout.isTTY ? terminalSurface(options) : lineSurface(options);
}

/** A conversation in plain lines, from a pipe or a terminal that cannot redraw. */
function lineSurface({ flags, place }: SurfaceOptions): ChatSurface {
  const lines = pipedLines(process.stdin, place.attended ? "> " : "");
  const print = (text: string): void => void process.stderr.write(`${text}\n`);
  let earlier: readonly (readonly KeptEvent[])[] = [];
  let current: Run | undefined;
  return {
    next: lines.next,
    show: async (run) => {
      current = run;
      await watch(run, flags, place);
      current = undefined;
    },
    print,
    report: (error) => report(error, { json: false, look: place.look }),
    lend: (work) => work(),
    ...personCommands(print, { lines: (lines) => print(lines.join("\n")), during: (_, ended) => ended }),
    events: () => earlier.flat(),
    recall: (answers) => void (earlier = answers),
    leave: (reason) => {
      current?.pause(reason);
      void lines.close();
    },
    keepsInterrupt: () => current !== undefined,
    close: lines.close,
  };
}

async function terminalSurface(options: SurfaceOptions): Promise<ChatSurface> {
  const { crew, flags, place, home, slashNames, atOnce } = options;
  const file = join(home, "chat-history.json");
  const answers: (readonly KeptEvent[])[] = [];
  let agents: readonly string[] = [];
  void crew.agents().then((found) => (agents = found.agents.map(({ name }) => name)));
  const chat = new ChatTerminal({
    terminal: place,
    history: await keptHistory(file),
    complete: (word, text) =>
      completions(word, { first: text === word, agents, slashNames, cwd: flags.cwd ?? process.cwd() }),
    pasted: (text) => mentionPasted(text, crew.cwd),
    transcripts: () => answers.map(transcriptsOf),
    atOnce,
  });
  return {
    next: () => chat.next(),
    show: async (run) => {
      const mine: KeptEvent[] = [];
      const before = answers.findIndex(([first]) => first?.run === run.id);
      if (before >= 0) answers.splice(before, 1); // a resumed run repeats its earlier events, so the old list is removed
      answers.push(mine);
      const collected = (async (): Promise<void> => {
        for await (const event of run) if (isKept(event)) mine.push(event);
      })().catch(() => {});
      await chat.show(run);
      await collected;
      if (!flags.quiet) chat.print(endLines(run.state, mine, place.look).join("\n"));
    },
    print: (text) => chat.print(text),
    report: (error) => {
      chat.print(`${place.look.colors.red("error")}  ${sanitize(error.message)}\n       ${sanitize(error.hint)}`);
      return 1;
    },
    lend: (work) => chat.lend(work),
    ...personCommands((text) => chat.print(text), createCommandView(chat, place.look)),
    events: () => answers.flat(),
    recall: (earlier) => {
      answers.splice(0, answers.length, ...earlier);
      const lines = lastExchange(earlier.at(-1) ?? [], (process.stderr.columns || 80) - 1, place.look);
      if (lines.length > 0) chat.print(lines.join("\n"));
    },
    leave: (reason) => chat.leave(reason),
    keepsInterrupt: () => chat.isLent(),
    close: async () => {
      chat.close();
      await keepHistory(file, chat.history());
    },
  };
}
