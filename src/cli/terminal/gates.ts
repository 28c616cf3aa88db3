import { createInterface, type Interface } from "node:readline/promises";
import type { Answer } from "../../core/plan/gate.ts";
import type { Event } from "../../core/run/event.ts";
import { defined } from "../../core/text/defined.ts";
import { reveal } from "../../core/text/sanitize.ts";
import { fit } from "../../core/view/fit.ts";
import type { Run } from "../../runtime/run/run.ts";
import { markedRows } from "./questions.ts";

/** Answers a question; `undefined` when no answer is possible. */
export type AskPerson = (asked: AskedPerson, signal: AbortSignal) => Promise<Answer | undefined>;
/** A question, the tool call that it is about, and whether the answer is a text instead of yes or no. */
export type AskedPerson = Readonly<{ question: string; call?: string; wants?: "words"; offersNetwork?: true }>;

/** Functions that receive the answers to questions, or learn that no answer is possible. */
export type AnswerHandlers = Readonly<{
  /** False for a question that was answered before. */
  isOpen(event: GateOpened): boolean;
  /** Submits an answer; the returned text is shown to the person. */
  give(asked: OpenQuestion, answer: Answer): Promise<string | undefined>;
  /** Called when the input was closed instead of answered. */
  giveUp(): void;
  tell(text: string): void;
  /** False: questions about tool calls are left out, because another part of the program asks them. */
  calls?: boolean;
}>;
type GateOpened = Extract<Event, { type: "gate.opened" }>;
export type OpenQuestion = AskedPerson & Readonly<{ path: string }>;

/**
 * Asks every question of a run, one after the other. A question that is answered in another program, such as a second
 * terminal, is withdrawn.
 */
export async function answerGates(
  run: Run,
  ask: AskPerson,
  { isOpen, give, giveUp, tell, calls = true }: AnswerHandlers,
): Promise<void> {
  const open = new Map<string, { asked: OpenQuestion; withdrawn: AbortController }>();
  const over = new AbortController();
  let wake = (): void => {};
  const keyOf = ({ path, call = "" }: { path: string; call?: string }): string => `${path}#${call}`;
  const withdraw = (key: string, reason: string): void => {
    open.get(key)?.withdrawn.abort(reason);
    open.delete(key);
  };
  const asking = (async (): Promise<void> => {
    while (!over.signal.aborted) {
      const [next] = open;
      if (!next) {
        await new Promise<void>((resolve) => (wake = resolve));
        continue;
      }
      const [key, { asked, withdrawn }] = next;
      const answer = await ask(asked, AbortSignal.any([over.signal, withdrawn.signal]));
      if (withdrawn.signal.aborted) tell(`${asked.path}: ${String(withdrawn.signal.reason)}`);
      else if (answer) {
        const said = await give(asked, answer);
        if (said !== undefined) tell(said);
      } else if (!over.signal.aborted) giveUp();
      open.delete(key);
    }
  })();
  try {
    for await (const event of run) {
      if (event.type === "gate.opened" && isOpen(event) && (calls || event.call === undefined)) {
        const { path, question, call, wants, offersNetwork } = event;
        open.set(keyOf(event), {
          asked: { path, question, ...defined({ call, wants, offersNetwork }) },
          withdrawn: new AbortController(),
        });
      }
      if (event.type === "gate.answered")
        withdraw(
          keyOf(event),
          `already ${event.answer.approve ? "approved" : "rejected"} by ${event.answer.by ?? "another person"}`,
        );
      if (event.type === "node.ended")
        for (const [key, { asked }] of open) if (asked.path === event.path) withdraw(key, "the question was withdrawn");
      if (open.size > 0) wake();
    }
  } finally {
    over.abort();
    wake();
    await asking;
  }
}

/** The answer handlers for a run of this process. */
export function answering(run: Run, since: number, tell: (text: string) => void): AnswerHandlers {
  return {
    isOpen: ({ at }) => at >= since,
    tell,
    give: async ({ path, call }, answer) =>
      (await run.answer(path, answer, call)) ? undefined : `${path} no longer waits for an answer.`,
    giveUp: () => run.pause("no answer was given"),
  };
}

