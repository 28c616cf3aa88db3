import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { KeptEvent } from "../../core/run/event.ts";
import { isKept } from "../../core/run/kept-event.ts";
import type { CrewError } from "../../core/schema/error.ts";
import { fence } from "../../core/text/fence.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { mentionOf } from "../../core/text/mention.ts";
import { transcriptsOf } from "../../core/view/transcript.ts";
import type { Crew } from "../../crew/crew-type.ts";
import { readRegularText } from "../../runtime/disk/regular-file.ts";
import { writeAtomic } from "../../runtime/disk/write-atomic.ts";
import type { Run } from "../../runtime/run/run.ts";
import type { Flags } from "../base/flags.ts";
import { mentionPasted } from "../base/images.ts";
import { report } from "../base/report.ts";
import type { Terminal } from "../base/terminal.ts";
import { endLines } from "./answer-end.ts";
import { ChatTerminal, type ChatTerminalOptions } from "./chat-terminal.ts";
import { lastExchange } from "./kept-conversations.ts";
import { pipedLines } from "./lines.ts";
import { type CommandView, createCommandView, runPersonCommand } from "./person-command.ts";
import { watch } from "./watch.ts";
import { parseJson } from "../../core/text/json.ts";

/** Input and output of a conversation: a terminal that can redraw, or plain lines. */
export type ChatSurface = Readonly<{
  next(): Promise<string | undefined>;
  show(run: Run): Promise<void>;
  print(text: string): void;
  report(error: CrewError): number;
  /** Clears the prompt while other code prints to the terminal. */
  lend<T>(work: () => Promise<T>): Promise<T>;
  /** Runs a shell command that the person typed, and keeps its output for the next message. */
  runCommand(command: string): Promise<void>;
  /** Adds the output of the commands that were run since the last message. */
  withCommands(text: string): string;
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
      // A history that cannot be written, as on a full disk, must not end the conversation.
      await writeAtomic(file, `${JSON.stringify(chat.history())}\n`).catch(() => {});
    },
  };
}

const MOST_KEPT = 500;

async function keptHistory(file: string): Promise<string[]> {
  try {
    const value: unknown = parseJson(await readRegularText(file));
    return Array.isArray(value) ? value.filter((line) => typeof line === "string").slice(0, MOST_KEPT) : [];
  } catch {
    return [];
  }
}

type Known = Readonly<{ first: boolean; agents: readonly string[]; slashNames: readonly string[]; cwd: string }>;
const MOST_COMPLETIONS = 200;

/** Completions: commands at the beginning of a message, agents and files after `@`. */
function completions(word: string, { first, agents, slashNames, cwd }: Known): string[] {
  if (word.startsWith("/") && first) return slashNames.filter((name) => name.startsWith(word));
  if (!word.startsWith("@")) return [];
  const typed = word.replace(/^@"?/, "");
  const folder = typed.slice(0, typed.lastIndexOf("/") + 1);
  const names = agents.filter((name) => name.startsWith(typed)).map((name) => `@${name}`);
  return [
    ...names,
    ...filesIn(cwd, folder, typed.slice(folder.length))
      .filter((path) => path.startsWith(typed))
      .map(asMention),
  ].slice(0, MOST_COMPLETIONS);
}

/**
 * True for a file that is offered as a completion. Hidden files are offered only after a dot was typed, large
 * dependency folders only after their name was typed.
 */
const isOffered = (name: string, typed: string): boolean =>
  (!name.startsWith(".") || typed.startsWith(".")) && (name !== "node_modules" || typed !== "");

function filesIn(cwd: string, folder: string, typed: string): string[] {
  try {
    return readdirSync(join(cwd, folder), { withFileTypes: true })
      .filter(({ name }) => isOffered(name, typed))
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`)
      .filter((path) => sanitize(path) === path && !/["\n]/.test(path))
      .toSorted();
  } catch {
    return [];
  }
}

/**
 * Writes a path as a mention. The mention of a folder with blanks in its name gets no closing quote, because the name
 * of a file in it follows.
 */
const asMention = (path: string): string => (path.endsWith("/") ? mentionOf(path).replace(/"$/, "") : mentionOf(path));

/** The maximum number of characters of command output that the agent gets; the rest is cut. */
const MOST_OUTPUT = 20_000;

/** Runs `!command` with the rights of the person. The next message contains its output. */
function personCommands(
  print: (text: string) => void,
  view: CommandView,
): Pick<ChatSurface, "runCommand" | "withCommands"> {
  let before: string[] = [];
  return {
    runCommand: async (command) => {
      if (command === "") return print("Type a command after the exclamation mark, as in `!git status`.");
      let output = "";
      const ended = await runPersonCommand(command, {
        ...view,
        received: (text) => {
          output = `${output}${text}`.slice(-MOST_OUTPUT);
        },
      });
      const text = sanitize(output).trimEnd();
      const said = [...(text === "" ? ["(no output)"] : []), ...(ended === "exit code 0" ? [] : [ended])];
      if (said.length > 0) print(said.join("\n"));
      before.push(`I ran \`${command}\` (${ended}). It printed:\n\n${fence(text, "")}`);
    },
    withCommands: (text) => {
      const all = [...before, text].join("\n\n");
      before = [];
      return all;
    },
  };
}