/** How other output is paused while a question is on the terminal, and the function that handles Ctrl-C. */
export type AskOptions = Readonly<{
  pause(): void;
  resume(): void;
  interrupt(): void;
  /** True for a question of the command itself: the answer is yes or no, without feedback. */
  plain?: boolean;
}>;

/** Asks the person at the terminal. Neither silence nor earlier input counts as approval. */
export function askPerson({ pause, resume, interrupt, plain = false }: AskOptions): AskPerson {
  return async ({ question, call, wants, offersNetwork: network = false }, signal) => {
    pause();
    const choices =
      wants === "words"
        ? WORDS
        : `${plain ? YES_OR_NO : CHOICES}${call === undefined ? "" : ALWAYS}${network ? WITH_NETWORK : ""}`;
    const margin = plain || (call !== undefined && wants === undefined) ? "" : "  "; // at the left margin, the words of an agent could imitate another question
    process.stderr.write(`\n${shownQuestion(question, margin)}\n\n${choices}\n`);
    const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
    const closed = new AbortController();
    lines.once("close", () => closed.abort());
    lines.on("SIGINT", interrupt);
    quitOnKey(lines);
    try {
      for (;;) {
        const line = await lines.question("> ", { signal: AbortSignal.any([signal, closed.signal]) });
        const answer = wants === "words" ? wordsIn(line) : parseAnswer(line, { always: call !== undefined, network });
        if (answer) return answer;
        process.stderr.write(wants === "words" ? `${WORDS}\n` : "Answer with y or n.\n");
      }
    } catch {
      return undefined; // the run has ended, or the person closed the input
    } finally {
      lines.close();
      resume();
    }
  };
}

/** Lets Ctrl-\\ at a prompt quit, as in any other program. */
function quitOnKey(lines: Interface): void {
  const press = (_: unknown, key: { sequence?: string } | undefined): void => {
    if (key?.sequence !== "\u001c") return;
    lines.close();
    process.kill(0, "SIGQUIT");
  };
  process.stdin.on("keypress", press);
  lines.once("close", () => void process.stdin.off("keypress", press));
}

const WORDS = "Type the answer, then press Enter.";
const YES_OR_NO = "[y] yes   [n] no";
const CHOICES = "[y] yes   [n] no, optionally with feedback: n WORDS";
const ALWAYS = "   [a] always allow this exact call in this run";

const WITH_NETWORK = "   [w] yes, once with network";

/**
 * The full question; invisible characters are made visible. If the question is higher than the terminal, its beginning
 * is repeated at its end, where the person looks.
 */
function shownQuestion(text: string, margin: string): string {
  const columns = process.stderr.columns || 80;
  const rows = process.stderr.rows || 24;
  const lines = text
    .split("\n")
    .flatMap((line) => markedRows(`${margin}${reveal(line.replaceAll("\t", "    "))}`, columns - 1));
  if (lines.length < rows - 4) return lines.join("\n");
  const start = lines.slice(0, 3).map((line) => fit(line, columns - 1, "..."));
  return [...lines, "", `This question has ${lines.length} lines. It begins with:`, ...start].join("\n");
}

/** The typed line as the answer to a question that expects text; an empty line is not an answer. */
function wordsIn(line: string): Answer | undefined {
  const text = line.trim();
  return text === "" ? undefined : { approve: true, text, by: "a person" };
}

/**
 * Parses `y`, `n`, `n` with feedback, `a` for a question about a tool call, or `w` if the question offers network
 * access; anything else is not an answer.
 */
export function parseAnswer(
  line: string,
  { always = false, network = false }: { always?: boolean; network?: boolean } = {},
): Answer | undefined {
  const text = line.trim();
  if (network && /^w$/i.test(text)) return { approve: true, network: true, by: "a person" };
  if (always && /^a(lways)?$/i.test(text)) return { approve: true, always: true, by: "a person" };
  if (/^y(es)?$/i.test(text)) return { approve: true, by: "a person" };
  const [, words] = /^no?(?:[\s,:;.-]+(.*))?$/is.exec(text) ?? [];
  if (words === undefined && !/^no?$/i.test(text)) return undefined;
  return { approve: false, by: "a person", ...(words !== undefined && words !== "" && { text: words }) };
}
